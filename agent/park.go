package agent

import (
	"container/list"
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// A run whose open calls all wait for people needs nothing but to be woken: it
// goes on from the log, as after a restart. So only the runs that began to wait
// last stay in hand, with a goroutine, a carrier and a fold of their own, and
// start without a detour when they are decided. Those that have waited longest
// are parked: what stays of one is its entry here, and the gate's promise to
// call when its session moves, by a decision, a time-out or a cancellation.

// keepWaiting is how many runs that wait for people stay in hand.
const keepWaiting = 128

// parked is a run that nobody drives until its session moves.
type parked struct {
	session, run string
	row          int64   // told so far, to the teller and to the feed
	feed         *Feed   // with readers; nil where nobody reads
	teller       *teller // of the listeners; nil where there are none
}

// waiting is the drivers that wait in hand, the longest first. It belongs to the
// loop's lock.
type waiting struct {
	most int // how many may
	list *list.List
}

func newWaiting(most int) waiting {
	if most == 0 {
		most = keepWaiting
	}
	return waiting{most: max(0, most), list: list.New()}
}

// line puts a driver that waits at the end of the line, until it leaves. Where
// the line is too long, the first is asked to give its place up.
func (l *Loop) line(d *driver) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	place := l.waiting.list.PushBack(d)
	if l.waiting.list.Len() > l.waiting.most {
		if first, ok := l.waiting.list.Remove(l.waiting.list.Front()).(*driver); ok {
			first.mayPark()
		}
	}
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.waiting.list.Remove(place) // nothing, where it was taken out
	}
}

// mayPark asks a driver to give its run up while that only waits.
func (d *driver) mayPark() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parks = true
	d.stir()
}

// parking reports whether the driver is to give its run up.
func (d *driver) parking() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.parks
}

// endPatience makes the calls in hand that wait to be decided be put down.
func (d *driver) endPatience() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.impatient != nil {
		d.impatient()
		d.patience, d.impatient = nil, nil
	}
}

// staysInHand makes the driver keep its run: it has something to do.
func (d *driver) staysInHand() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.parks = false
}

// idle reports whether no call is in hand.
func (d *driver) idle() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.carried) == 0
}

// onlyWaits reports whether a run does nothing but wait for people. A handler
// that may decide is asked by the driver, which therefore stays.
func (d *driver) onlyWaits(st state) bool {
	if !st.waits || d.loop.opt.Approvals == nil {
		return st.waits
	}
	for _, c := range st.open {
		if q := c.Request; q != nil && q.State == fold.Pending && q.Handlers {
			return false
		}
	}
	return true
}

// rest waits until something happens, in line if it is for people, or parks the
// run.
func (d *driver) rest(ctx context.Context, st state) (after, error) {
	waits := d.onlyWaits(st)
	switch {
	case !waits:
		d.staysInHand()
		return goesOn, d.waitFor(ctx, st)
	case !d.parking():
		defer d.loop.line(d)()
		return goesOn, d.waitFor(ctx, st)
	case d.idle():
		return d.loop.park(ctx, d, st.at)
	}
	d.endPatience()
	return goesOn, d.waitFor(ctx, st)
}

// park gives a run up until its session moves beyond a position; it goes on
// where that has moved already.
func (l *Loop) park(ctx context.Context, d *driver, at events.Position) (after, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping || ctx.Err() != nil {
		return goesOn, nil
	}
	p := &parked{session: d.session, run: d.run, row: d.narrator.row, teller: d.narrator.teller}
	waits, err := l.gate.Once(ctx, p.session, at, func() { l.unpark(p.run) })
	if err != nil {
		return goesOn, fmt.Errorf("park a run that waits: %w", err)
	}
	if !waits {
		return goesOn, nil
	}
	if feed := d.narrator.feed; feed.abandon() {
		delete(l.active, p.run)
	} else {
		p.feed = feed
	}
	l.parked[p.run] = p
	return isParked, nil
}

// parkAtStart parks a run that was unfinished at a start, without driving it
// first; false where it has something to do, or listeners are to hear of it.
func (l *Loop) parkAtStart(ctx context.Context, session string) (bool, error) {
	run, at, waits := l.gate.Waiting(session)
	if !waits || l.audience != nil || l.opt.Approvals != nil {
		return false, nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	waits, err := l.gate.Once(ctx, session, at, func() { l.unpark(run) })
	if waits {
		l.parked[run] = &parked{session: session, run: run}
	}
	return waits, err
}

// unpark takes a run up again whose session has moved.
func (l *Loop) unpark(run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parked[run]; p != nil {
		l.resume(p)
	}
}

// resume takes a parked run up again. mu is held.
func (l *Loop) resume(p *parked) *Feed {
	delete(l.parked, p.run)
	n := l.narrator(p.session, p.run)
	n.teller, n.heard = p.teller, p.row
	if p.feed != nil {
		n.feed, n.fed, n.caught = p.feed, p.row, true
	}
	l.drives(p.session, p.run, n)
	return n.feed
}

// forgetFeed drops the feed of a parked run that nobody reads any more.
func (l *Loop) forgetFeed(feed *Feed) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p := l.parked[feed.run]; p != nil && p.feed == feed && feed.abandon() {
		p.feed = nil
		delete(l.active, p.run)
	}
}

// Parked returns how many runs are parked: they wait for people, and nothing is
// kept of them but that.
func (l *Loop) Parked() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.parked)
}
