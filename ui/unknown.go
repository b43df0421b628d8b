package ui

import (
	"errors"
	"fmt"
	"net/http"

	"github.com/countersign-dev/countersign/projections"
)

// errUnknown is for what nobody can say while the views lack a part of the log.
// It is no 404: the log may have it.
var errUnknown = errors.New("pages are made from views of the log, and these lack a part of it")

// notKnown says why a page cannot answer, and how long that will be so.
func notKnown(s projections.Status) error {
	return fmt.Errorf("%w: %s. Deciding goes on meanwhile; come back in a moment",
		errUnknown, readSoFar(s))
}

// readSoFar says how much of the log the views know, as a sentence without its begin and end.
func readSoFar(s projections.Status) string {
	switch r := s.Rebuilding; {
	case r != nil && r.Indexing:
		return "the views are being built anew: all " + group(r.Total) + " records are read, and the indexes are being made"
	case r != nil:
		return "the views are being built anew: " + group(r.Done) + " of " + group(r.Total) + " records are read"
	case s.Fault != "":
		return "the views stand still at " + group(s.Records) + " of " + group(s.Head) + " records; the page System says why"
	default:
		return "the views catch up with it: " + group(s.Records) + " of " + group(s.Head) + " records are read"
	}
}

// behind reports whether the log may have what the views do not know.
func (c *Console) behind() bool { return c.views.Status().Behind(c.now()) }

// mayAnswer fails with errUnknown for a page that would count what the views have
// read, or say that there is nothing, while the log may hold more. Lists that
// have something to show are shown, below a banner.
func (c *Console) mayAnswer(pattern string, r *http.Request) error {
	var needsAll, needsSome bool
	switch pattern {
	case "GET /insights", "GET /tools", "GET /tools/view", "GET /violations":
		needsAll = true
	case "GET /sessions":
		needsAll, needsSome = r.URL.Query().Get("watch") != "", true
	case "GET /history", "GET /access":
		needsSome = true
	}
	s := c.views.Status()
	if (needsAll || needsSome && s.Records == 0) && s.Behind(c.now()) {
		return notKnown(s)
	}
	return nil
}

// missed is an error as it is while the views lack a part of the log: what they
// do not find may be there, and whose it is they cannot tell.
func (c *Console) missed(err error) error {
	s := c.views.Status()
	switch {
	case errors.Is(err, projections.ErrDamaged):
		return notKnown(s)
	case errors.Is(err, errNotFound), errors.Is(err, projections.ErrNotFound), errors.Is(err, errNotYours):
		if s.Behind(c.now()) {
			return notKnown(s)
		}
	}
	return err
}
