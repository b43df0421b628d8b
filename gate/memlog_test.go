package gate_test

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// memLog is a log in memory, with faults to inject.
type memLog struct {
	mu      sync.Mutex
	minters map[string]*events.Minter
	entries []events.Entry
	session map[int64]string
	bytes   map[string]events.Payload // by carrier and commitment
	more    chan struct{}
	clock   func() time.Time
	last    int64
	// fail is asked before an append; what it returns is the append's error.
	fail func(drafts []events.Draft) error
}

func newMemLog(clock func() time.Time) *memLog {
	return &memLog{
		minters: map[string]*events.Minter{}, session: map[int64]string{}, bytes: map[string]events.Payload{}, more: make(chan struct{}), clock: clock,
	}
}

// as returns the log as one producer sees it.
func (l *memLog) as(source string) *producer { return &producer{memLog: l, source: source} }

type producer struct {
	*memLog
	source string
}

func (p *producer) Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error) {
	if err := ctx.Err(); err != nil {
		return events.Appended{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.fail != nil {
		if err := p.fail(drafts); err != nil {
			return events.Appended{}, err
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
		l.session[row] = e.Session
		for _, p := range e.Payloads {
			l.bytes[e.ID+"/"+events.Commitment(p.Salt, p.Bytes)] = p
		}
	}
	close(l.more)
	l.more = make(chan struct{})
}

func (l *memLog) Read(_ context.Context, after int64, limit int) ([]events.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rest := l.entries[min(int(after), len(l.entries)):]
	return rest[:min(limit, len(rest))], nil
}

func (l *memLog) Wait(ctx context.Context, after int64) error {
	for {
		l.mu.Lock()
		have, more := int64(len(l.entries)) > after, l.more
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

func (l *memLog) Session(_ context.Context, session string, after int64, limit int) ([]events.Entry, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []events.Entry
	for _, e := range l.entries {
		if e.Row > after && l.session[e.Row] == session && len(found) < limit {
			found = append(found, e)
		}
	}
	return found, nil
}

func (l *memLog) Payload(_ context.Context, carrier string, ref *events.Ref) ([]byte, error) {
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
