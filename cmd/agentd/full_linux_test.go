package main_test

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// disk is a small file system that holds a data directory.
type disk struct {
	t   *testing.T
	dir string
}

func newDisk(t *testing.T, dir string) *disk {
	t.Helper()
	require.NoError(t, os.Mkdir(dir, 0o700))
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=160m,mode=0700"); err != nil {
		needed(t, "a full disk needs a file system of its own, and none can be mounted", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(dir, syscall.MNT_DETACH)) })
	return &disk{t, dir}
}

// leave fills the disk but for so many bytes.
func (d *disk) leave(left int64) {
	d.t.Helper()
	f, err := os.OpenFile(filepath.Join(d.dir, "filler"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	require.NoError(d.t, err)
	defer f.Close()
	for block := make([]byte, 1<<16); ; {
		var now syscall.Statfs_t
		require.NoError(d.t, syscall.Statfs(d.dir, &now))
		more := int64(now.Bavail)*now.Bsize - left
		if more <= 0 {
			return
		}
		_, err := f.Write(block[:min(more, int64(len(block)))])
		if errors.Is(err, syscall.ENOSPC) {
			return
		}
		require.NoError(d.t, err)
	}
}

// free takes the filler away.
func (d *disk) free() { require.NoError(d.t, os.Remove(filepath.Join(d.dir, "filler"))) }

// refusesWork waits until new chats are refused for want of room, and returns
// with what is said.
func (p *process) refusesWork() string {
	p.t.Helper()
	said := ""
	eventually(p.t, "new work is refused", func() bool {
		s, err := p.as(agentToken).chat(p.t.Context(), "", "hello")
		if answer, ok := errors.AsType[statusError](err); ok {
			require.Equal(p.t, http.StatusServiceUnavailable, answer.status, answer.body)
			said = answer.body
			return true
		}
		require.NoError(p.t, err)
		s.rest(p.t)
		return false
	})
	return said
}

// exhaust fills the disk, and the room that agentd keeps in reserve on it.
func (d *disk) exhaust() {
	d.t.Helper()
	require.NoError(d.t, os.Truncate(filepath.Join(d.dir, "reserve"), 0))
	d.leave(0)
}

// On a disk that is short of room nothing new begins, and what was begun is
// decided, carried out and ended; also when something else has filled it. Only
// when the reserve is used up as well nothing is taken, nor acknowledged. With
// room, all goes on.
func TestFullDisk(t *testing.T) {
	h := newHome(t)
	d := newDisk(t, h.path("data"))
	p := h.start()
	var streams []*stream
	var requests []string
	for _, key := range []string{"declined", "short", "full", "later"} {
		s := p.as(agentToken).begin(t, plan{{count("Count", key)}}.query())
		streams, requests = append(streams, s), append(requests, s.until(t, "approval_request").RequestID)
	}

	d.leave(32 << 20) // beyond what is kept for what is under way
	require.Contains(t, p.refusesWork(), "there is no room on the disk for new work; free some, it goes on by itself")
	p.decides(requests[0], "decline")
	p.decides(requests[1], "approve")
	d.leave(0)
	p.decides(requests[2], "approve")
	for i, want := range []string{"declined", "ok", "ok"} {
		require.Equal(t, want, streams[i].until(t, "tool_result").ToolResults[0].Status)
		require.Equal(t, "STOP", streams[i].rest(t).Reason)
	}
	require.Contains(t, p.refusesWork(), "there is no room on the disk for new work")

	d.exhaust()
	began := time.Now()
	status, _, err := p.as(aliceToken).rule(t.Context(), map[string]string{"requestId": requests[3], "decision": "approve"})
	require.NoError(t, err)
	require.Equal(t, http.StatusServiceUnavailable, status)
	require.Less(t, time.Since(began), 12*time.Second)
	require.Len(t, h.executions(), 2)

	d.free()
	eventually(t, "work begins again", func() bool {
		s, err := p.as(agentToken).chat(t.Context(), "", "hello")
		return err == nil && s.rest(t).Reason == "STOP"
	})
	status, said, err := p.as(aliceToken).rule(t.Context(), map[string]string{"requestId": requests[3], "decision": "approve"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.True(t, said.Accepted || strings.Contains(said.Reason, "approved"), "the first may be stored: %s", said.Reason)
	require.Equal(t, "STOP", streams[3].rest(t).Reason)
	require.ElementsMatch(t, []string{`{"key":"short"}`, `{"key":"full"}`, `{"key":"later"}`}, h.executions())
	code, _ := p.stop()
	require.Zero(t, code)

	c := check(readLog(t, h.path("data", "journal.db")))
	c.ended()
	c.executions(h.executions())
	require.Empty(t, c.problems)
	for i, verdict := range []string{"decline", "approve", "approve"} {
		require.Equal(t, verdict, c.effect(requests[i]), "what was acknowledged is in the log")
	}
}

// With no room left at all agentd stops when it is asked to, and does not start;
// both say why. What was pending stays so.
func TestStopAndStartOnAFullDisk(t *testing.T) {
	h := newHome(t)
	d := newDisk(t, h.path("data"))
	p := h.start()
	waits := p.as(agentToken).begin(t, plan{{count("Count", "waits")}}.query())
	request := waits.until(t, "approval_request").RequestID
	runs := p.as(agentToken).begin(t, plan{{count("Slow", "runs")}}.query())
	p.as(aliceToken).approve(t, runs.until(t, "approval_request").RequestID)
	eventually(t, "the tool runs", func() bool { return h.executed(`{"key":"runs"}`) })
	d.exhaust()
	code, took := p.stop()
	require.Equal(t, 1, code, "%s", p.errs)
	require.Less(t, took, 12*time.Second)
	require.Contains(t, p.errs.String(), "what still waited for it was not stored, and nothing of that was acknowledged")

	started := agentd(t, h.dir, nil, "--config", "agentd.yaml")
	require.Equal(t, 1, started.code)
	require.Regexp(t, "full|no space", started.stderr)

	d.free()
	p = h.start()
	require.Equal(t, "ambiguous", p.as(agentToken).resume(t, runs.conversation).until(t, "tool_result").ToolResults[0].Status)
	p.as(aliceToken).approve(t, request)
	require.Equal(t, "STOP", p.as(agentToken).resume(t, waits.conversation).rest(t).Reason)
	code, _ = p.stop()
	require.Zero(t, code)
	c := check(readLog(t, h.path("data", "journal.db")))
	c.ended()
	c.executions(h.executions())
	require.Empty(t, c.problems)
}

// decides posts a decision, which must be accepted.
func (p *process) decides(request, verdict string) {
	p.t.Helper()
	status, said, err := p.as(aliceToken).rule(p.t.Context(), map[string]string{"requestId": request, "decision": verdict})
	require.NoError(p.t, err)
	require.Equal(p.t, http.StatusOK, status)
	require.True(p.t, said.Accepted, said.Reason)
}

// effect is the verdict that took effect on a request.
func (c *checker) effect(request string) string {
	for _, verdict := range c.requests[request].effects {
		return verdict
	}
	return ""
}
