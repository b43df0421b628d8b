package ui_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/ui"
)

// Statements S8, S9 and S15: readers that are slow, stop, and vanish.

const streamLabel = "stream=console"

// tight is a listener whose connections hold little that was not read.
type tight struct{ net.Listener }

// Accept implements net.Listener.
func (l tight) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if tcp, ok := c.(*net.TCPConn); ok {
		_ = tcp.SetWriteBuffer(4 << 10)
	}
	return c, err
}

// serveTight serves the console anew through such a listener.
func (w *world) serveTight() {
	s := httptest.NewUnstartedServer(w.console.Handler())
	s.Listener = tight{s.Listener}
	s.Start()
	w.server.Close()
	w.server = s // which the world closes
}

// Who does not read is cut, and holds up neither the log nor the others; and
// gets the rest when it comes back.
func TestS8ASlowReaderIsCutAndCatchesUp(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := newWorld(t, func(o *ui.Options) { o.Live.Slow, o.Metrics = 3*time.Second, reg })
	w.serveTight()
	eve := w.as("eve")
	begin := w.end()
	slow := w.raw("eve", idAt(w, begin))
	require.NoError(t, slow.(*net.TCPConn).SetReadBuffer(4<<10))
	_, fast := eve.listen(t.Context(), idAt(w, begin), nil)

	for i := range 1000 {
		w.log.Run(fmt.Sprint(i), "carla", "q")
	}
	end := w.end()
	require.Equal(t, span(begin+1, end), offsets(t, upTo(t, fast, end)))
	cuts := func() float64 {
		return gathered(t, reg, "countersign_sse_disconnects_total", "reason=slow_consumer", streamLabel)
	}
	require.Zero(t, cuts(), "all was appended and told while it was stuck")
	require.Eventually(t, func() bool { return cuts() == 1 }, 10*time.Second, 20*time.Millisecond)

	frames := make(chan frame, 20_000)
	parse(bufio.NewScanner(slow), frames) // what had been sent; the last may be torn
	close(frames)
	var got []frame
	for f := range frames {
		got = append(got, f)
	}
	require.NotEmpty(t, got)
	last := got[len(got)-1]
	require.Less(t, last.offset(t), end, "it was cut before the end")
	_, rest := eve.listen(t.Context(), "", map[string]string{"Last-Event-ID": last.id})
	require.Equal(t, span(begin+1, end), append(offsets(t, got), offsets(t, upTo(t, rest, end))...))
}

func TestS9AHundredStreamsStopAtOnce(t *testing.T) {
	const most, each = 160, 40
	w := newWorld(t, func(o *ui.Options) { o.MaxStreams = most })
	var all []<-chan frame
	open := func(who *person, n int) {
		for range n {
			_, frames := who.listen(t.Context(), "", nil)
			next(t, frames)
			all = append(all, frames)
		}
	}
	ben := w.as("ben")
	open(ben, each)
	require.Equal(t, http.StatusTooManyRequests, ben.get("/live").status, "one person cannot take all")
	open(w.as("dana"), each)
	open(w.as("eve"), 100-2*each)

	began := time.Now()
	w.console.Stop()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	require.NoError(t, w.server.Config.Shutdown(ctx))
	require.Less(t, time.Since(began), time.Second)
	for _, frames := range all {
		ended(t, frames, time.Second)
	}
}

func TestS9ClientsComeBackApart(t *testing.T) {
	w := newWorld(t, nil)
	w.settle()
	pauses := map[string]bool{}
	for range 10 {
		b := make([]byte, 512)
		conn := w.raw("ben", "")
		var head strings.Builder
		for !strings.Contains(head.String(), "retry:") {
			n, err := conn.Read(b)
			require.NoError(t, err)
			head.Write(b[:n])
		}
		m := regexp.MustCompile(`retry: ([1-4]\d\d\d)\b`).FindStringSubmatch(head.String())
		require.NotNil(t, m, head.String())
		pauses[m[1]] = true
		require.NoError(t, conn.Close())
	}
	require.Greater(t, len(pauses), 3)
}

// Browsers vanish and come back by the thousand, all at once, and each has what
// it missed; then nothing is left of them.
func TestS15NothingIsLeftOfThousands(t *testing.T) {
	const clients, missed = 1000, 200
	reg := prometheus.NewRegistry()
	w := newWorld(t, func(o *ui.Options) { o.MaxStreams, o.Metrics = 4*clients, reg })
	for i := range missed {
		w.log.Run(fmt.Sprint(i), "carla", "q")
	}
	end := w.end()
	before := runtime.NumGoroutine()
	after := idAt(w, end-missed)
	for range 2 {
		var group sync.WaitGroup
		for range clients {
			conn := w.raw("eve", after)
			group.Go(func() { // sleeps, then reads all and vanishes
				lines := bufio.NewScanner(conn)
				for n := 0; n < missed && lines.Scan(); {
					if strings.HasPrefix(lines.Text(), "data: ") {
						n++
					}
				}
				lines.Scan() // the end of the last
				_ = conn.Close()
			})
		}
		group.Wait()
	}
	require.Eventually(t, func() bool {
		return gathered(t, reg, "countersign_sse_clients", streamLabel) == 0 && runtime.NumGoroutine() <= before+5
	}, 10*time.Second, 50*time.Millisecond)
	require.InDelta(t, 2*clients*missed, gathered(t, reg, "countersign_sse_messages_sent_total", streamLabel), 0)
	require.InDelta(t, 2*clients, gathered(t, reg, "countersign_sse_resumes_total", "result=replayed", streamLabel), 0)
	require.InDelta(t, 2*clients, gathered(t, reg, "countersign_sse_disconnects_total", "reason=client_gone", streamLabel), 0)
}
