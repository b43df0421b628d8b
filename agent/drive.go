package agent

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// driver is one run in the hands of its goroutine.
type driver struct {
	loop     *Loop
	session  string
	run      string
	narrator *narrator

	carries sync.WaitGroup // goroutines that carry calls

	mu       sync.Mutex
	carried  map[events.CallKey]bool // calls in hand; mu
	writing  bool                    // a call that is not read-only is in hand; mu
	putDowns int                     // carries that have returned; mu
	// Requests that the approval handler is being asked about, and the text
	// that it was last asked about; nil before the first. mu.
	asking    map[string]bool
	consulted map[string]events.Digest
	wake      func() // ends the driver's wait, if it waits; mu
	parks     bool   // the run is to be parked while it waits; mu
	// patience is for how long calls in hand wait to be decided, impatient ends
	// it; nil where none waits. mu
	patience  context.Context //nolint:containedctx // of the calls in hand
	impatient context.CancelFunc

	again string // the batch of the last failed round that may be asked again; of drive's goroutine
}

// drive carries a run to its end, or until ctx ends, or until it is parked.
func (l *Loop) drive(ctx context.Context, session, run string, n *narrator) (parked bool) {
	d := &driver{loop: l, session: session, run: run, narrator: n, carried: map[events.CallKey]bool{}}
	defer d.carries.Wait()
	defer d.endPatience()
	for wait := time.Duration(0); ctx.Err() == nil; {
		what, err := d.step(ctx)
		if what != goesOn {
			return what == isParked
		}
		if errors.Is(err, events.ErrUnrecordable) {
			err = d.giveUp(ctx, err)
		}
		if err == nil {
			wait = 0
			continue
		}
		if errors.Is(err, events.ErrLogStopped) || errors.Is(err, events.ErrUnrecordable) {
			l.logger.ErrorContext(ctx, "a run stands still because the log takes nothing more of it", "session", session, "error", err)
			return false
		}
		if ctx.Err() == nil {
			l.logger.WarnContext(ctx, "a run could not go on; it is tried again", "session", session, "error", err)
		}
		wait = min(max(2*wait, 50*time.Millisecond), 2*time.Second)
		pause(ctx, wait)
	}
	return false
}

// after says what has become of a run with a step.
type after int

const (
	goesOn after = iota
	hasEnded
	isParked // it is not the driver's any more
)

// state is what the fold says of a run, copied.
type state struct {
	run       fold.Run
	last      *fold.Round
	turn      []*fold.Call
	missing   int // calls of the last turn that are not recorded
	open      []*fold.Call
	cancelled bool
	finished  bool
	at        events.Position
	putDowns  int                     // carries that had returned before
	reads     int                     // of open, the calls of read-only tools
	waits     bool                    // see gate.Waits
	held      map[events.CallKey]bool // of open, those that the protected calls of the turn hold back; see gate.Held
}

// writes counts the open calls that may change something.
func (st state) writes() int { return len(st.open) - st.reads }

func (d *driver) look(ctx context.Context) (state, error) {
	st := state{putDowns: d.returned()}
	err := d.loop.gate.View(ctx, d.session, func(s *fold.Session) {
		run := s.Run()
		st.at = s.Last
		if run == nil || run.ID != d.run {
			st.finished = true
			return
		}
		st.run, st.last, st.cancelled, st.waits = *run, run.Last(), run.Cancelled != nil, d.loop.gate.Waits(s)
		if st.last == nil || st.last.Outcome != events.RoundCalls {
			return
		}
		st.turn, st.held = copies(s.Turn(st.last)), map[events.CallKey]bool{}
		for _, c := range st.turn {
			switch {
			case c == nil:
				st.missing++
			case c.Open():
				st.open = append(st.open, c)
				st.held[c.CallKey] = d.loop.gate.Held(s, c)
				if readOnly(d.loop.tools[c.Tool]) {
					st.reads++
				}
			}
		}
	})
	return st, err
}

// step does the one thing that comes next. Clients are told what the log holds
// before anything is done about it: so a result goes out before the text that
// answers it, and a request before any call runs.
func (d *driver) step(ctx context.Context) (after, error) {
	st, err := d.look(ctx)
	if err == nil {
		err = d.narrator.catchUp(ctx)
	}
	if err != nil {
		return goesOn, err
	}
	d.consult(ctx, st)
	d.carrySettled(ctx, st)
	switch {
	case st.finished:
		return hasEnded, nil
	case len(st.open) > 0:
		return d.rest(ctx, st)
	case st.cancelled:
		return goesOn, d.finish(ctx, st, events.FinishCancelled, nil)
	case st.last == nil:
		return goesOn, d.ask(ctx, st)
	case st.missing > 0:
		return goesOn, d.lost(ctx, st)
	}
	return goesOn, d.afterTurn(ctx, st)
}

// afterTurn decides what follows a finished round whose calls all have ended.
func (d *driver) afterTurn(ctx context.Context, st state) error {
	switch st.last.Outcome {
	case events.RoundText:
		return d.finish(ctx, st, events.FinishStop, nil)
	case events.RoundFailed:
		return d.afterFailure(ctx, st)
	case events.RoundCalls:
	}
	switch {
	case d.direct(st):
		return d.finish(ctx, st, events.FinishReturnDirect, nil)
	case st.last.Round >= d.loop.opt.MaxRounds, st.run.Calls > d.loop.opt.MaxToolCalls:
		return d.finish(ctx, st, events.FinishLimit, nil)
	}
	return d.ask(ctx, st)
}

// afterFailure asks again where the provider was not there or broke off, and
// ends the run otherwise.
func (d *driver) afterFailure(ctx context.Context, st state) error {
	code := st.last.Code
	passes := code == CodeUnavailable || d.again == st.last.BatchID
	if passes && st.last.Attempt < d.loop.opt.MaxAttempts {
		return d.askAgain(ctx, st)
	}
	reason := events.FinishError
	if code == CodeTruncated {
		reason = events.FinishLength
	}
	return d.finish(ctx, st, reason, st.last)
}

// askAgain asks after a rest, unless the run is cancelled meanwhile.
func (d *driver) askAgain(ctx context.Context, st state) error {
	changed, stop := d.change(ctx, st.at)
	defer stop()
	select {
	case <-time.After(time.Duration(st.last.Attempt) * d.loop.opt.Rest):
		return d.ask(ctx, st)
	case err := <-changed:
		return err
	}
}

// finish records the end of the run.
func (d *driver) finish(ctx context.Context, st state, reason events.FinishReason, failed *fold.Round) error {
	e := d.finished(st, reason)
	if failed != nil {
		e.Code, e.Detail = failed.Code, failed.Detail.CarriedBy(failed.EventID)
	}
	return d.loop.gate.Record(ctx, events.Draft{Session: d.session, Data: e, Causation: st.run.EventID})
}

func (d *driver) finished(st state, reason events.FinishReason) *events.RunFinished {
	return &events.RunFinished{RunID: d.run, Reason: reason, Rounds: len(st.run.Rounds), Calls: st.run.Calls, Usage: st.run.Usage()}
}

// direct reports whether a return-direct tool of the turn ran well: its result
// is the answer.
func (d *driver) direct(st state) bool {
	return slices.ContainsFunc(st.turn, d.loop.returnsDirect)
}

func (l *Loop) returnsDirect(c *fold.Call) bool {
	t := l.tools[c.Tool]
	return t != nil && t.Spec().ReturnDirect && c.Result != nil && c.Result.Status == events.StatusOK
}

// errMoved ends a driver's wait when a carry has returned.
var errMoved = errors.New("a call was put down")

// waitFor waits until the session has moved or a carry has returned.
func (d *driver) waitFor(ctx context.Context, st state) error {
	ctx, wake := context.WithCancelCause(ctx)
	defer wake(nil)
	if !d.sleep(st.putDowns, func() { wake(errMoved) }) {
		return nil
	}
	err := d.loop.gate.Watch(ctx, d.session, func(s *fold.Session) bool { return s.Last != st.at })
	if errors.Is(err, errMoved) {
		return nil
	}
	return err
}

// sleep says what wakes the driver; false where a carry has returned since it
// looked.
func (d *driver) sleep(putDowns int, wake func()) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.wake = wake
	return d.putDowns == putDowns
}

func (d *driver) returned() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.putDowns
}

// settled reports whether it is decided what becomes of an open call, and
// nothing of its turn holds it back.
func (st state) settled(c *fold.Call) bool {
	decided := c.Request == nil || c.Request.State != fold.Pending
	return decided && !st.held[c.CallKey] || st.cancelled
}

// change returns a channel that tells, once, that the session's state has moved
// beyond a position, or why that will not be known.
func (d *driver) change(ctx context.Context, at events.Position) (<-chan error, func()) {
	ctx, cancel := context.WithCancel(ctx)
	changed := make(chan error, 1)
	d.carries.Go(func() {
		changed <- d.loop.gate.Watch(ctx, d.session, func(s *fold.Session) bool { return s.Last != at })
	})
	return changed, cancel
}
