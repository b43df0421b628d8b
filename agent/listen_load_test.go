package agent_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// Invariant 9: whatever listeners do, every conversation has the same frames
// and the same log.
func TestListenersChangeNothing(t *testing.T) {
	stuck := make(chan struct{})
	t.Cleanup(func() { close(stuck) })
	tests := map[string]struct {
		then  func(ctx context.Context) error
		queue int
		loses bool
	}{
		"all is well": {func(context.Context) error { return nil }, 0, false},
		"fails":       {func(context.Context) error { return errEar }, 0, false},
		"panics":      {func(context.Context) error { panic("ear") }, 0, false},
		"is slow":     {func(ctx context.Context) error { <-ctx.Done(); return nil }, 2, true},
		"never ends":  {func(context.Context) error { <-stuck; return nil }, 2, true},
	}
	wantFrames, wantLog := newWorld(t).boot(story(), setup{}).conversations()
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e, well := &ear{then: test.then}, &ear{}
			p := newWorld(t).boot(story(), setup{change: heard(e.listens(name, test.queue), well.listens("well", 0))})
			frames, log := p.conversations()
			require.Equal(t, wantFrames, frames)
			require.Equal(t, wantLog, log)
			require.Equal(t, test.loses, p.Unheard() > 0)
			require.Len(t, well.of("s7"), 19, "another listener's troubles are its own")
			if !test.loses {
				require.Equal(t, well.of("s7"), e.of("s7"))
			}
		})
	}
}

// story is what the model says in each.
func story() *model {
	return plays(calls("A.", call("c", "Read", "a")), calls("", call("modify", "Write", "b")), calls("", call("decline", "Write", "c")), say("Z."))
}

// conversations plays twenty at once, stops the process, and returns what each
// showed and what the log holds of each.
func (p *process) conversations() (frames, log map[string][]string) {
	p.t.Helper()
	var mu sync.Mutex
	var all sync.WaitGroup
	frames, log = map[string][]string{}, map[string][]string{}
	for i := range 20 {
		all.Go(func() {
			session := fmt.Sprint("s", i)
			shown := p.play(session)
			mu.Lock()
			defer mu.Unlock()
			frames[session] = shown
		})
	}
	all.Wait()
	p.stop()
	for session := range frames {
		log[session] = p.records(session)
	}
	return frames, log
}

// records is what the log holds of a session, in short.
func (p *process) records(session string) []string {
	p.t.Helper()
	entries, err := p.log.Session(p.t.Context(), session, 0, 1000)
	require.NoError(p.t, err)
	var out []string
	for _, e := range entries {
		envelope, err := events.DecodeEnvelope(e.Record.Envelope)
		require.NoError(p.t, err)
		event, err := envelope.Event()
		require.NoError(p.t, err)
		short := string(envelope.Type)
		switch e := event.(type) {
		case *events.Decision:
			short += fmt.Sprint(" ", e.Verdict, " ", e.Cause)
		case *events.ToolResult:
			short += fmt.Sprint(" ", e.Status, " ", e.Cause)
		}
		out = append(out, short)
	}
	return out
}
