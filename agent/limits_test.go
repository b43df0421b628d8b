package agent_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// counting is a turn with a usage of its own.
func counting(play turn, u agent.Usage) turn {
	return func(ctx context.Context, sink func(agent.Delta)) (agent.Turn, error) {
		t, err := play(ctx, sink)
		t.Usage = u
		return t, err
	}
}

// Counts that no sum can hold, or that are none, keep no run from its end.
func TestUsageBeyondAllReason(t *testing.T) {
	huge := agent.Usage{PromptTokens: math.MaxInt64, CompletionTokens: -5, TotalTokens: math.MaxInt64}
	p := newWorld(t).boot(plays(counting(calls("", call("c", "Read", "a")), huge), counting(say("Hi."), huge)), setup{})
	require.Equal(t, []string{"tool_call c", "finish TOOL_CALLS", "tool_result c ok", "token Hi.", "finish STOP"}, told(rest(t, p.begin("s", "go"))))
	p.state("s", func(s *fold.Session) {
		require.Equal(t, events.Usage{Prompt: math.MaxInt64, Total: math.MaxInt64}, s.Runs[0].Finished.Usage)
	})
}

// many are calls without ids and arguments: each needs two repairs.
func many(n int) turn {
	wanted := make([]agent.Call, n)
	for i := range wanted {
		wanted[i].Name = "Read"
	}
	return calls("", wanted...)
}

// flood says more than can be recorded, and goes on until it is stopped, or,
// where it is deaf, a little longer.
func flood(deaf bool) turn {
	return func(ctx context.Context, sink func(agent.Delta)) (agent.Turn, error) {
		piece := strings.Repeat("f", 1000)
		var said strings.Builder
		for range 5000 {
			if ctx.Err() != nil && !deaf {
				return agent.Turn{Text: said.String()}, context.Cause(ctx)
			}
			said.WriteString(piece)
			sink(agent.Delta{Text: piece})
		}
		return finished(agent.Turn{Text: said.String(), Finish: "stop"}), nil
	}
}

// A turn beyond what can be recorded ends its run, at once: nothing of it runs,
// and the model is not asked again.
func TestTurnsThatCannotBeRecorded(t *testing.T) {
	long := func(n int) string { return strings.Repeat("x", n) }
	for name, play := range map[string]turn{
		"300 calls":           many(300),
		"999 calls":           many(999),
		"a long message":      calls("", call("c", "Read", long(900<<10))),
		"text without end":    flood(false),
		"text that none stop": flood(true),
		"thinking": func(_ context.Context, sink func(agent.Delta)) (agent.Turn, error) {
			sink(agent.Delta{Reasoning: long(1 << 20)})
			return finished(agent.Turn{Text: "Hi."}), nil
		},
		"a failure with all there can be": func(context.Context, func(agent.Delta)) (agent.Turn, error) {
			t := finished(agent.Turn{Text: long(835 << 10)})
			return t, &agent.TurnError{Code: agent.CodeLimit, Message: long(1 << 20)}
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := plays(play)
			p := newWorld(t).boot(m, setup{})
			frames := rest(t, p.begin("s", "go"))
			got := told(frames)
			require.Equal(t, []string{"finish ERROR", "error limit"}, got[len(got)-2:])
			require.Less(t, len(strings.Join(got, "")), 1<<20, "no more is shown than could be recorded")
			require.Len(t, m.requests(), 1)
			p.state("s", func(s *fold.Session) { require.Empty(t, s.Calls) })
		})
	}
}

// As many calls as a turn may have fit, with all their repairs.
func TestAsManyCallsAsATurnMayHave(t *testing.T) {
	m := plays(many(256))
	p := newWorld(t).boot(m, setup{change: func(o *agent.Options) { o.MaxToolCalls = 1000 }})
	got := told(rest(t, p.begin(strings.Repeat("s", events.MaxNameBytes), "go")))
	require.Equal(t, []string{"token That is all.", "finish STOP"}, got[len(got)-2:])
	require.Len(t, m.requests()[1].Messages[2].Results, 256)
}

// What the log says it can never take is not tried for ever: the turn, the
// round that says why, and the end of the run each give way to something less.
func TestWhatTheLogCanNeverTake(t *testing.T) {
	never := func(refuse func(events.Event) bool) func([]events.Draft) error {
		return func(drafts []events.Draft) error {
			for _, d := range drafts {
				if d.Data != nil && refuse(d.Data) {
					return fmt.Errorf("test: %w", events.ErrUnrecordable)
				}
			}
			return nil
		}
	}
	for name, refuse := range map[string]func(events.Event) bool{
		"a turn":     func(e events.Event) bool { return e.Type() == events.TypeToolCall },
		"all rounds": func(e events.Event) bool { return e.Type() == events.TypeRoundFinished },
		"an end that counts": func(e events.Event) bool {
			end, ok := e.(*events.RunFinished)
			return e.Type() == events.TypeToolCall || ok && end.Rounds > 0
		},
	} {
		t.Run(name, func(t *testing.T) {
			m := plays(calls("", call("c", "Read", "a")))
			p := newWorld(t).boot(m, setup{})
			p.log.inject(never(refuse), nil)
			require.Equal(t, []string{"finish ERROR", "error limit"}, told(rest(t, p.begin("s", "go"))))
			require.Len(t, m.requests(), 1)
		})
	}
}
