package generate

import (
	"cmp"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/policy"
)

// fate is what becomes of a request.
type fate int

const (
	approved fate = iota
	changed       // approved with other arguments
	declined
	expired
	revoked
	left // nobody decides
)

// answered is a request with its fate.
type answered struct {
	*call

	fate fate
	at   time.Time // of what ends it
}

// carry plans what becomes of the calls of a turn, and lets it happen. Calls
// that read run at once, the others one after the other once they are decided,
// as the loop does it.
func (t *telling) carry(calls []*call, how ending) (over bool) {
	lane := t.now
	var asked []answered
	for _, c := range calls {
		switch {
		case c.request != nil:
			asked = append(asked, t.castFate(c, how))
		case c.kind.verdict.Effect == policy.Allow:
			lane = t.planStart(c, t.free(c), t.now, lane)
		}
	}
	slices.SortFunc(asked, func(a, b answered) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.key.Index, b.key.Index)) })
	for _, a := range asked {
		if a.fate != left {
			lane = t.planAnswer(a, lane)
		}
	}
	t.play()
	if how == carriedOut || how == pending || len(asked) == 0 {
		return false
	}
	t.wait(t.d.around(20*time.Second, 0.8, 4*time.Minute))
	t.cancel(asked, how)
	return true
}

// planStart plans a start, and returns when the next call may start.
func (t *telling) planStart(c *call, w warrant, from, lane time.Time) time.Time {
	takes := t.d.around(400*time.Millisecond, 1.4, time.Minute)
	if c.kind.writes && lane.After(from) {
		from = lane
	}
	t.plan(from, func() { t.start(c, w, takes) })
	if c.kind.writes {
		return from.Add(takes)
	}
	return lane
}

// castFate casts the fate of a request.
func (t *telling) castFate(c *call, how ending) answered {
	a := answered{call: c, fate: left, at: t.deadline(c)}
	if how == cancelled || how == taken || how == pending && c.key.Index == 0 {
		return a
	}
	a.at = t.now.Add(t.d.around(25*time.Second, 1.1, 8*time.Minute))
	switch x := t.d.Float64(); {
	case x < 0.74:
		a.fate = approved
	case x < 0.80 && c.request.Quorum == 1 && !c.request.FourEyes:
		a.fate = changed
	case x < 0.93:
		a.fate = declined
	case x < 0.935:
		a.fate = revoked
	case how == pending:
		a.fate = declined
	default:
		a.fate, a.at = expired, t.deadline(c)
	}
	return a
}

func (t *telling) deadline(c *call) time.Time { return t.now.Add(time.Duration(c.request.Timeout)) }

// planAnswer plans what people or the clock do, and what follows.
func (t *telling) planAnswer(a answered, lane time.Time) time.Time {
	c, who := a.call, t.reviewer(a.call)
	if a.fate == expired {
		t.planExpiry(c, a.at)
		return lane
	}
	if t.d.chance(0.6) {
		t.plan(a.at.Add(-min(a.at.Sub(t.now), 3*time.Second)), func() { t.views(c, who) })
	}
	switch a.fate {
	case declined:
		t.plan(a.at, func() { t.decline(c, who) })
		return lane
	case revoked:
		t.plan(a.at, func() { t.takeBack(c, who) })
		return lane
	case changed:
		w := &warrant{}
		t.plan(a.at, func() { *w = t.change(c, who) })
		return t.planLater(c, w, a.at, lane)
	case approved, expired, left:
	}
	w := &warrant{}
	at := t.planVotes(c, who, a.at, w)
	return t.planLater(c, w, at, lane)
}

// planLater is planStart for a warrant that is known only then.
func (t *telling) planLater(c *call, w *warrant, decided, lane time.Time) time.Time {
	takes := t.d.around(400*time.Millisecond, 1.4, time.Minute)
	from := decided.Add(2 * time.Millisecond)
	if lane.After(from) {
		from = lane
	}
	t.plan(from, func() { t.start(c, *w, takes) })
	return from.Add(takes)
}

// planVotes plans the approvals that a request needs, and sometimes one too
// many. It returns the time of the one that completes them.
func (t *telling) planVotes(c *call, who person, at time.Time, w *warrant) time.Time {
	if c.request.Quorum > 1 {
		t.plan(at, func() { t.approve(c, who, "") })
		if t.d.chance(0.15) {
			t.plan(at.Add(time.Millisecond), func() { t.approve(c, who, fold.ReasonVoted) })
		}
		at = at.Add(t.d.around(15*time.Second, 0.8, time.Minute))
	}
	last := who
	if c.request.Quorum > 1 {
		last = t.another(c, who)
	}
	t.plan(at, func() { *w = t.approve(c, last, "") })
	if t.d.chance(0.02) {
		other := t.another(c, last)
		t.plan(at.Add(time.Millisecond), func() { t.approve(c, other, fold.ReasonNotPending) })
	}
	return at
}

// planExpiry plans that nobody answers in time; sometimes somebody does a
// little later.
func (t *telling) planExpiry(c *call, deadline time.Time) {
	who, late := t.reviewer(c), t.d.Float64()
	if late < 0.1 {
		t.plan(deadline.Add(200*time.Millisecond), func() { t.approve(c, who, fold.ReasonTooLate) })
	}
	t.plan(deadline.Add(400*time.Millisecond), func() {
		t.gateDeclines(c, events.CauseTimeout)
		t.unstarted(c, events.StatusExpired, events.CauseTimeout, c.minted.ID, "Nobody answered the approval request in time, so it expired. The tool was not run.")
	})
	if late > 0.7 {
		t.plan(deadline.Add(1500*time.Millisecond), func() { t.approve(c, who, fold.ReasonNotPending) })
	}
}

// cancel tells that the run was cancelled while requests waited.
func (t *telling) cancel(asked []answered, how ending) {
	cause, said := events.CauseCancelled, "The run was cancelled before the call started. The tool was not run."
	if how == taken {
		cause, said = events.CauseSuperseded, "A new message from the user took the place of this call before it was decided. The tool was not run."
	}
	t.tell(&events.RunCancelled{RunID: t.run.id, Cause: cause, Actor: t.who.actor(t.now.Add(-time.Hour)), Via: "chat-api"}, about{cause: t.run.started})
	for _, a := range asked {
		t.gateDeclines(a.call, cause)
	}
	for _, a := range asked {
		t.unstarted(a.call, events.StatusCancelled, cause, a.minted.ID, said)
	}
}
