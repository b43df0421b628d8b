package ui

import (
	"net/http"
	"net/url"
	"strconv"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

// asidePath is where the bytes of a record that was set aside are read.
func asidePath(p events.Position) string { return "/system/aside?" + asideQuery(p) }

func asideQuery(p events.Position) string {
	return url.Values{
		"partition": {strconv.FormatUint(uint64(p.Partition), 10)}, "offset": {strconv.FormatUint(p.Offset, 10)},
	}.Encode()
}

// asideOf finds the record that was set aside at the place that a query names,
// and records that somebody read it.
func (c *Console) asideOf(r *http.Request, id auth.Identity) (projections.Aside, error) {
	if err := only(r, "partition", "offset", "from"); err != nil {
		return projections.Aside{}, err
	}
	q := r.URL.Query()
	partition, err := strconv.ParseUint(q.Get("partition"), 10, 32)
	if err != nil {
		return projections.Aside{}, errQuery
	}
	offset, err := strconv.ParseUint(q.Get("offset"), 10, 63)
	if err != nil {
		return projections.Aside{}, errQuery
	}
	a, err := c.views.AsideAt(r.Context(), uint32(partition), offset)
	if err == nil {
		c.note(r.Context(), id, "set aside "+place(a.At), "")
	}
	return a, err
}

func (c *Console) asideText(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	a, err := c.asideOf(r, id)
	if err != nil {
		return err
	}
	key := asideQuery(a.At)
	return c.wholeText(w, r, id, wholeOf{
		Title: "Record " + place(a.At) + ", set aside", Back: "/system#aside", Base: "/system/aside?" + key + "&",
		Download: "/system/aside/download?" + key, Text: a.Raw,
	})
}

func (c *Console) asideDownload(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	a, err := c.asideOf(r, id)
	if err != nil {
		return err
	}
	download(w, recordFile(a.At)+".bin", a.Raw)
	return nil
}
