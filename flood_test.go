package countersign_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// boundedWait is how long something that ends work may wait in these tests. It is
// far above what is seen, and far below the ten seconds after which a poster is
// told that the log has no room.
const boundedWait = 5 * time.Second

// flooded is a house in which Write asks for a few seconds, with a small queue.
func flooded(t *testing.T, timeout time.Duration) countersign.Options {
	t.Helper()
	o := options(t)
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Write"}, Timeout: timeout})
	require.NoError(t, err)
	o.Policy, o.QueueBytes = p, 256<<10
	return o
}

func oneCall(session, tool string, arguments []byte) gate.Proposal {
	return gate.Proposal{
		Session: session, BatchID: "b-" + session, Agent: events.Agent{Name: "main"}, Principal: "ann", Calls: []gate.ProposedCall{{Tool: tool, Arguments: arguments}},
	}
}

// request returns the one request of a session.
func request(t *testing.T, g *gate.Gate, session string) (q fold.Request) {
	t.Helper()
	require.NoError(t, g.View(t.Context(), session, func(s *fold.Session) {
		for _, r := range s.Requests {
			q = *r
		}
	}))
	return q
}

func approves(q fold.Request) gate.Ruling {
	return gate.Ruling{
		RequestID: q.RequestID, Verdict: events.VerdictApprove, ActorName: "Bea", Via: "test",
		Actor: &events.Actor{Person: "bea", Roles: []string{"reviewer"}, Groups: []string{}, Method: "token", At: events.At(time.Now())},
	}
}

// flood proposes protected calls from many clients at once, until ctx ends.
type flood struct {
	wg       sync.WaitGroup
	mu       sync.Mutex
	taken    int             // mu
	refusals []time.Duration // mu; how long each took
	other    []error         // mu
}

func (f *flood) begin(ctx context.Context, g *gate.Gate, clients int) {
	arguments := []byte(`{"path":"` + strings.Repeat("x", 20<<10) + `"}`)
	for client := range clients {
		f.wg.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				began := time.Now()
				err := g.Propose(ctx, oneCall(fmt.Sprintf("flood-%d-%d", client, n), "Write", arguments))
				f.note(ctx, err, time.Since(began))
			}
		})
	}
}

func (f *flood) note(ctx context.Context, err error, took time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case gate.Refused(err):
		f.refusals = append(f.refusals, took)
	case err == nil:
		f.taken++
	case ctx.Err() == nil:
		f.other = append(f.other, err)
	}
}

// Invariant 7 under flood: while clients propose more than the log takes, new work
// is refused at once, and what ends work goes on being admitted in bounded time:
// decisions, starts' results, and time-outs.
func TestAFloodLeavesRoomForWhatEndsWork(t *testing.T) {
	const waiting, decided = 40, 6
	timeout := 5 * time.Second
	cs, stop := run(t, t.TempDir(), flooded(t, timeout))
	defer stop()
	for i := range waiting {
		require.NoError(t, cs.Gate.Propose(t.Context(), oneCall(fmt.Sprint("s", i), "Write", []byte(`{"path":"a"}`))))
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	f := &flood{}
	f.begin(ctx, cs.Gate, 48)
	var waits []time.Duration
	for i := range decided {
		session := fmt.Sprint("s", i)
		began := time.Now()
		a, err := cs.Gate.Decide(t.Context(), approves(request(t, cs.Gate, session)))
		require.NoError(t, err)
		require.True(t, a.Accepted, a.Reason)
		waits = append(waits, time.Since(began))
		carried(t, cs.Gate, session)
	}
	for i := decided; i < waiting; i++ { // nobody answers these
		session := fmt.Sprint("s", i)
		within, cancel := context.WithTimeout(t.Context(), timeout+boundedWait)
		require.NoError(t, cs.Gate.Watch(within, session, func(s *fold.Session) bool { return only(s).State == fold.Declined }))
		cancel()
		q := request(t, cs.Gate, session)
		require.Equal(t, events.CauseTimeout, q.End.Cause)
		waits = append(waits, time.UnixMicro(q.End.At.LogTime).Sub(q.Deadline))
	}
	end()
	f.wg.Wait()
	require.Empty(t, f.other)
	require.NotEmpty(t, f.refusals, "the flood was none: the test tests nothing")
	require.Less(t, slices.Max(waits), boundedWait)
	slices.Sort(f.refusals)
	require.Less(t, f.refusals[len(f.refusals)*99/100], time.Second, "who is refused is told at once")
	slices.Sort(waits)
	t.Logf("%d taken, %d refused (half within %v, 99 %% within %v); what ends work waited %v at most, half %v",
		f.taken, len(f.refusals), f.refusals[len(f.refusals)/2], f.refusals[len(f.refusals)*99/100], waits[len(waits)-1], waits[len(waits)/2])
}

func only(s *fold.Session) (q *fold.Request) {
	for _, r := range s.Requests {
		q = r
	}
	return q
}

// carried carries the call of a session to its result. That its start is refused
// under flood is an answer: the call ends, and says so.
func carried(t *testing.T, g *gate.Gate, session string) {
	t.Helper()
	key := events.CallKey{BatchID: "b-" + session}
	within, cancel := context.WithTimeout(t.Context(), 3*boundedWait)
	defer cancel()
	require.NoError(t, g.Carry(within, session, key, func(context.Context, []byte) gate.Output { return gate.Output{Content: []byte("done")} }))
	require.NoError(t, g.View(t.Context(), session, func(s *fold.Session) {
		c := s.Calls[key]
		require.NotNil(t, c.Result)
		require.Equal(t, c.Start != nil, c.Result.Status == events.StatusOK, "%+v", c.Result)
	}))
}

// Where the disk has no room for new work, it is refused at once; what waits is
// still decided, ends, and times out.
func TestWithoutRoomForNewWorkWhatWaitsEnds(t *testing.T) {
	dir, o := t.TempDir(), flooded(t, 3*time.Second)
	cs, stop := run(t, dir, o)
	for _, session := range []string{"decided", "expires"} {
		require.NoError(t, cs.Gate.Propose(t.Context(), oneCall(session, "Write", []byte(`{"path":"a"}`))))
	}
	stop()
	o.FreeBytes = math.MaxInt64 // as if something had filled the disk
	cs, stop = run(t, dir, o)
	defer stop()
	for _, tool := range []string{"Write", "Read"} {
		began := time.Now()
		err := cs.Gate.Propose(t.Context(), oneCall("new-"+tool, tool, []byte(`{}`)))
		require.ErrorIs(t, err, events.ErrRefused)
		require.Less(t, time.Since(began), time.Second)
	}
	r := approves(request(t, cs.Gate, "decided"))
	r.Verdict = events.VerdictDecline
	a, err := cs.Gate.Decide(t.Context(), r)
	require.NoError(t, err)
	require.True(t, a.Accepted, a.Reason)
	carried(t, cs.Gate, "decided")
	within, cancel := context.WithTimeout(t.Context(), 3*time.Second+boundedWait)
	defer cancel()
	err = cs.Gate.Watch(within, "expires", func(s *fold.Session) bool { return only(s).State == fold.Declined })
	require.NotErrorIs(t, err, context.DeadlineExceeded, "the time-out found no room")
	require.NoError(t, err)
}
