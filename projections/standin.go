package projections

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/fold"
)

// Gate is who knows what is open in the log without the views. It is gate.Gate.
type Gate interface {
	// Unfinished returns the sessions in which a call or run is open.
	Unfinished() []string
	// SessionOf returns the session in which a request was asked, "" where it knows
	// none of that id.
	SessionOf(ctx context.Context, request string) (string, error)
}

// standIn answers what deciding needs while the views lack a part of the log: it
// folds the sessions that are open. A session stays in memory for as long as the
// views are behind, and is read on from where it was.
type standIn struct {
	source Source
	gate   Gate

	mu       sync.Mutex
	sessions map[string]*standing // mu
	records  int                  // mu; of all of them
}

// standing is a session as far as it was read.
type standing struct {
	*session

	read int64 // the last row of it
}

// keepStanding is of how many records sessions are kept. What is beyond it is
// read again each time.
const keepStanding = 64 << 10

// stands reports whether the stand-in answers now.
func (v *Views) stands() bool {
	if v.standIn == nil {
		return false
	}
	if v.Status().Behind(time.Now()) {
		return true
	}
	v.standIn.forget()
	return false
}

// KnowsWaiting reports whether what waits is known though the views are behind.
func (v *Views) KnowsWaiting() bool { return v.stands() }

func (s *standIn) forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sessions, s.records = nil, 0
}

// session returns a session as the log has it now; s.mu is held.
func (s *standIn) session(ctx context.Context, id string) (*standing, error) {
	found := s.sessions[id]
	if found == nil {
		found = &standing{session: newSession(id)}
	}
	before := found.records
	for more := true; more; {
		var err error
		if more, err = s.readOn(ctx, found); err != nil {
			return nil, fmt.Errorf("%w: session %.80q: %w", errSource, id, err)
		}
	}
	if s.sessions[id] == nil && s.records+found.records <= keepStanding {
		if s.sessions == nil {
			s.sessions = map[string]*standing{}
		}
		s.sessions[id], before = found, 0
	}
	if s.sessions[id] != nil {
		s.records += found.records - before
	}
	return found, nil
}

func (s *standIn) readOn(ctx context.Context, to *standing) (more bool, err error) {
	entries, err := s.source.Session(ctx, to.ID, to.read, batchSize)
	if err != nil {
		return false, err
	}
	for _, e := range entries {
		if r := fold.Decode(e.Record); r.Envelope.SessionID == to.ID {
			_, _ = to.apply(r, e.Row) // what panics moves nothing more, as in the views
		}
		to.read = e.Row
	}
	to.written()
	return len(entries) == batchSize, nil
}

// audience is who may see a session besides auditors.
func (t *standing) audience() *Audience {
	a := &Audience{Principal: t.Principal}
	for approver := range t.asked {
		a.Asked = append(a.Asked, approver)
	}
	slices.Sort(a.Asked)
	return a
}

// request is a request as the views store and read it.
func (t *standing) request(id string) (Request, error) {
	r := Request{Session: t.ID}
	q := t.Requests[id]
	if q == nil {
		return r, ErrNotFound
	}
	call := *t.Calls[q.CallKey]
	call.Request = nil
	for _, part := range []struct{ from, to any }{{q, &r.Request}, {&call, &r.Call}} {
		text, err := doc(part.from)
		if err == nil {
			err = undoc(text, part.to)
		}
		if err != nil {
			return r, err
		}
	}
	return r, nil
}

// request returns a request that the gate knows; ErrNotFound where it knows none.
func (s *standIn) request(ctx context.Context, id string) (Request, error) {
	session, err := s.gate.SessionOf(ctx, id)
	if err != nil {
		return Request{}, err
	}
	if session == "" {
		return Request{}, ErrNotFound
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.session(ctx, session)
	if err != nil {
		return Request{}, err
	}
	return t.request(id)
}

// mayRead reports whether a reader may see a session; false where the log has no
// record of it.
func (s *standIn) mayRead(ctx context.Context, reader Reader, session string) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, err := s.session(ctx, session)
	return err == nil && t.records > 0 && reader.Sees(t.audience()), err
}

// pending returns all undecided requests that a reader may see, the oldest first.
func (s *standIn) pending(ctx context.Context, reader Reader) ([]Request, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []Request
	for _, id := range s.gate.Unfinished() {
		t, err := s.session(ctx, id)
		if err != nil {
			return nil, err
		}
		for _, q := range t.Requests {
			if q.State != fold.Pending || !reader.Sees(t.audience()) {
				continue
			}
			r, err := t.request(q.RequestID)
			if err != nil {
				return nil, err
			}
			all = append(all, r)
		}
	}
	slices.SortFunc(all, func(a, b Request) int { return a.At.Compare(b.At) })
	return all, nil
}

// page is a page of what waits, as PendingPage has it.
func (s *standIn) page(ctx context.Context, reader Reader, cursor, name string, limit int) (Page[Request], error) {
	all, err := s.pending(ctx, reader)
	if err != nil {
		return Page[Request]{}, err
	}
	if cursor != "" {
		p, err := decodeCursor(cursor, name)
		if err != nil {
			return Page[Request]{}, err
		}
		all = slices.DeleteFunc(all, func(r Request) bool { return r.At.Compare(p) <= 0 })
	}
	return pageOf(all[:min(len(all), limit+1)], limit, name, requestAt), nil
}

// known falls back on what the views have where the gate knows no such thing: a
// request that ended long ago.
func known[T any](fromLog func() (T, error), fromViews func() (T, error)) (T, error) {
	found, err := fromLog()
	if errors.Is(err, ErrNotFound) {
		return fromViews()
	}
	return found, err
}
