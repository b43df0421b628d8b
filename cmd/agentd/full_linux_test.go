package main_test

import (
	"context"
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

// On a disk that is short of room nothing new begins, and what waits can still
// be ended. On a full one nothing is acknowledged. With room, all goes on.
func TestFullDisk(t *testing.T) {
	h := newHome(t)
	d := newDisk(t, h.path("data"))
	p := h.start()
	var streams []*stream
	var requests []string
	for _, key := range []string{"declined", "approved", "later"} {
		s := p.as(agentToken).begin(t, plan{{count("Count", key)}}.query())
		streams, requests = append(streams, s), append(requests, s.until(t, "approval_request").RequestID)
	}

	d.leave(32 << 20) // beyond what is kept for what is under way
	require.Contains(t, p.refusesWork(), "there is no room on the disk for new work; free some, it goes on by itself")
	p.decides(requests[0], "decline")
	p.decides(requests[1], "approve")
	for i, want := range []string{"declined", "error"} { // no start can be recorded, so the approved tool does not run
		require.Equal(t, want, streams[i].until(t, "tool_result").ToolResults[0].Status)
		require.Equal(t, "STOP", streams[i].rest(t).Reason)
	}
	require.Empty(t, h.executions())

	d.leave(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	status, said, err := p.as(aliceToken).rule(ctx, map[string]string{"requestId": requests[2], "decision": "approve"})
	require.ErrorIs(t, err, context.DeadlineExceeded, "answered %d %+v", status, said)
	require.Contains(t, p.refusesWork(), "there is no room on the disk for new work")
	require.Empty(t, h.executions())

	d.free()
	eventually(t, "work begins again", func() bool {
		s, err := p.as(agentToken).chat(t.Context(), "", "hello")
		return err == nil && s.rest(t).Reason == "STOP"
	})
	status, said, err = p.as(aliceToken).rule(t.Context(), map[string]string{"requestId": requests[2], "decision": "approve"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status)
	require.True(t, said.Accepted || strings.Contains(said.Reason, "approved"), "the first may have waited for room: %s", said.Reason)
	require.Equal(t, "STOP", streams[2].rest(t).Reason)
	require.Equal(t, []string{`{"key":"later"}`}, h.executions())
	code, _ := p.stop()
	require.Zero(t, code)

	c := check(readLog(t, h.path("data", "journal.db")))
	c.ended()
	c.executions(h.executions())
	require.Empty(t, c.problems)
	require.Equal(t, "decline", c.effect(requests[0]), "what was acknowledged is in the log")
	require.Equal(t, "approve", c.effect(requests[1]), "what was acknowledged is in the log")
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
