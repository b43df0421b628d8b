package ui_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

// Statements S1 to S7 and S11 of live streams; the others are in the files
// beside this one.

// A page tells where its stream begins, and from there on every record comes
// once, also those that came while the page was made.
func TestS1APageAndItsStreamMissNothing(t *testing.T) {
	w := newWorld(t, nil)
	eve := w.as("eve")
	stop, done := make(chan struct{}), make(chan struct{})
	go func() { // the world goes on meanwhile
		defer close(done)
		pace := time.NewTicker(time.Millisecond)
		defer pace.Stop()
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			case <-pace.C:
				w.log.Run(fmt.Sprint("busy", i), "carla", "q")
			}
		}
	}()
	for range 10 {
		place := eve.get("/inbox").doc.Find("#live").AttrOr("data-place", "")
		ctx, cut := context.WithCancel(t.Context())
		_, frames := eve.listen(ctx, place, nil)
		first := frame{id: place}.offset(t)
		got := upTo(t, frames, first+20)
		require.Equal(t, span(first+1, got[len(got)-1].offset(t)), offsets(t, got))
		cut()
	}
	close(stop)
	<-done
}

func TestS2AfterACutExactlyWhatWasMissedComes(t *testing.T) {
	w := newWorld(t, nil)
	eve := w.as("eve")
	begin := w.end()
	ctx, cut := context.WithCancel(t.Context())
	_, frames := eve.listen(ctx, "", nil)
	state := next(t, frames)
	require.Equal(t, "state", state.notice(t).Kind)
	require.Equal(t, begin, state.offset(t))
	w.ask("a", "Write", `{}`)
	got := upTo(t, frames, w.end())
	require.Equal(t, span(begin+1, w.end()), offsets(t, got))
	known := got[1]
	cut()
	w.ask("b", "Write", `{}`)
	end := w.end()
	for name, c := range map[string]struct{ after, last string }{
		"by Last-Event-ID":          {"", known.id},
		"Last-Event-ID beats after": {got[3].id, known.id},
		"after alone":               {known.id, ""},
		"after, the other unknown":  {known.id, "   "},
	} {
		t.Run(name, func(t *testing.T) {
			_, again := eve.listen(t.Context(), c.after, map[string]string{"Last-Event-ID": c.last})
			require.Equal(t, span(known.offset(t)+1, end), offsets(t, upTo(t, again, end)))
		})
	}
	// Who knows all gets the next thing only.
	_, again := eve.listen(t.Context(), "", map[string]string{"Last-Event-ID": idAt(w, end)})
	w.log.Run("c", "carla", "q")
	require.Equal(t, end+1, next(t, again).offset(t))
}

// idAt is the place of a record of the log in memory.
func idAt(w *world, offset int) string {
	if offset < 0 {
		return "0"
	}
	entries, err := w.log.Read(w.t.Context(), int64(offset), 1)
	require.NoError(w.t, err)
	return fmt.Sprintf("%d-0-%d", entries[0].Record.LogTime, offset)
}

func TestS2WhatMovedIsNamed(t *testing.T) { // cases 102, 104
	w := newWorld(t, nil)
	ben := w.as("ben")
	begin := w.end()
	_, frames := ben.listen(t.Context(), idAt(w, begin), nil)
	call, q := w.ask("a", "Write", `{"text":"SECRET"}`)
	w.log.Start(call, &q, w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, "SECRET"))
	var got []string
	for _, f := range upTo(t, frames, w.end()) {
		require.NotContains(t, f.data, "SECRET")
		n := f.notice(t)
		require.Equal(t, uint64(f.offset(t)+1), n.Seq)
		require.Contains(t, []string{q.RequestID, ""}, n.Request)
		pending := "-"
		if n.Pending != nil {
			pending = fmt.Sprint(*n.Pending)
		}
		got = append(got, fmt.Sprintf("%s %s %q %s/%d request=%t waits=%t pending=%s",
			n.Kind, n.Type, n.Session, n.Batch, n.Index, n.Request != "", n.Waits, pending))
	}
	require.Equal(t, []string{
		`session run_started "a" /0 request=false waits=false pending=-`,
		`session round_finished "a" /0 request=false waits=false pending=-`,
		`call tool_call "a" b1/0 request=true waits=true pending=1`,
		`request approval_request "a" b1/0 request=true waits=true pending=1`,
		`system person "" /0 request=false waits=false pending=-`,
		`request decision "a" /0 request=true waits=false pending=0`,
		`call tool_started "a" b1/0 request=true waits=false pending=0`,
	}, got)
}

func TestS3HeartbeatsMoveNoPlace(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Heartbeat = time.Millisecond })
	ben := w.as("ben")
	begin := w.end()
	ctx, cut := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cut()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, w.server.URL+"/live?after="+idAt(w, begin), nil)
	require.NoError(t, err)
	res, err := ben.client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	text := readUntilCut(res.Body)
	require.Greater(t, strings.Count(text, ": alive\n\n"), 10)
	require.NotContains(t, text, "id:")
	require.NotContains(t, text, "data:")
}

func TestS4TheFirstBytesComeAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	for _, after := range []string{"", idAt(w, w.end()), "nonsense"} {
		took := w.firstByte(t, ben, w.server.URL+"/live?after="+after)
		require.Less(t, took, 100*time.Millisecond, "after %q", after)
	}
}

func TestS5HeadersOfAStream(t *testing.T) {
	w := newWorld(t, nil)
	head, frames := w.as("ben").listen(t.Context(), "", map[string]string{"Accept-Encoding": "gzip, br"})
	next(t, frames)
	require.Equal(t, "text/event-stream", head.Get("Content-Type"))
	require.Equal(t, "no-store, no-transform", head.Get("Cache-Control"))
	require.Equal(t, "no", head.Get("X-Accel-Buffering"))
	require.Empty(t, head.Get("Content-Encoding"))
	require.Empty(t, head.Get("Content-Length"))
}

func TestS6AStreamOutlivesTheServersWriteTimeout(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Heartbeat = 20 * time.Millisecond })
	strict := httptest.NewUnstartedServer(w.console.Handler())
	strict.Config.WriteTimeout = 100 * time.Millisecond
	strict.Start()
	w.server.Close()
	w.server = strict // which the world closes
	_, frames := w.as("ben").listen(t.Context(), "", nil)
	next(t, frames)
	<-time.After(300 * time.Millisecond)
	w.ask("a", "Write", `{}`)
	upTo(t, frames, w.end())
}

// Where what was missed cannot be told, the browser is told to begin anew, and
// then hears of everything that comes.
func TestS7APlaceThatIsNoneResets(t *testing.T) {
	const window = 40
	w := newWorld(t, live(ui.Live{Window: window}))
	eve := w.as("eve")
	for i := range 100 {
		w.log.Run(fmt.Sprint(i), "carla", "q")
	}
	end := w.end()
	for name, c := range map[string]struct {
		after string
		reset bool
	}{
		"the last record":             {idAt(w, end), false},
		"within the window":           {idAt(w, end-window+1), false},
		"older than the window":       {idAt(w, end-window-1), true},
		"the beginning":               {"0", true},
		"beyond the end":              {fmt.Sprintf("%d-0-%d", time.Now().UnixMicro(), end+1), true},
		"a record of another log":     {fmt.Sprintf("%d-0-%d", 17, end-3), true},
		"a partition that is none":    {fmt.Sprintf("%d-1-%d", 17, end-3), true},
		"one more partition":          {idAt(w, end) + "_7-12", true},
		"another spelling":            {idAt(w, end) + "_0-1", true},
		"words":                       {"nonsense", true},
		"numbers":                     {"12", true},
		"below zero":                  {"-1-0-5", true},
		"beyond 64 bits":              {"99999999999999999999-0-1", true},
		"long":                        {strings.Repeat("1-", 5000) + "1", true},
		"an attempt at another frame": {"1%0Adata:x", true},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cut := context.WithCancel(t.Context())
			defer cut()
			_, frames := eve.listen(ctx, c.after, nil)
			if c.reset {
				f := next(t, frames)
				require.Equal(t, "reset", f.notice(t).Kind)
				require.Equal(t, w.end(), f.offset(t))
			}
			w.log.Run("more"+name, "carla", "q")
			got := upTo(t, frames, w.end())
			if c.reset {
				require.Len(t, got, 1)
			}
			require.Equal(t, w.end(), got[len(got)-1].offset(t))
		})
	}
}

// Names of sessions and calls are in the stream as JSON strings: nothing in them
// makes a frame or a field (case 103).
func TestS11NothingInANameMakesAFrame(t *testing.T) {
	w := newWorld(t, nil)
	values := hostileNames(t)
	ben := w.as("ben")
	begin := w.end()
	_, frames := ben.listen(t.Context(), idAt(w, begin), nil)
	for _, v := range values {
		_, q := w.ask(v, v, fmt.Sprintf("{%q:\"x\"}", "k"))
		got := upTo(t, frames, w.end())
		last := got[len(got)-1].notice(t)
		require.Equal(t, v, last.Session)
		require.Equal(t, q.RequestID, last.Request)
		require.Equal(t, span(begin+1, w.end()), offsets(t, got))
		begin = w.end()
	}
}
