package agent

import (
	"context"
	"errors"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// carrySettled puts every call that may go on in hand. Read-only calls run side
// by side; of the others one runs at a time, in the model's order, once all of
// the turn that ask are decided. One that is alone is in hand while it waits, so
// that it starts without a detour once it is decided.
func (d *driver) carrySettled(ctx context.Context, st state) {
	alone := st.writes() == 1 && !d.parking()
	for _, c := range st.open {
		if alone || st.settled(c) {
			d.carry(ctx, c)
		}
	}
}

// carry puts a call in hand, unless it is or must wait for another.
func (d *driver) carry(ctx context.Context, c *fold.Call) {
	tool := d.loop.tools[c.Tool]
	readOnly := readOnly(tool)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.carried[c.CallKey] || !readOnly && d.writing {
		return
	}
	d.carried[c.CallKey] = true
	d.writing = d.writing || !readOnly
	if d.patience == nil {
		d.patience, d.impatient = context.WithCancel(ctx)
	}
	patience := d.patience
	d.carries.Go(func() {
		err := d.loop.gate.CarryWhile(ctx, patience, d.session, c.CallKey, runOf(tool))
		if err != nil && ctx.Err() == nil && !errors.Is(err, gate.ErrUndecided) {
			d.loop.logger.WarnContext(ctx, "a call could not be carried; it is tried again", "call", c.String(), "error", err)
			pause(ctx, carryAgain)
		}
		d.putDown(c.CallKey, readOnly)
	})
}

// readOnly reports whether a tool changes nothing, so that its calls run side
// by side, at once.
func readOnly(t Tool) bool { return t != nil && t.Spec().ReadOnly }

// carryAgain is how long a call rests that could not be carried.
const carryAgain = 250 * time.Millisecond

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

func (d *driver) putDown(key events.CallKey, readOnly bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.carried, key)
	if !readOnly {
		d.writing = false
	}
	d.stir()
}

// stir makes the driver look again. mu is held.
func (d *driver) stir() {
	d.putDowns++
	if d.wake != nil {
		d.wake()
	}
}

// runOf is what the gate runs for a call.
func runOf(t Tool) gate.Run {
	return func(ctx context.Context, arguments []byte) gate.Output {
		if t == nil {
			return gate.Output{Content: []byte("The tool no longer exists."), Failed: true}
		}
		return outputOf(t.Run(ctx, arguments))
	}
}
