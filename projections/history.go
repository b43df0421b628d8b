package projections

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/events"
)

// History returns calls, the newest first. cursor is "" or a Next of the same
// filter. Errors: ErrCursor, ErrSearch.
func (v *Views) History(ctx context.Context, f Filter, cursor string, limit int) (Page[Call], error) {
	terms, err := termsOf(f.Query)
	if err != nil {
		return Page[Call]{}, err
	}
	var from events.Position
	if cursor != "" {
		if from, err = decodeCursor(cursor, f.listName()); err != nil {
			return Page[Call]{}, err
		}
	}
	w, err := v.walk(ctx, f, terms, from)
	if err != nil {
		return Page[Call]{}, err
	}
	s := &search{v: v, terms: terms, limit: limit + 1}
	more, err := s.along(ctx, w)
	if err != nil {
		return Page[Call]{}, err
	}
	page := pageOf(s.found, limit, f.listName(), func(c Call) events.Position { return c.At })
	if page.Next == "" && more {
		page.Reached, page.Next = s.last, encodeCursor(s.last, f.listName())
	}
	return page, nil
}

// fewTexts are so few calls that their texts are read without a look into the
// index.
const fewTexts = 64

// walk chooses how a page is found: along the shortest of the filter's ways, or
// along what the index has of its text.
func (v *Views) walk(ctx context.Context, f Filter, terms []term, from events.Position) (walker, error) {
	along := &alongIndex{v: v, f: f, at: from, way: way{index: "calls_place"}}
	ways := f.ways()
	if len(ways) == 1 && len(terms) == 0 {
		along.way = ways[0]
		return along, nil
	}
	n := countEnough
	if len(ways) > 0 {
		var err error
		if along.way, n, err = v.shortest(ctx, f); err != nil {
			return nil, err
		}
	}
	if n <= fewTexts || !slices.ContainsFunc(terms, term.indexed) {
		return along, nil
	}
	return v.alongText(ctx, f, terms, from)
}

// Newer returns calls after a place, the oldest first, up to limit: what a live
// tail adds. It looks at a bounded number of calls. Errors: ErrSearch.
func (v *Views) Newer(ctx context.Context, f Filter, after events.Position, limit int) ([]Call, error) {
	terms, err := termsOf(f.Query)
	if err != nil {
		return nil, err
	}
	s := &search{v: v, terms: terms, limit: limit}
	_, err = s.along(ctx, &alongIndex{v: v, f: f, at: after, way: way{index: "calls_place"}, forward: true})
	return s.found, err
}

// search gathers what a walk comes by.
type search struct {
	v     *Views
	terms []term
	limit int
	found []Call
	last  events.Position // of the last call that was looked at
	texts int             // that were looked at
	bytes int             // of these texts
}

// along looks at calls until there are enough, or no more, or enough was looked
// at; more says that there may be more.
func (s *search) along(ctx context.Context, w walker) (more bool, err error) {
	size := 256
	if len(s.terms) > 0 {
		size = 64
	}
	size = max(size, min(s.limit, lookAtCalls))
	for n := 0; n < lookAtCalls; n += size {
		calls, end, err := w.next(ctx, size)
		if err != nil {
			return false, err
		}
		if done, err := s.look(ctx, calls); done || err != nil {
			return true, err
		}
		if end || len(calls) < size {
			return !end, nil
		}
	}
	return true, nil
}

// look adds those of the calls that are to be found; done when there are enough,
// or enough was read.
func (s *search) look(ctx context.Context, calls []looked) (done bool, err error) {
	texts, err := s.textsOf(ctx, calls)
	if err != nil {
		return false, err
	}
	var rows []int64
	var hits []*Hit
	for _, c := range calls {
		if s.last = c.at; !c.ok {
			continue
		}
		var h *Hit
		if len(s.terms) > 0 {
			if h, err = s.hit(ctx, c, texts[c.row]); err != nil {
				return false, err
			}
		}
		if h != nil || len(s.terms) == 0 {
			rows, hits = append(rows, c.row), append(hits, h)
		}
		if done = len(s.found)+len(rows) >= s.limit || s.texts >= lookAtTexts || s.bytes >= lookAtBytes; done {
			break
		}
	}
	found, err := s.v.callsOf(ctx, rows)
	for i := range found {
		found[i].Found = hits[i]
	}
	s.found = append(s.found, found...)
	return done, err
}

// callsOf returns the calls of some rows, in the order of the rows given.
func (v *Views) callsOf(ctx context.Context, rows []int64) ([]Call, error) {
	if len(rows) == 0 {
		return nil, nil
	}
	return list(ctx, v.db, scanCall, `SELECT c.session, c.state, c.doc, coalesce(q.doc, '') FROM json_each(?) j
		CROSS JOIN calls c ON c.row = j.value LEFT JOIN requests q ON q.id = c.request AND q.session = c.session ORDER BY j.key`, idsOf(rows))
}
