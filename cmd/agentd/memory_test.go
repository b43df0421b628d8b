package main_test

import (
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// mostIdle is what an idle agentd may have in memory.
const mostIdle = 60 << 20

// An idle agentd stays small, also on a log of 100,000 events, once it has
// built its views of them.
func TestIdleMemory(t *testing.T) {
	if _, err := os.Stat("/proc/self/status"); err != nil {
		needed(t, "there is no /proc to read memory from", err)
	}
	h := newHome(t)
	p := h.start()
	empty := p.settled()
	p.stop()
	require.Less(t, empty, int64(mostIdle), "with an empty log")

	made := agentd(t, h.dir, nil, "generate", "--data-dir", "large", "--events", "100000")
	require.Zero(t, made.code, made.stderr)
	p = launch(t, h.dir, "serve", "--config", "agentd.yaml", "--data-dir", "large")
	p.viewsHave(100_000)
	full := p.settled()
	t.Logf("resident: %d MB with an empty log, %d MB with 100,000 events", empty>>20, full>>20)
	require.Less(t, full, int64(mostIdle), "with 100,000 events")
}

// settled is what the process has in memory once that no longer shrinks: the Go
// runtime gives memory back as time goes by.
func (p *process) settled() int64 {
	p.t.Helper()
	least := int64(1 << 62)
	for calm := 0; calm < 10; calm++ {
		<-time.After(200 * time.Millisecond)
		if now := p.resident(); now < least {
			least, calm = now, 0
		}
	}
	return least
}

// resident is what the process has in memory now, in bytes.
func (p *process) resident() int64 {
	p.t.Helper()
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	require.NoError(p.t, err)
	found := regexp.MustCompile(`VmRSS:\s+(\d+) kB`).FindSubmatch(b)
	require.NotNil(p.t, found, "%s", b)
	kb, err := strconv.ParseInt(string(found[1]), 10, 64)
	require.NoError(p.t, err)
	return kb << 10
}

// viewsHave waits until the console shows that many records.
func (p *process) viewsHave(records int) {
	p.t.Helper()
	who := p.signIn()
	sealed := regexp.MustCompile(`Sealed: ([0-9,]+) records`)
	waitFor(p.t, "the views are built", 2*time.Minute, time.Second, func() bool {
		found := sealed.FindStringSubmatch(who.page("/inbox"))
		if found == nil {
			return false
		}
		n, err := strconv.Atoi(strings.ReplaceAll(found[1], ",", ""))
		return err == nil && n >= records
	})
}
