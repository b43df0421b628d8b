package main_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
)

// Invariants 1, 3 and 7 from outside: agentd is killed again and again under load, and each time started on what it
// left. The clients go on with what they were about. In the end the log holds
// every answer that anybody got, nothing protected ran without its approval,
// nothing ran twice, and every run came to its end.
func TestKilledAgainAndAgain(t *testing.T) {
	kills := 15
	if testing.Short() {
		kills = 4
	}
	h := newHome(t)
	at := &site{}
	p := h.start()
	at.move(p.base)
	busy := &atomic.Bool{}
	busy.Store(true)
	ctx, cancel := context.WithTimeout(t.Context(), 90*time.Second)
	defer cancel()
	talkers := make([]*talker, 6)
	var group errgroup.Group
	for i := range talkers {
		talkers[i] = &talker{name: fmt.Sprintf("talker%d", i), site: at, busy: busy}
		group.Go(func() error { return talkers[i].talk(ctx) })
	}
	for range kills {
		<-time.After(time.Duration(100+rand.IntN(700)) * time.Millisecond)
		p.kill()
		p = h.start()
		at.move(p.base)
	}
	busy.Store(false)
	require.NoError(t, group.Wait())
	quiet(t, p, 1)
	code, _ := p.stop()
	require.Zero(t, code)

	l := readLog(t, h.path("data", "journal.db"))
	c := check(l)
	c.ended()
	c.executions(h.executions())
	told, answers := c.told(), 0
	for _, w := range talkers {
		c.heard(told, w)
		answers += len(w.acked)
	}
	require.Empty(t, c.problems)
	require.Len(t, all[*events.Boot](l), kills+1)
	require.Positive(t, c.survived, "no request outlived an agentd: the test tests nothing")
	require.NotEmpty(t, all[*events.Revision](l), "no arguments were changed: the test tests nothing")
	require.Positive(t, c.statuses()[events.StatusAmbiguous], "no tool was running at a kill: the test tests nothing")
	t.Logf("%d kills, %d records, %d decisions answered, %d of requests that outlived an agentd, results %v",
		kills, len(l.entries), answers, c.survived, c.statuses())
}
