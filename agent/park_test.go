package agent_test

import (
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// parks parks every run as soon as it waits.
func parks(o *agent.Options) { o.MaxWaiting = -1 }

func (p *process) awaitParked(n int) {
	p.t.Helper()
	require.Eventually(p.t, func() bool { return p.Parked() == n }, patience, time.Millisecond, "%d runs are parked, want %d", p.Parked(), n)
}

// A parked run goes on when something happens to it, and its client sees what
// it would have seen, whether it stayed or came back.
func TestAParkedRunGoesOn(t *testing.T) {
	answered := []string{"token That is all.", "finish STOP"}
	rules := func(verdict events.Verdict, arguments string) func(*process, string) {
		return func(p *process, request string) {
			a := p.decide(request, verdict, func(r *gate.Ruling) { r.Arguments = []byte(arguments) })
			require.True(p.t, a.Accepted, a.Reason)
		}
	}
	tests := map[string]struct {
		happens func(p *process, request string)
		timeout time.Duration
		want    []string
	}{
		"approved":  {rules(events.VerdictApprove, ""), 0, append([]string{"tool_result c ok"}, answered...)},
		"changed":   {rules(events.VerdictModify, `{"path":"safe"}`), 0, append([]string{"tool_result c ok"}, answered...)},
		"declined":  {rules(events.VerdictDecline, ""), 0, append([]string{"tool_result c declined"}, answered...)},
		"timed out": {func(*process, string) {}, 300 * time.Millisecond, append([]string{"tool_result c expired"}, answered...)},
		"cancelled": {func(p *process, _ string) {
			require.NoError(p.t, p.Cancel(within(p.t), "s", carla, reviewer(carla)))
		}, 0, []string{"tool_result c cancelled", "finish CANCELLED"}},
		"superseded": {func(p *process, _ string) {
			_, r, err := p.Start(within(p.t), agent.Query{Session: "s", Text: "again", Principal: carla, Actor: reviewer(carla), Supersede: true})
			require.NoError(p.t, err)
			r.Close()
		}, 0, []string{"tool_result c cancelled", "finish CANCELLED"}},
	}
	for name, test := range tests {
		for _, stays := range []bool{true, false} {
			t.Run(fmt.Sprint(name, ", its client stays: ", stays), func(t *testing.T) {
				m := plays(calls("Let me write.", call("c", "Write", "a")))
				p := newWorld(t).boot(m, setup{timeout: test.timeout, change: parks})
				r := p.begin("s", "go")
				shown := until(t, r, of(agent.EventApproval))
				last := shown[len(shown)-1]
				if !stays {
					r.Close()
				}
				p.awaitParked(1)
				test.happens(p, last.Event.RequestID)
				if !stays {
					r = p.open("s", last.ID)
				}
				require.Equal(t, test.want, told(rest(t, r))[:len(test.want)])
				r.Close()
				p.awaitParked(0)
			})
		}
	}
}

// Wherever a client stands when its run is parked, it gets what it lacks, once.
func TestReadingOnFromAParkedRun(t *testing.T) {
	m := plays(calls("One two.", call("r", "Read", "a"), call("c", "Write", "a")), calls("Three.", call("d", "Write", "b")))
	p := newWorld(t).boot(m, setup{change: parks})
	r := p.begin("s", "go")
	shown := until(t, r, of(agent.EventToolResult))
	r.Close()
	p.awaitParked(1)
	readers := make([]*agent.Reader, len(shown))
	for i, f := range shown {
		readers[i] = p.open("s", f.ID)
		if i%2 == 0 {
			p.awaitParked(1) // again, with this reader
		}
	}
	p.awaitParked(1)
	p.approve(requestOf(t, shown, "c"))
	last := readers[len(readers)-1]
	second := until(t, last, of(agent.EventApproval))
	p.awaitParked(1)
	p.approve(requestOf(t, second, "d"))
	all := slices.Concat(shown, second, rest(t, last))
	require.Equal(t, []string{"tool_call d", "finish TOOL_CALLS", "approval_request d", "tool_result d ok", "token That is all.", "finish STOP"},
		told(all)[len(told(all))-6:])
	for i, r := range readers[:len(readers)-1] {
		got := told(rest(t, r))
		if shown[i].Event.Type == agent.EventToken {
			require.Equal(t, []string{"reset", "token One two."}, got[:2], "the reader within the text")
			got = got[2:]
		}
		want := told(all)
		require.Equal(t, want[len(want)-len(got):], got, "the reader after frame %d", i)
		require.Len(t, got, len(told(all[firstLasting(all, i):])), "the reader after frame %d", i)
		r.Close()
	}
	require.Len(t, m.requests(), 3)
}

// firstLasting is the first frame after one, text of the same round passed over.
func firstLasting(frames []agent.Frame, after int) int {
	i := after + 1
	for i < len(frames) && frames[after].Event.Type == agent.EventToken && frames[i].Event.Type == agent.EventToken {
		i++
	}
	return i
}

// Runs that wait stay in hand up to a number; those that have waited longest are
// parked, and are no goroutine's.
func TestTheLongestWaitingAreParked(t *testing.T) {
	const runs, most = 100, 3
	p := newWorld(t).boot(plays(calls("", call("c", "Write", "a"))), setup{change: func(o *agent.Options) { o.MaxWaiting = most }})
	before := runtime.NumGoroutine()
	var requests []string
	for i := range runs {
		r := p.begin("s"+strconv.Itoa(i), "go")
		requests = append(requests, requestOf(t, until(t, r, of(agent.EventApproval)), "c"))
		r.Close()
		p.awaitParked(max(0, i+1-most))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+4*most+4 }, patience, time.Millisecond)
	for i, request := range requests {
		p.approve(request)
		rest(t, p.open("s"+strconv.Itoa(i), ""))
	}
	p.awaitParked(0)
}

// A start takes up parked runs without driving them: nothing is asked, and each
// goes on by what is decided.
func TestParkedRunsAfterARestart(t *testing.T) {
	const runs = 20
	m := plays(calls("", call("c", "Write", "a")))
	w := newWorld(t)
	p := w.boot(m, setup{change: parks})
	var requests []string
	for i := range runs {
		r := p.begin("s"+strconv.Itoa(i), "go")
		requests = append(requests, requestOf(t, until(t, r, of(agent.EventApproval)), "c"))
		r.Close()
	}
	p.awaitParked(runs)
	p.stop()
	p = w.boot(m, setup{change: parks})
	<-p.Ready()
	require.Equal(t, runs, p.Parked())
	require.Len(t, m.requests(), runs, "no model was asked")
	for i, request := range requests {
		session := "s" + strconv.Itoa(i)
		switch i % 3 {
		case 0:
			p.approve(request)
		case 1:
			require.NoError(t, p.Cancel(within(t), session, carla, reviewer(carla)))
		case 2:
			require.True(t, p.decide(request, events.VerdictDecline, nil).Accepted)
		}
		want := []string{"tool_result c ok", "tool_result c cancelled", "tool_result c declined"}[i%3]
		frames := told(rest(t, p.open(session, "")))
		require.Len(t, slices.DeleteFunc(slices.Clone(frames), func(s string) bool { return s != want }), 1, "%s", frames)
	}
	p.awaitParked(0)
}

// Listeners hear of a run that was parked what they hear of any other, once.
func TestListenersOfParkedRuns(t *testing.T) {
	turns := []turn{
		calls("", call("r", "Read", "a"), call("approve", "Write", "b"), call("decline", "Write", "c")),
		calls("", call("modify", "Write", "d")),
	}
	var told [2][]string
	for i, most := range []int{0, -1} {
		e := &ear{}
		p := newWorld(t).boot(plays(turns...), setup{change: func(o *agent.Options) {
			o.MaxWaiting = most
			heard(e.listens("e", 0))(o)
		}})
		p.play("s")
		p.stop()
		told[i] = e.of("s")
	}
	require.ElementsMatch(t, told[0], told[1])
	require.Len(t, told[1], 17)
}

// Invariants 2, 3 and 6 while runs are parked and woken all the time: decisions,
// cancellations, readers that come and go, and a few places in hand.
func TestManyRunsAreParkedAndWoken(t *testing.T) {
	const runs = 60
	m := plays(calls("", call("c", "Write", "a"), call("d", "Write", "b")), calls("", call("e", "Write", "c")))
	p := newWorld(t).boot(m, setup{change: func(o *agent.Options) { o.MaxWaiting = 2 }})
	var wg sync.WaitGroup
	for i := range runs {
		wg.Go(func() { p.lives(i, "s"+strconv.Itoa(i)) })
	}
	wg.Wait()
	for i := range runs {
		p.state("s"+strconv.Itoa(i), func(s *fold.Session) {
			require.Nil(t, s.Run(), "run %d goes on", i)
			for key, c := range s.Calls {
				require.NotNil(t, c.Result, "call %s of run %d", key, i)
				ok := c.Result.Status == events.StatusOK
				require.Equal(t, ok, c.Start != nil, "it ran if and only if it started")
				require.Equal(t, ok, c.Request.State == fold.Approved)
			}
		})
	}
	require.Zero(t, p.Parked())
}

// lives plays one conversation, in which every call is decided, while its client
// leaves and comes back; every tenth is cancelled at its second request.
func (p *process) lives(i int, session string) {
	r := p.begin(session, "go")
	for seen := 0; ; {
		f, err := r.Next(within(p.t))
		if err != nil {
			r.Close()
			return
		}
		if f.Event.Type != agent.EventApproval {
			continue
		}
		seen++
		at := r.LastID()
		if seen%2 == i%2 {
			r.Close()
		}
		if i%10 == 0 && seen == 2 {
			_ = p.Cancel(within(p.t), session, carla, reviewer(carla))
		} else {
			verdict := []events.Verdict{events.VerdictApprove, events.VerdictDecline}[(i+seen)%2]
			_ = p.decide(f.Event.RequestID, verdict, nil)
		}
		if seen%2 == i%2 {
			r = p.open(session, at)
		}
	}
}
