package gate_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// When everything has ended, nothing of the gate is left: neither after a stop
// in the middle of things nor after the log failed under it.
func TestNoGoroutineIsLeft(t *testing.T) {
	for _, c := range []struct {
		name string
		end  func(h *house, cancel context.CancelFunc)
	}{
		{"a stop", func(_ *house, cancel context.CancelFunc) { cancel() }},
		{"a log that fails", func(h *house, _ context.CancelFunc) {
			h.log.set(func(l *memLog) { l.broken = errors.New("the disk is gone") })
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			h, err := build(t.Context(), newMemLog(time.Now), time.Minute, func(o *gate.Options) { o.JudgedWithin = 50 * time.Millisecond })
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- h.Run(ctx) }()
			<-h.Ready()
			waiters := h.waiters(t)
			c.end(h, cancel)
			<-ended // the log's own error, or none
			waiters.Wait()
			require.ErrorIs(t, h.Watch(t.Context(), "s", func(*fold.Session) bool { return false }), gate.ErrStopped)
			eventually(t, func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}

// waiters are goroutines in every wait that the gate has. They end with it,
// although their own contexts go on.
func (h *house) waiters(t *testing.T) *sync.WaitGroup {
	t.Helper()
	h.propose(t, "s", "Bash", "Read")
	var wg sync.WaitGroup
	var ran atomic.Int32
	running := make(chan struct{})
	wg.Go(func() { _ = h.Watch(context.Background(), "s", func(*fold.Session) bool { return false }) })
	wg.Go(func() { _ = h.Carry(context.Background(), "s", key("s", 0), ok(&ran)) })
	wg.Go(func() {
		_ = h.Carry(context.Background(), "s", key("s", 1), func(context.Context, []byte) gate.Output {
			close(running)
			<-h.stoppedSoon()
			return gate.Output{}
		})
	})
	<-running
	h.log.set(func(l *memLog) { l.held[h.source] = true })
	q := h.request(t, "s", 0)
	wg.Go(func() { _, _ = h.Decide(context.Background(), ruling(q, events.VerdictDecline, alice)) })
	eventually(t, func() bool { return h.log.count(events.TypeDecision) == 1 })
	return &wg
}

// stoppedSoon is closed when Run has ended.
func (h *house) stoppedSoon() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = h.Watch(context.Background(), "none", func(*fold.Session) bool { return false })
	}()
	return done
}

// eventually waits until something holds, and gives others the processor
// meanwhile.
func eventually(t *testing.T, holds func() bool) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for !holds() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("it never held; goroutines:\n%s", stacks[:runtime.Stack(stacks, true)])
		}
		runtime.Gosched()
	}
}
