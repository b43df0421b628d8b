package projections

import (
	lru "container/list"
	"context"
	"fmt"
	"hash/fnv"

	"github.com/countersign-dev/countersign/fold"
)

// Of how many records sessions are kept in memory, busy or not: the ones used
// last. A session that is longer is kept while it is the last. A rebuild comes
// by many that were busy at the same time.
const (
	keepRecords = 2 << 10
	keepFilling = 16 << 10
)

// loaded are the sessions in memory, and those used last come first.
type loaded struct {
	source  Source
	byID    map[string]*lru.Element // of *session
	order   *lru.List
	records int       // of all
	keep    int       // at most so many, but for the last session's
	seen    *everSeen // sessions that were ever loaded; nil where it does not know of all
}

func newLoaded(source Source) *loaded {
	return &loaded{source: source, byID: map[string]*lru.Element{}, order: lru.New(), keep: keepRecords}
}

// get returns a session as it is before the record at row.
func (l *loaded) get(ctx context.Context, id string, row int64) (*session, error) {
	if e := l.byID[id]; e != nil {
		l.order.MoveToFront(e)
		s, _ := e.Value.(*session) // nothing else is in it
		return s, nil
	}
	s := newSession(id)
	if l.seen == nil || l.seen.add(id) {
		if err := l.read(ctx, s, row); err != nil {
			return nil, err
		}
	}
	l.byID[id] = l.order.PushFront(s)
	l.records += s.records
	return s, nil
}

// read applies a session's records before row, from the log.
func (l *loaded) read(ctx context.Context, s *session, row int64) error {
	limit := 1 // most sessions are new, and this one record shows it
	for after := int64(0); ; limit = batchSize {
		entries, err := l.source.Session(ctx, s.ID, after, limit)
		if err != nil {
			return fmt.Errorf("%w: session %.80q: %w", errSource, s.ID, err)
		}
		for _, e := range entries {
			if e.Row >= row {
				s.written()
				return nil
			}
			if r := fold.Decode(e.Record); r.Envelope.SessionID == s.ID {
				_, _ = s.apply(r, e.Row) // what panics was set aside, and moved nothing more
			}
			after = e.Row
		}
		if len(entries) < limit {
			s.written()
			return nil
		}
	}
}

// trim forgets sessions beyond a bound. Their rows must have been written.
func (l *loaded) trim() {
	for l.records > l.keep && l.order.Len() > 1 {
		e := l.order.Back()
		s, _ := l.order.Remove(e).(*session) // nothing else is in it
		delete(l.byID, s.ID)
		l.records -= s.records
	}
}

// everSeen knows which sessions there were, in a fixed room: it may take a new one
// for a known one, and never the other way round.
type everSeen [1 << 20]byte

// add notes a session, and reports whether it may have been there.
func (s *everSeen) add(id string) bool {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // it does not fail
	bit := h.Sum64() % (8 * uint64(len(s)))
	was := s[bit/8] & (1 << (bit % 8))
	s[bit/8] |= 1 << (bit % 8)
	return was != 0
}
