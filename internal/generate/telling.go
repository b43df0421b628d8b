package generate

import (
	"cmp"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/journal"
)

// telling is one session as it is told, by one goroutine. What is told next
// stands at now, which only moves on.
type telling struct {
	*world
	*stream
	d       dice
	session string
	minter  *events.Minter
	err     error // the first one; after it nothing is told
	now     time.Time

	who   person // whose conversation it is
	agent string
	model string
	run   *run // the one that is told; nil between two
	calls int  // made so far
	steps []step
}

// step is something that happens at a time within a turn.
type step struct {
	at time.Time
	do func()
}

// unfolded is why most events of the house do not count.
const unfolded = fold.ReasonNotFolded

func (w *world) telling(no int, d dice, at time.Time) *telling {
	t := &telling{world: w, stream: &stream{no: no}, d: d, now: at, session: d.requestID()}
	t.minter = events.NewMinter(w.source, func() time.Time { return t.now })
	t.who, t.agent, t.model = pick(d, w.cast.people), pick(d, w.cast.agents), pick(d, w.cast.models)
	return t
}

// about says what of an event is not in its data.
type about struct {
	cause    string // the id of the event that it answers
	id       string // its own, where something names it earlier
	idle     fold.Reason
	payloads []events.Payload
}

// tell adds an event at now, and returns it for those that name it.
func (t *telling) tell(e events.Event, a about) events.Minted {
	if t.err != nil {
		return events.Minted{}
	}
	draft := events.Draft{ID: cmp.Or(a.id, t.d.eventID(t.now)), Session: t.session, Data: e, Payloads: a.payloads, Causation: a.cause}
	minted, err := t.minter.Mint(draft)
	if err != nil {
		t.err = err
		return events.Minted{}
	}
	m := minted[0]
	t.moments = append(t.moments, moment{idle: a.idle, Entry: journal.Entry{
		ID: m.ID, Session: m.Session, Type: string(m.Type), Envelope: m.Envelope, Payloads: m.Payloads, LogTime: t.now.UnixMicro(),
	}})
	return m
}

// wait moves on.
func (t *telling) wait(d time.Duration) { t.now = t.now.Add(d) }

// plan adds what happens later in the turn.
func (t *telling) plan(at time.Time, do func()) { t.steps = append(t.steps, step{at, do}) }

// play lets all that is planned happen, in the order of time; steps may plan
// others, for later.
func (t *telling) play() {
	for len(t.steps) > 0 {
		next := 0
		for i, s := range t.steps {
			if s.at.Before(t.steps[next].at) {
				next = i
			}
		}
		s := t.steps[next]
		t.steps = slices.Delete(t.steps, next, next+1)
		if s.at.After(t.now) {
			t.now = s.at
		}
		s.do()
	}
}
