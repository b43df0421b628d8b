package gate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// memLog is a log in memory, with faults to inject.
type memLog struct {
	mu      sync.Mutex
	minters map[string]*events.Minter
	entries []events.Entry
	rows    map[string][]int64        // by session
	bytes   map[string]events.Payload // by carrier and commitment
	more    chan struct{}
	clock   func() time.Time
	last    int64
	ids     map[string]bool
	held    map[string]bool // sources whose reading stands still
	broken  error           // what reading fails with
	reading func()          // called once, before a payload is read
	// fail is asked before an append; nil goes on.
	fail func(source string, drafts []events.Draft) *fault
}

// fault is how an append fails.
type fault struct {
	err    error
	stored bool // the log has the events all the same
}

// errConflict is how a log answers an id that it has, with other bytes.
var errConflict = errors.New("an id is taken by other bytes")

func newMemLog(clock func() time.Time) *memLog {
	return &memLog{
		minters: map[string]*events.Minter{}, rows: map[string][]int64{}, bytes: map[string]events.Payload{}, more: make(chan struct{}), clock: clock,
		ids: map[string]bool{}, held: map[string]bool{},
	}
}

// as returns the log as one producer sees it.
func (l *memLog) as(source string) *producer { return &producer{memLog: l, source: source} }

type producer struct {
	*memLog
	source string
}

// set changes the log's faults.
func (l *memLog) set(f func(l *memLog)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f(l)
	l.ring()
}

// ring wakes who waits. mu is held.
func (l *memLog) ring() {
	close(l.more)
	l.more = make(chan struct{})
}

// Append implements gate.Log.
func (p *producer) Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error) {
	if err := ctx.Err(); err != nil {
		return events.Appended{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	var f *fault
	if p.fail != nil {
		f = p.fail(p.source, drafts)
	}
	if f != nil && !f.stored {
		return events.Appended{}, f.err
	}
	a, err := p.mint(drafts)
	if f != nil {
		return events.Appended{}, f.err
	}
	return a, err
}

func (p *producer) mint(drafts []events.Draft) (events.Appended, error) {
	for _, d := range drafts {
		if d.ID != "" && p.ids[d.ID] {
			return events.Appended{}, errConflict
		}
	}
	m := p.minters[p.source]
	if m == nil {
		m = events.NewMinter(p.source, p.clock)
		p.minters[p.source] = m
	}
	minted, err := m.Mint(drafts...)
	if err != nil {
		return events.Appended{}, err
	}
	p.store(minted)
	return events.Appended{Events: minted, Row: int64(len(p.entries))}, nil
}

func (l *memLog) store(minted []events.Minted) {
	for _, e := range minted {
		l.last = max(l.last, l.clock().UnixMicro())
		row := int64(len(l.entries)) + 1
		l.entries = append(l.entries, events.Entry{Row: row, Record: events.Record{Offset: uint64(row - 1), LogTime: l.last, Envelope: e.Envelope}})
		l.ids[e.ID] = true
		l.rows[e.Session] = append(l.rows[e.Session], row)
		for _, p := range e.Payloads {
			l.bytes[e.ID+"/"+events.Commitment(p.Salt, p.Bytes)] = p
		}
	}
	l.ring()
}

// Read implements gate.Log.
func (p *producer) Read(_ context.Context, after int64, limit int) ([]events.Entry, error) {
	l := p.memLog
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.broken != nil || l.held[p.source] {
		return nil, l.broken
	}
	rest := l.entries[min(int(after), len(l.entries)):]
	return rest[:min(limit, len(rest))], nil
}

// Wait implements gate.Log.
func (p *producer) Wait(ctx context.Context, after int64) error {
	l := p.memLog
	for {
		l.mu.Lock()
		have, more := l.broken != nil || int64(len(l.entries)) > after && !l.held[p.source], l.more
		l.mu.Unlock()
		if have {
			return nil
		}
		select {
		case <-more:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Session implements gate.Log.
func (l *memLog) Session(_ context.Context, session string, after int64, limit int) ([]events.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []events.Entry
	for _, row := range l.rows[session] {
		if row > after && len(found) < limit {
			found = append(found, l.entries[row-1])
		}
	}
	return found, nil
}

// Payload implements gate.Log.
func (l *memLog) Payload(_ context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	l.mu.Lock()
	reading := l.reading
	l.reading = nil
	l.mu.Unlock()
	if reading != nil {
		reading()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref.In != "" {
		carrier = ref.In
	}
	p, ok := l.bytes[carrier+"/"+ref.Commitment]
	if !ok {
		return nil, errors.Join(events.ErrNoPayload, errors.New(carrier))
	}
	return p.Bytes, nil
}

// lose erases every payload of an event.
func (l *memLog) lose(carrier string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name := range l.bytes {
		if strings.HasPrefix(name, carrier+"/") {
			delete(l.bytes, name)
		}
	}
}

// all returns every record so far.
func (l *memLog) all() []events.Entry {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.entries)
}
