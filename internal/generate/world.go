package generate

import (
	"math"
	"time"
)

// What stands in every generated log.
const (
	node = "generated"

	// perSession is how many events a session has on average: TestAverage holds
	// it true.
	perSession = 35.5
	// lastCall is how long before the end of log time a turn begins at the
	// latest, so that it ends by then.
	lastCall = 25 * time.Minute
)

// world is what all sessions share. It does not change.
type world struct {
	o      Options
	boot   string
	source string
	week   *week
	cast   cast
	trade  *trade
	text   *text
}

func newWorld(o Options) (*world, error) {
	trade, err := newTrade()
	if err != nil {
		return nil, err
	}
	d := newDice(o.Seed, houseStream)
	from := o.Until.AddDate(0, 0, -o.Days)
	w := &world{
		o: o, boot: d.eventID(from), week: newWeek(from.Add(time.Minute), o.Until.Add(-lastCall)),
		cast: newCast(), trade: trade, text: newText(newDice(o.Seed, textStream)),
	}
	w.source = "agentd/" + node + "/" + w.boot
	return w, nil
}

// The streams of randomness that are no session's.
const (
	houseStream = math.MaxUint64 - iota
	textStream
)

// sessionsAtMost bounds how many sessions are told: exactly those that were
// asked for, or as many as it takes.
func (w *world) sessionsAtMost() int {
	if w.o.Sessions >= 0 {
		return w.o.Sessions
	}
	if w.o.Events <= 0 {
		return 0
	}
	return math.MaxInt
}

// share is which part of the work is done before a session begins. Sessions
// beyond those that were expected begin at the end.
func (w *world) share(no int, d dice) float64 {
	expected := float64(w.o.Sessions)
	if w.o.Sessions < 0 {
		expected = math.Ceil(float64(w.o.Events) / perSession)
	}
	return math.Min(1, (float64(no)+d.Float64())/math.Max(expected, 1))
}

// tellSome tells the sessions of some numbers.
func (w *world) tellSome(from, to int) told {
	var some told
	for no := from; no < to; no++ {
		d := newDice(w.o.Seed, uint64(no)) //nolint:gosec // not negative
		t := w.telling(no, d, w.week.at(w.share(no, d)))
		t.conversation()
		if t.err != nil {
			return told{err: t.err}
		}
		some.streams = append(some.streams, t.stream)
	}
	return some
}

// lastSessions are those that are left open.
func (w *world) lastSessions() ([]*stream, error) {
	var all []*stream
	for i := range w.o.Pending + w.o.Unfinished {
		no := math.MaxInt32 + i
		d := newDice(w.o.Seed, uint64(no))
		at := w.o.Until.Add(-lastCall).Add(time.Duration(d.Float64() * float64(lastCall-5*time.Minute)))
		t := w.telling(no, d, at.Truncate(time.Millisecond))
		if i < w.o.Pending {
			t.waits()
		} else {
			t.rests()
		}
		if t.err != nil {
			return nil, t.err
		}
		all = append(all, t.stream)
	}
	return all, nil
}

// house tells what belongs to no session: the boot, the definitions, people's
// names, and who signed in when.
func (w *world) house() *telling {
	t := w.telling(-1, newDice(w.o.Seed, houseStream), w.week.from.Add(-time.Minute))
	t.session = ""
	t.boots()
	for day := range w.o.Days {
		t.signIns(w.week.from.AddDate(0, 0, day))
	}
	return t
}
