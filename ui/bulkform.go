package ui

import (
	"net/http"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/events"
)

// bulkPosted is the form of several decisions after strict reading.
type bulkPosted struct {
	verdict events.Verdict
	comment string
	bulk    string
	items   []bulkPick
}

// bulkPick is one request of the form: which, of which text, on which page.
type bulkPick struct {
	request, render, key string
	digest               events.Digest
}

// readBulk reads the form: verdict, bulk and comment once each, and a field
// item for each request that is still chosen.
func readBulk(w http.ResponseWriter, r *http.Request) (bulkPosted, error) {
	one, err := readFields(w, r, maxForm, "item")
	if err != nil {
		return bulkPosted{}, err
	}
	p := bulkPosted{verdict: events.Verdict(one["verdict"]), bulk: one["bulk"], comment: strings.TrimSpace(one["comment"])}
	known := p.verdict == events.VerdictApprove || p.verdict == events.VerdictDecline
	if !known || uuid.Validate(p.bulk) != nil || len(p.comment) > maxComment {
		return p, errForm
	}
	return p, p.pick(r.PostForm["item"])
}

func (p *bulkPosted) pick(items []string) error {
	if len(items) == 0 {
		return errNoChoice
	}
	if len(items) > maxBulk {
		return errTooMany
	}
	for _, s := range items {
		parts := strings.Split(s, " ")
		if len(parts) != 4 || !utf8.ValidString(s) || len(s) > 4*events.MaxNameBytes || parts[1] == "" || parts[3] == "" {
			return errForm
		}
		if slices.ContainsFunc(p.items, func(o bulkPick) bool { return o.request == parts[0] }) {
			return errForm // each once: a count of what was decided must be true
		}
		p.items = append(p.items, bulkPick{request: parts[0], digest: events.Digest(parts[1]), render: parts[2], key: parts[3]})
	}
	return nil
}

// value is the item as the form posts it.
func (i bulkItem) value() string { return strings.Join([]string{i.ID, i.Digest, i.Render, i.Key}, " ") }
