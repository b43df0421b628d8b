// Package projectionstest has a log in memory, and writes stories into it:
// runs, calls, requests, decisions, starts and results, as a gate would.
package projectionstest

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Log is a log in memory. It implements projections.Source. Its methods may be
// called from any goroutine.
type Log struct {
	// Policy is the digest of the policy under which stories are written. Unless
	// a test sets it, the log has no text for it.
	Policy events.Digest

	tb testing.TB

	mu       sync.Mutex
	now      time.Time                   // mu; log time of the next record
	source   string                      // mu; whose records are written
	minters  map[string]*events.Minter   // mu; by source
	entries  []events.Entry              // mu
	session  []string                    // mu; of each entry
	ids      []string                    // mu; of each entry's event
	payloads map[string][]events.Payload // mu; by event id
	more     chan struct{}               // mu; closed and replaced by an append
	fail     error                       // mu; what Read returns
}

// NewLog returns an empty log whose clock stands at 2026-11-30 14:00 UTC.
func NewLog(tb testing.TB) *Log {
	l := &Log{
		Policy: Digest("policy"), tb: tb, now: time.Date(2026, 11, 30, 14, 0, 0, 0, time.UTC), more: make(chan struct{}),
		payloads: map[string][]events.Payload{}, minters: map[string]*events.Minter{},
	}
	l.Source("agentd/test/boot")
	return l
}

// Now is the log's clock.
func (l *Log) Now() time.Time {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now
}

// Source makes what is written from now on that of another program, and returns
// whose it was.
func (l *Log) Source(name string) (before string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.minters[name] == nil {
		l.minters[name] = events.NewMinter(name, func() time.Time { return l.now })
	}
	before, l.source = l.source, name
	return before
}

// Advance moves the clock.
func (l *Log) Advance(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = l.now.Add(d)
}

// SetNow sets the clock.
func (l *Log) SetNow(t time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.now = t
}

// Fail makes Read return err from now on; nil ends it.
func (l *Log) Fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail = err
	l.ring()
}

// Append mints drafts and adds them. It fails the test where they are wrong.
func (l *Log) Append(drafts ...events.Draft) []events.Minted {
	l.tb.Helper()
	minted, err := l.TryAppend(drafts...)
	if err != nil {
		l.tb.Fatalf("projectionstest: %v", err)
	}
	return minted
}

// TryAppend is Append for other goroutines than the test's.
func (l *Log) TryAppend(drafts ...events.Draft) ([]events.Minted, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	minted, err := l.minters[l.source].Mint(drafts...)
	if err != nil {
		return nil, err
	}
	for _, m := range minted {
		l.payloads[m.ID] = m.Payloads
		l.add(m.Session, m.ID, m.Envelope)
	}
	l.ring()
	return minted, nil
}

// AppendRaw adds an envelope of any bytes.
func (l *Log) AppendRaw(session string, envelope []byte) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(session, "", envelope)
	l.ring()
}

func (l *Log) add(session, id string, envelope []byte) {
	n := len(l.entries)
	l.entries = append(l.entries, events.Entry{
		Row:    int64(n + 1),
		Record: events.Record{Offset: uint64(n), LogTime: l.now.UnixMicro(), Envelope: envelope},
	})
	l.session, l.ids = append(l.session, session), append(l.ids, id)
	l.now = l.now.Add(time.Millisecond)
}

func (l *Log) ring() {
	close(l.more)
	l.more = make(chan struct{})
}

// Len returns how many records there are.
func (l *Log) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

// Erase forgets the payloads of an event.
func (l *Log) Erase(event string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.payloads, event)
}

// Cut returns a log that holds the first n records of this one.
func (l *Log) Cut(n int) *Log {
	c := NewLog(l.tb)
	l.mu.Lock()
	defer l.mu.Unlock()
	c.entries, c.session, c.ids, c.payloads, c.now = l.entries[:n:n], l.session[:n:n], l.ids[:n:n], l.payloads, l.now
	return c
}

// Read implements projections.Source.
func (l *Log) Read(_ context.Context, after int64, limit int) ([]events.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fail != nil {
		return nil, l.fail
	}
	if after >= int64(len(l.entries)) {
		return nil, nil
	}
	return l.entries[after:min(len(l.entries), int(after)+limit)], nil
}

// Session implements projections.Source.
func (l *Log) Session(_ context.Context, session string, after int64, limit int) ([]events.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []events.Entry
	for i := int(after); i < len(l.entries) && len(found) < limit; i++ {
		if l.session[i] == session {
			found = append(found, l.entries[i])
		}
	}
	return found, nil
}

// Head implements projections.Source.
func (l *Log) Head() uint64 { return uint64(max(l.Len(), 0)) }

// Wait implements projections.Source.
func (l *Log) Wait(ctx context.Context, after int64) error {
	for {
		l.mu.Lock()
		more, have, fail := l.more, int64(len(l.entries)), l.fail
		l.mu.Unlock()
		if have > after || fail != nil {
			return fail
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Payloads implements projections.Source.
func (l *Log) Payloads(_ context.Context, first, last int64, f func(row int64, ordinal int, commitment string, b []byte) bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for row := max(first, 1); row <= min(last, int64(len(l.entries))); row++ {
		for i, p := range l.payloads[l.ids[row-1]] {
			if !f(row, i, events.Commitment(p.Salt, p.Bytes), p.Bytes) {
				return nil
			}
		}
	}
	return nil
}

// Payload implements projections.Source.
func (l *Log) Payload(_ context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref.In != "" {
		carrier = ref.In
	}
	for _, p := range l.payloads[carrier] {
		if p.Opens(*ref) {
			return p.Bytes, nil
		}
	}
	return nil, events.ErrNoPayload
}
