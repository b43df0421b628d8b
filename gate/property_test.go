package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// act is one thing that happens to a world.
type act struct {
	weight int // how often it is drawn, against the others
	name   string
	do     func(*world)
}

// drawAct draws what happens next. What it needs is drawn at once, so that a
// failing run can be told and made smaller.
func drawAct(r *rapid.T) act {
	n := rapid.IntRange(0, 1).Draw(r, "node")
	pick := rapid.IntRange(0, 3).Draw(r, "pick")
	who := rapid.SampledFrom([]*events.Actor{alice, bob}).Draw(r, "who")
	session := rapid.SampledFrom([]string{"s0", "s1"}).Draw(r, "session")
	idempotency := rapid.SampledFrom([]string{"", "", "k1"}).Draw(r, "idempotency")
	says := func(verdict events.Verdict, changes ...func(*gate.Ruling)) func(*world) {
		return func(w *world) {
			w.decide(w.nodes[n], pick, func(q *fold.Request) gate.Ruling {
				return ruling(q, verdict, who, append(changes, keyed(idempotency))...)
			})
		}
	}
	killed := func(stored bool) func(*world) {
		return func(w *world) { w.restart(w.nodes[n], &fault{err: events.ErrLogStopped, stored: stored}) }
	}
	pause := time.Duration(rapid.SampledFrom([]int{1, 15, 40, 400}).Draw(r, "ms")) * time.Millisecond
	all := []act{
		{5, "propose", func(w *world) {
			w.propose(w.nodes[n], session, [][]string{{"Bash"}, {"Bash", "Read"}, {"Read", "Rm", "Nope"}, {"Bash", "Bash", "Free"}}[pick])
		}},
		{4, "approve", says(events.VerdictApprove)},
		{2, "decline", says(events.VerdictDecline)},
		{3, "modify", says("", becomes(changed))},
		{1, "modify to what does not fit", says("", becomes(`{"Command":"pwd"}`))},
		{1, "approve another text", says(events.VerdictApprove, func(q *gate.Ruling) { q.RequestDigest = events.DigestOf([]byte("other")) })},
		{1, "approve with the same key", says(events.VerdictApprove, keyed("k2"))},
		{1, "a stranger approves", func(w *world) {
			w.decide(w.nodes[n], pick, func(q *fold.Request) gate.Ruling {
				return ruling(q, events.VerdictApprove, &events.Actor{Person: "p-eve", Roles: []string{"agent"}, Groups: []string{}, Method: "token"})
			})
		}},
		{2, "take an approval back", func(w *world) { w.revoke(w.nodes[n], pick, who) }},
		{1, "mint a decision again", func(w *world) { w.mintAgain() }},
		{1, "write a start by hand", func(w *world) { w.forge(w.nodes[n], pick) }},
		{2, "approve by hand, and start another text", func(w *world) { w.byHand(w.nodes[n], pick, false) }},
		{1, "approve by hand, too late", func(w *world) { w.byHand(w.nodes[n], pick, true) }},
		{1, "begin", func(w *world) { w.begin(w.nodes[n]) }},
		{1, "finish", func(w *world) { w.finish(w.nodes[n]) }},
		{1, "cancel", func(w *world) {
			_, _ = w.nodes[n].Cancel(w.nodes[n].ctx, "s1", "p-carla", events.CauseCancelled, nil, "test")
		}},
		{1, "restart", func(w *world) { w.restart(w.nodes[n], nil) }},
		{1, "kill", killed(false)},
		{1, "kill while it appends", killed(true)},
		{1, "a process that dies at its next append", func(w *world) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.dead[w.nodes[n].source] = &fault{err: events.ErrLogStopped, stored: pick > 1}
		}},
		{1, "the log refuses", func(w *world) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.refuse[w.nodes[n].source] = fmt.Errorf("%w: full", events.ErrRefused)
		}},
		{4, "time passes", func(*world) { <-time.After(pause) }},
		{4, "others go on", func(*world) { synctest.Wait() }},
	}
	var bag []act
	for _, a := range all {
		for range a.weight {
			bag = append(bag, a)
		}
	}
	return bag[rapid.IntRange(0, len(bag)-1).Draw(r, "act")]
}

// Invariants 1 to 6, with two gates over one log, for random interleavings of
// everything that happens to them.
func TestTwoGatesOverOneLogKeepTheInvariants(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		acts := make([]act, rapid.IntRange(5, 40).Draw(r, "acts"))
		var names []string
		for i := range acts {
			acts[i] = drawAct(r)
			names = append(names, acts[i].name)
		}
		var problems []string
		synctest.Test(t, func(t *testing.T) { problems = live(t, acts) })
		if len(problems) > 0 {
			r.Fatalf("%s\nafter: %s", strings.Join(problems, "\n"), strings.Join(names, ", "))
		}
	})
}

// live lets the acts happen to a world and returns what is wrong with it.
func live(t *testing.T, acts []act) []string {
	w := newWorld(t)
	defer w.end()
	w.begin(w.nodes[0])
	for _, a := range acts {
		a.do(w)
	}
	w.settle()
	problems := append(w.problems, judgeLog(w.log).verdict(w.ran, w.answers)...)
	return append(problems, w.differ()...)
}

// differ is invariant 4: both gates, and a fold of the whole log, are in the
// same state.
func (w *world) differ() (problems []string) {
	for _, id := range []string{"s0", "s1"} {
		want := fold.NewSession(id)
		for _, e := range w.log.all() {
			if r := fold.Decode(e.Record); r.Envelope.SessionID == id {
				want.Apply(r)
			}
		}
		for _, n := range w.nodes {
			_ = n.View(w.t.Context(), id, func(s *fold.Session) {
				if got := *s; !sameState(&got, want) {
					problems = append(problems, fmt.Sprintf("invariant 4: node %s has another state of %s", n.name, id))
				}
			}) // a session that nobody has begun is in no state
		}
	}
	return problems
}

func sameState(got, want *fold.Session) bool {
	got.Last = want.Last // how far each has read is its own
	t := &failed{}
	require.Equal(t, want, got)
	return !t.yes
}

// failed notes that something was required in vain.
type failed struct{ yes bool }

func (f *failed) Errorf(string, ...any) { f.yes = true }
func (f *failed) FailNow()              { f.yes = true }
