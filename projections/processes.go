package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// Process is something that a process said of itself: *events.Boot, Shutdown,
// ClockStep or Recovered.
type Process struct {
	At      events.Position
	EventID string
	Event   events.Event
}

func (r folded) process(e events.Event) error {
	text, err := doc(e)
	if err != nil {
		return err
	}
	return r.exec("INSERT INTO processes (log_time, part, off, row, type, event, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
		r.row, string(e.Type()), r.Envelope.ID, text)
}

// Boots returns when processes began and ended, and what they found open, the
// newest first, up to limit.
func (v *Views) Boots(ctx context.Context, limit int) ([]Process, error) {
	return list(ctx, v.db, scanProcess,
		"SELECT log_time, part, off, type, event, doc FROM processes WHERE type <> ? ORDER BY row DESC LIMIT ?", string(events.TypeClockStep), limit)
}

// ClockSteps returns the jumps of wall clocks, the newest first, up to limit.
func (v *Views) ClockSteps(ctx context.Context, limit int) ([]Process, error) {
	return list(ctx, v.db, scanProcess,
		"SELECT log_time, part, off, type, event, doc FROM processes WHERE type = ? ORDER BY row DESC LIMIT ?", string(events.TypeClockStep), limit)
}

func scanProcess(scan func(...any) error) (Process, error) {
	var p Process
	var at place
	var typ, text string
	if err := scan(append(at.dest(), &typ, &p.EventID, &text)...); err != nil {
		return p, err
	}
	p.At = at.position()
	switch events.Type(typ) {
	case events.TypeShutdown:
		p.Event = &events.Shutdown{}
	case events.TypeClockStep:
		p.Event = &events.ClockStep{}
	case events.TypeRecovered:
		p.Event = &events.Recovered{}
	default:
		p.Event = &events.Boot{}
	}
	return p, undoc(text, p.Event)
}

// AsideAt returns what was set aside at a place; ErrNotFound if nothing was.
func (v *Views) AsideAt(ctx context.Context, partition uint32, offset uint64) (Aside, error) {
	return first(ctx, v.db, scanAside,
		"SELECT log_time, part, off, reason, raw FROM aside WHERE part = ? AND off = ?", partition, off(events.Position{Offset: offset}))
}

func scanAside(scan func(...any) error) (Aside, error) {
	var a Aside
	var at place
	err := scan(append(at.dest(), &a.Reason, &a.Raw)...)
	a.At = at.position()
	return a, err
}

// Stamp names what derived the rows: two builds with the same stamp derive the
// same rows from the same log.
func (v *Views) Stamp() string { return stamp() }
