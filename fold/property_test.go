package fold_test

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// anything draws the next record of a book: mostly sensible, often not.
func anything(r *rapid.T) draft {
	who := person(rapid.SampledFrom([]string{"alice", "bob", "carla"}).Draw(r, "who"), "sre")
	to := rapid.SampledFrom([]string{"{}", "[]", `{"command":"ls"}`}).Draw(r, "text")
	number := rapid.IntRange(1, 3).Draw(r, "number")
	executor := rapid.SampledFrom([]string{"", me, "m/b7"}).Draw(r, "executor")
	run := rapid.SampledFrom([]string{"", "r", "q"}).Draw(r, "run")
	status := rapid.SampledFrom([]events.Status{
		events.StatusOK, events.StatusError, events.StatusDeclined, events.StatusExpired, events.StatusCancelled, events.StatusAmbiguous,
	}).Draw(r, "status")
	cause := rapid.SampledFrom([]events.Cause{events.CauseHuman, events.CauseTimeout, events.CauseCancelled, events.CauseExecutorLost}).Draw(r, "cause")
	return rapid.SampledFrom([]draft{
		call(inRun(run)), free(), ask(), approve(who), approve(who), decline(who), modify(who, to), modify(who, to),
		says(events.CauseTimeout), says(events.CauseCancelled), decide(events.VerdictApprove, events.CauseHandler, who),
		answer(), answer(), answer(refused), revise(number, who.Person, to), revoke(who), start(), start(), tells(status, cause, me),
		start(func(e *events.ToolStarted) { e.Executor = max(executor, me) }), byRule(), tells(status, cause, executor),
		loses(key), recovers(key), runs("r", "carla"), runs("q", "carla"), cancels("r"), finishes("r"), round("r", to, number, 1, events.RoundCalls),
	}).Draw(r, "what")
}

// answer is the revision that the last modification waits for, or one that
// nothing waits for.
func answer(changes ...func(*events.Revision)) draft {
	return func(b *book) events.Draft {
		waiting := b.request().Modifications
		if len(waiting) == 0 {
			return revise(1, "alice", "{}", changes...)(b)
		}
		m := waiting[len(waiting)-1]
		d := revise(b.request().Revision+1, m.Actor.Person, "", changes...)(b)
		d.Causation, d.Data.(*events.Revision).Arguments = m.EventID, m.Arguments.CarriedBy(m.EventID)
		return d
	}
}

// random writes a book of random records about a request of random terms.
func random(t *testing.T, r *rapid.T) *book {
	b := write(t, step{0, call(), ""}, step{0, ask(func(e *events.ApprovalRequest) {
		e.Quorum, e.FourEyes = rapid.IntRange(1, 2).Draw(r, "quorum"), rapid.Bool().Draw(r, "four eyes")
		e.Handlers, e.StartWithin = rapid.Bool().Draw(r, "handlers"), events.Duration(hour)
	}), ""})
	for range rapid.IntRange(1, 40).Draw(r, "records") {
		b.now = b.now.Add(rapid.SampledFrom([]time.Duration{0, time.Microsecond, time.Second, 50 * time.Second}).Draw(r, "later"))
		if b.approval == "" {
			b.approval = ident(1)
		}
		d := anything(r)(b)
		if d.Causation == "" && d.Data.Type() == events.TypeRevision {
			d.Causation = ident(2)
		}
		b.add(d)
	}
	return b
}

// Invariant 4: two readers of the same prefix have the same state, however they
// came by it, and later records never change what was judged.
func TestTheSamePrefixGivesTheSameState(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := random(t, r)
		all, reasons := b.replay(len(b.records))
		require.Equal(r, b.reasons, reasons)
		require.Equal(r, b.Session, all)
		n := rapid.IntRange(0, len(b.records)).Draw(r, "prefix")
		prefix, judged := b.replay(n)
		require.Equal(r, b.reasons[:n], judged)
		for _, rec := range b.records[n:] {
			prefix.Apply(fold.Decode(rec))
		}
		require.Equal(r, b.Session, prefix)
	})
}

// What does not count changes nothing: without those records the state is the
// same.
func TestRecordsThatDoNotCountChangeNothing(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := random(t, r)
		s := fold.NewSession("s")
		for i, rec := range b.records {
			if b.reasons[i] == "" {
				require.Equal(r, fold.Outcome{Counts: true}, s.Apply(fold.Decode(rec)))
			}
		}
		s.Last = b.Last // where the reading stands, not what it means
		require.Equal(r, b.Session, s)
	})
}

// Readers hold copies of requests beyond the lock of who folds: later records
// must not change what a copy shows.
func TestCopiesOfARequestDoNotChange(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := random(t, r)
		s := fold.NewSession("s")
		var copies, kept []fold.Request
		for _, rec := range b.records {
			s.Apply(fold.Decode(rec))
			if q := s.Requests[request]; q != nil {
				copies, kept = append(copies, deep(*q)), append(kept, *q)
			}
		}
		require.Equal(r, copies, kept)
	})
}

func deep(q fold.Request) fold.Request {
	q.Votes, q.Modifications, q.Decided = slices.Clone(q.Votes), slices.Clone(q.Modifications), slices.Clone(q.Decided)
	q.Revisions, q.Also, q.Approvers = slices.Clone(q.Revisions), slices.Clone(q.Also), slices.Clone(q.Approvers)
	return q
}

// Invariants 1, 2, 3 and 6 over what a fold found, told without its code.
func TestWhatCountsIsLawful(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		b := random(t, r)
		starts, results, started, lost := 0, 0, false, false
		for i, rec := range b.records {
			if b.reasons[i] != "" {
				continue
			}
			switch e := fold.Decode(rec).Event.(type) {
			case *events.ToolStarted:
				starts++
				started = true
				require.Zero(r, results, "a start after the result")
				require.False(r, lost, "a start of what is lost")
				require.Equal(r, fold.Approved, b.request().State, "invariant 1")
				require.Equal(r, b.request().End.EventID, e.Warrant.Decision, "invariant 1")
				require.Equal(r, b.request().Arguments.Commitment, e.Arguments.Commitment, "invariant 5")
				require.GreaterOrEqual(r, len(people(b.request())), b.request().Quorum)
			case *events.Recovered:
				lost = true
			case *events.ToolResult:
				results++
				ran := e.Status == events.StatusOK || e.Status == events.StatusAmbiguous
				require.True(r, !lost || e.Status == events.StatusAmbiguous, "invariant 6: nobody knows")
				require.True(r, started || lost || !ran, "invariant 6: nothing ran")
				require.True(r, !started || ran || e.Status == events.StatusError, "invariant 6: it ran")
			}
		}
		require.LessOrEqual(r, starts, 1, "invariant 3")
		require.LessOrEqual(r, results, 1, "invariant 2")
	})
}

func people(q *fold.Request) map[string]bool {
	who := map[string]bool{}
	for _, v := range q.Votes {
		who[v.Actor.Person] = true
	}
	return who
}
