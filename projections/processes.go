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
	r.exec("INSERT INTO processes (log_time, part, off, row, type, event, doc) VALUES (?, ?, ?, ?, ?, ?, ?)",
		r.row, string(e.Type()), r.Envelope.ID, text)
	return nil
}

const selectProcesses = "SELECT log_time, part, off, type, event, doc FROM processes"

// Boots returns when processes began and ended, and what they found open, the
// newest first, up to limit.
func (v *Views) Boots(ctx context.Context, limit int) ([]Process, error) {
	return list(ctx, v.db, scanProcess,
		selectProcesses+" WHERE type <> ? ORDER BY row DESC LIMIT ?", string(events.TypeClockStep), limit)
}

// ClockSteps returns the jumps of wall clocks, the newest first, up to limit.
func (v *Views) ClockSteps(ctx context.Context, limit int) ([]Process, error) {
	return list(ctx, v.db, scanProcess,
		selectProcesses+" WHERE type = ? ORDER BY row DESC LIMIT ?", string(events.TypeClockStep), limit)
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
