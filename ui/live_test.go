package ui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

// frame is an event of a stream, as a compliant parser reads it.
type frame struct {
	id, data string
	other    []string // fields that the console does not send
}

// listen opens a live stream.
func (p *person) listen(ctx context.Context, header map[string]string) (http.Header, <-chan frame) {
	p.w.t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, p.w.server.URL+"/live", nil)
	require.NoError(p.w.t, err)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	res, err := p.client.Do(r) //nolint:bodyclose // who reads it closes it
	require.NoError(p.w.t, err)
	frames := make(chan frame, 100)
	go func() {
		defer close(frames)
		defer res.Body.Close()
		var f frame
		for lines := bufio.NewScanner(res.Body); lines.Scan(); {
			name, value, _ := strings.Cut(lines.Text(), ":")
			value = strings.TrimPrefix(value, " ")
			switch {
			case lines.Text() == "" && f.data != "":
				frames <- f
				f = frame{id: f.id}
			case name == "id":
				f.id = value
			case name == "data":
				f.data += value
			case name != "" && name != "retry":
				f.other = append(f.other, lines.Text())
			}
		}
	}()
	return res.Header, frames
}

func next(t *testing.T, frames <-chan frame) frame {
	t.Helper()
	select {
	case f, ok := <-frames:
		require.True(t, ok, "the stream has ended")
		return f
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came")
		return frame{}
	}
}

func pendingOf(t *testing.T, f frame) int {
	t.Helper()
	var d struct {
		Seq, Pending int
	}
	require.NoError(t, json.Unmarshal([]byte(f.data), &d))
	require.Empty(t, f.other)
	require.Regexp(t, `^[0-9-]+$`, f.id)
	return d.Pending
}

func TestLiveTellsTheStateAndEveryMove(t *testing.T) { // cases 102, 104
	w := newWorld(t, nil)
	w.ask("a", "Write", `{}`)
	ben := w.as("ben")
	w.settle()
	head, frames := ben.listen(t.Context(), map[string]string{"Accept-Encoding": "gzip"})
	require.Equal(t, "text/event-stream", head.Get("Content-Type"))
	require.Equal(t, "no-store, no-transform", head.Get("Cache-Control"))
	require.Equal(t, "no", head.Get("X-Accel-Buffering"))
	require.Empty(t, head.Get("Content-Encoding"))
	require.Empty(t, head.Get("Content-Length"))
	require.Equal(t, 1, pendingOf(t, next(t, frames)))

	_, second := w.ask("b", "Write", `{}`)
	f := next(t, frames)
	for pendingOf(t, f) != 2 {
		f = next(t, frames)
	}
	// The queue of the moment is what the notice leads to.
	require.Equal(t, 2, ben.get("/inbox/queue").doc.Find(".card").Length())

	w.log.Decide(second, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	w.settle()
	last := f.id
	for _, id := range []string{last, "", "unknown", "5\n\ndata: forged\n\n"} { // reconnects, also with nonsense
		id = strings.NewReplacer("\n", " ").Replace(id)
		ctx, cancel := context.WithCancel(t.Context())
		_, again := ben.listen(ctx, map[string]string{"Last-Event-ID": id})
		require.Equal(t, 1, pendingOf(t, next(t, again)), "after Last-Event-ID %q", id)
		cancel()
	}
}

func TestAReaderWhoHasTheStateHearsOfTheNextOnly(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	w.settle()
	ctx, cancel := context.WithCancel(t.Context())
	_, frames := ben.listen(ctx, nil)
	known := next(t, frames)
	cancel()
	_, frames = ben.listen(t.Context(), map[string]string{"Last-Event-ID": known.id})
	w.ask("a", "Write", `{}`)
	require.NotEqual(t, known.id, next(t, frames).id)
}

// Names of sessions and tools never reach the stream, so nothing in them can
// forge a frame (case 103).
func TestNothingOfOthersReachesTheStream(t *testing.T) {
	w := newWorld(t, nil)
	var values map[string]string
	require.NoError(t, json.Unmarshal(caseFile(t, "103/values.json"), &values))
	ben := w.as("ben")
	w.settle()
	_, frames := ben.listen(t.Context(), nil)
	next(t, frames)
	for name, v := range values {
		w.ask(v, v, `{"`+name+`":"x"}`)
		for f := next(t, frames); ; f = next(t, frames) {
			require.NotContains(t, f.data, "forged")
			if pendingOf(t, f) > 0 {
				break
			}
		}
	}
}

func TestStreamsAreBoundedAndStopAtOnce(t *testing.T) {
	const most, each = 20, 16
	w := newWorld(t, func(o *ui.Options) { o.MaxStreams = most; o.Heartbeat = 10 * time.Millisecond })
	ben, dana := w.as("ben"), w.as("dana")
	w.settle()
	var all []<-chan frame
	open := func(who *person) {
		_, frames := who.listen(t.Context(), nil)
		next(t, frames)
		all = append(all, frames)
	}
	for range each {
		open(ben)
	}
	require.Equal(t, http.StatusTooManyRequests, ben.get("/live").status, "one person cannot take all")
	for range most - each {
		open(dana)
	}
	require.Equal(t, http.StatusServiceUnavailable, dana.get("/live").status)

	began := time.Now()
	w.console.Stop()
	for _, frames := range all {
		for range frames { // until it ends
		}
	}
	require.Less(t, time.Since(began), time.Second)
	require.Equal(t, http.StatusServiceUnavailable, ben.get("/live").status)
}

func TestALiveStreamOutlivesTheServersWriteTimeout(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Heartbeat = 20 * time.Millisecond })
	strict := httptest.NewUnstartedServer(w.console.Handler())
	strict.Config.WriteTimeout = 100 * time.Millisecond
	strict.Start()
	w.server.Close()
	w.server = strict // which the world closes
	ben := w.as("ben")
	w.settle()
	_, frames := ben.listen(t.Context(), nil)
	next(t, frames)
	<-time.After(300 * time.Millisecond)
	w.ask("a", "Write", `{}`)
	require.NotEmpty(t, next(t, frames).data)
}
