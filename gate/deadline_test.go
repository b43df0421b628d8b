package gate_test

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// A time-out that the fold finds too early, because the log's clock lags or
// stands still, is published again until it counts, and not in a hurry.
func TestATimeOutThatIsTooEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		slow := func() time.Time { return began.Add(time.Since(began) / 2) } // half as fast
		log := newMemLog(slow)
		h := open(t, log, "b1", 10*time.Second)
		h.propose(t, "s", "Bash")
		var ran atomic.Int32
		r, _ := h.carry(t, "s", 0, ok(&ran))
		require.Equal(t, events.StatusExpired, r.Status)
		require.Zero(t, ran.Load())
		require.InDelta(t, 20, time.Since(began).Seconds(), 1, "10 s of the log's time")
		require.Less(t, log.count(events.TypeDecision), 20)
	})
}

// While the log's clock stands still, ends that are too early do not flood it.
func TestALogWhoseClockStandsStill(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		log := newMemLog(func() time.Time { return began.Add(max(0, time.Since(began)-2*time.Hour)) })
		h := open(t, log, "b1", 3*time.Second)
		h.propose(t, "s", "Bash")
		var ran atomic.Int32
		r, _ := h.carry(t, "s", 0, ok(&ran))
		require.Equal(t, events.StatusExpired, r.Status)
		require.InDelta(t, 2*time.Hour.Seconds(), time.Since(began).Seconds(), 61)
		require.Less(t, log.count(events.TypeDecision), 150)
	})
}

// A log that is ahead of the wall clock, because that was put back, is ahead
// after a restart as well: what waits is neither longer nor shorter for it.
func TestALogThatIsAheadOfTheWallClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, began := newMemLog(func() time.Time { return time.Now().Add(time.Hour) }), time.Now()
		h := open(t, log, "b1", time.Minute)
		h.propose(t, "s", "Bash")
		h.stop()
		<-time.After(20 * time.Second)
		_, err := log.as(hand).Append(t.Context(), events.Draft{Data: &events.Shutdown{BootID: "b1", Reason: "asked", Heads: []events.Head{}}})
		require.NoError(t, err)
		h = open(t, log, "b2", time.Minute)
		var ran atomic.Int32
		r, _ := h.carry(t, "s", 0, ok(&ran))
		require.Equal(t, events.StatusExpired, r.Status)
		require.InDelta(t, 60, time.Since(began).Seconds(), 0.1)
		require.Equal(t, 1, log.count(events.TypeDecision))
	})
}

// A person who answers in the log's time counts, whatever the gate's own clock
// says.
func TestTheLogsClockJudges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := openWith(t, newMemLog(time.Now), time.Minute, func(o *gate.Options) {
			o.Clock = func() time.Time { return time.Now().Add(time.Hour) }
		})
		h.propose(t, "s", "Bash")
		h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
	})
}

// The log takes no time-out for a while: it is tried again, not often.
func TestATimeOutThatTheLogDoesNotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, tries := newMemLog(time.Now), 0
		h := open(t, log, "b1", time.Second)
		h.propose(t, "s", "Bash")
		began := time.Now()
		log.set(func(l *memLog) {
			l.fail = func(_ string, drafts []events.Draft) *fault {
				if drafts[0].Data.Type() != events.TypeDecision || time.Since(began) > time.Minute {
					return nil
				}
				tries++
				return &fault{err: fmt.Errorf("not now")}
			}
		})
		var ran atomic.Int32
		r, _ := h.carry(t, "s", 0, ok(&ran))
		require.Equal(t, events.StatusExpired, r.Status)
		require.InDelta(t, 60, tries, 5)
	})
}

// A pending request times out after a restart as before it.
func TestATimeOutAcrossARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		h.propose(t, "s", "Bash")
		began := time.Now()
		<-time.After(20 * time.Second)
		h.stop()
		<-time.After(20 * time.Second)
		h = open(t, log, "b2", time.Minute)
		var ran atomic.Int32
		r, _ := h.carry(t, "s", 0, ok(&ran))
		require.Equal(t, events.StatusExpired, r.Status)
		require.InDelta(t, 60, time.Since(began).Seconds(), 0.1)
	})
}

// An approval that nobody starts ends when its time is over, without anybody
// touching it, also across a restart, and by the log's clock.
func TestAnApprovalThatNobodyStartsLapses(t *testing.T) {
	for name, c := range map[string]struct {
		calls   []string
		behind  time.Duration // of the log's clock
		restart bool
		want    time.Duration // from the approval
	}{
		"alone":                        {calls: []string{"Bash"}, want: time.Minute},
		"across a restart":             {calls: []string{"Bash"}, restart: true, want: time.Minute},
		"held back by its turn":        {calls: []string{"Bash", "Bash"}, want: 2*time.Hour + time.Minute},
		"held back, across a restart":  {calls: []string{"Bash", "Bash"}, restart: true, want: 2*time.Hour + time.Minute},
		"of a log whose clock is late": {calls: []string{"Bash"}, behind: 10 * time.Second, restart: true, want: 70 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				log := newMemLog(time.Now)
				h := open(t, log, "b1", 2*time.Hour)
				h.propose(t, "s", c.calls...)
				h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
				began := time.Now()
				if c.restart {
					<-time.After(20 * time.Second)
					h.stop()
					log.clock = func() time.Time { return time.Now().Add(-c.behind) }
					<-time.After(20 * time.Second)
					h = open(t, log, "b2", 2*time.Hour)
				}
				h.until(t, "s", func(s *fold.Session) bool { return s.Calls[key("s", 0)].Result != nil })
				require.InDelta(t, c.want.Seconds(), time.Since(began).Seconds(), 0.2)
				r, text := h.result(t, "s", 0)
				require.Equal(t, events.StatusExpired, r.Status)
				require.Equal(t, events.CauseTimeout, r.Cause)
				require.Contains(t, text, "not started in time")
				var ran atomic.Int32
				h.carry(t, "s", 0, ok(&ran))
				require.Zero(t, ran.Load())
				require.Equal(t, c.behind > 0, log.results("s", 0) > 1, "one result, but where the log finds it too early")
			})
		})
	}
}

// results counts the results of a call in the log.
func (l *memLog) results(session string, i int) (n int) {
	for _, e := range l.all() {
		if r, ok := fold.Decode(e.Record).Event.(*events.ToolResult); ok && r.CallKey == key(session, i) {
			n++
		}
	}
	return n
}

// Ten thousand requests wait in a thousand sessions: what one costs in memory,
// what a Carry costs that waits for it, and that all expire.
func TestTenThousandPending(t *testing.T) {
	const sessions, each, carried = 1000, 10, 100
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		for s := range sessions {
			h.propose(t, fmt.Sprint("s", s), slices.Repeat([]string{"Bash"}, each)...)
		}
		h.stop()
		before := memory() // the log's own is not counted
		h = open(t, log, "b2", time.Minute)
		waiting := memory() - before
		var ran atomic.Int32
		var carries sync.WaitGroup
		for n := range carried * each {
			session, i := fmt.Sprint("s", n/each), n%each
			carries.Go(func() {
				if err := h.Carry(t.Context(), session, key(session, i), ok(&ran)); err != nil {
					t.Error(err)
				}
			})
		}
		synctest.Wait()
		more := memory() - before - waiting
		t.Logf("heap and stacks: %d bytes a pending request, %d more where a Carry waits for it", waiting/(sessions*each), more/(carried*each))
		require.Less(t, waiting, int64(100<<20), "10,000 pending approvals stay under 100 MB")
		<-time.After(2 * time.Minute)
		carries.Wait()
		require.Zero(t, ran.Load())
		require.Equal(t, sessions*each, log.count(events.TypeDecision), "one time-out each")
		require.Equal(t, carried*each, log.count(events.TypeToolResult))
		for _, call := range judgeLog(log).calls {
			require.Equal(t, events.CauseTimeout, call.refusal.Cause)
			require.True(t, call.result == nil || call.result.Status == events.StatusExpired)
		}
	})
}

func memory() int64 {
	for range 3 { // stacks shrink by half at a time
		runtime.GC()
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// Undecided requests are capped for each session and for each principal, and a
// decision makes room.
func TestCapsOnPending(t *testing.T) {
	log := newMemLog(time.Now)
	caps := func(boot string) *house {
		return openWith(t, log, time.Minute, func(o *gate.Options) { o.Boot, o.MaxPending, o.MaxPendingPrincipal = boot, 2, 3 })
	}
	h := caps("b1")
	h.propose(t, "s1", "Bash", "Bash", "Bash", "Read")
	require.Equal(t, events.StatusError, first(h.result(t, "s1", 2)).Status)
	require.Equal(t, "pending-cap", first(h.result(t, "s1", 2)).Rule)
	var ran atomic.Int32
	require.Equal(t, events.StatusOK, first(h.carry(t, "s1", 3, ok(&ran))).Status, "free calls are not capped")
	h.propose(t, "s2", "Bash", "Bash")
	require.Equal(t, "pending-cap", first(h.result(t, "s2", 1)).Rule, "the principal has three")
	h.stop()
	h = caps("b2")
	h.propose(t, "s3", "Bash")
	require.Equal(t, "pending-cap", first(h.result(t, "s3", 0)).Rule, "also after a restart")
	for _, q := range []*fold.Request{h.request(t, "s1", 0), h.request(t, "s2", 0)} {
		h.accepted(t, ruling(q, events.VerdictDecline, alice))
	}
	h.propose(t, "s4", "Bash", "Bash")
	require.Equal(t, fold.Pending, h.request(t, "s4", 1).State, "there is room again")
}

func first[T any](v T, _ string) T { return v }
