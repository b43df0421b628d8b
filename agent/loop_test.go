package agent_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// outcome is what becomes of one call of a mixed turn.
type outcome struct {
	call   agent.Call
	asks   bool
	decide func(*process, string) // nil: nobody answers
	status string
	text   string // what the model is told holds this
}

func mix() []outcome {
	modify := func(p *process, request string) {
		a := p.decide(request, events.VerdictModify, func(r *gate.Ruling) { r.Arguments = []byte(`{"path":"safe"}`) })
		require.True(p.t, a.Accepted, a.Reason)
	}
	decline := func(p *process, request string) {
		a := p.decide(request, events.VerdictDecline, func(r *gate.Ruling) { r.Comment = "use \"staging\" <b>only</b>\nline2" })
		require.True(p.t, a.Accepted, a.Reason)
	}
	return []outcome{
		{call("c0", "Write", "a"), true, (*process).approve, "ok", `ran with {"path":"a"}`},
		{call("c1", "Read", "b"), false, nil, "ok", `ran with {"path":"b"}`},
		{call("c2", "Write", "c"), true, modify, "ok", "A reviewer changed the arguments"},
		{call("c3", "Format", "d"), false, nil, "declined", "Declined by policy"},
		{call("c4", "Write", "e"), true, decline, "declined", "use \"staging\" <b>only</b>\nline2"},
		{call("c5", "Nope", "f"), false, nil, "error", "unknown"},
		{call("c6", "Fail", "g"), false, nil, "error", "no such file"},
		{call("c7", "Write", "h"), true, nil, "expired", "Nobody answered"},
		{agent.Call{ID: "c8", Name: "Write", Arguments: `{"path":`}, false, nil, "error", "The tool was not run"},
	}
}

// Invariant 2: n calls in a turn give n results, in the model's order, directly
// after the message that asked, whatever became of them.
func TestATurnGetsOneResultACallInOrder(t *testing.T) {
	turns := mix()
	var wanted []agent.Call
	for _, o := range turns {
		wanted = append(wanted, o.call)
	}
	m := plays(calls("Working.", wanted...), say("Done."))
	p := newWorld(t).boot(m, setup{timeout: 700 * time.Millisecond})
	r := p.begin("s", "go")
	var frames []agent.Frame
	for range 4 {
		frames = append(frames, until(t, r, of(agent.EventApproval))...)
	}
	for _, f := range frames {
		if f.Event.Type == agent.EventApproval {
			requireRequest(t, f.Event)
			decideAs(p, turns, f.Event)
		}
	}
	frames = append(frames, rest(t, r)...)

	requireFrames(t, turns, frames)
	requests := m.requests()
	require.Len(t, requests, 2)
	messages := requests[1].Messages
	require.Len(t, messages, 3)
	require.NotNil(t, messages[1].Assistant)
	require.Len(t, messages[2].Results, len(turns))
	for i, o := range turns {
		got := messages[2].Results[i]
		require.Equal(t, o.call.ID, got.CallID)
		require.Contains(t, got.Text, o.text)
		require.Equal(t, o.status != "ok", got.Failed)
	}
}

func decideAs(p *process, turns []outcome, e agent.Event) {
	for _, o := range turns {
		if o.call.ID == e.ToolCallID && o.decide != nil {
			o.decide(p, e.RequestID)
		}
	}
}

// requireRequest checks the members of an approval request.
func requireRequest(t *testing.T, e agent.Event) {
	t.Helper()
	sum := sha256.Sum256([]byte(e.Arguments))
	require.Equal(t, "sha256:"+hex.EncodeToString(sum[:]), e.ArgumentsDigest)
	require.NotEmpty(t, e.RequestID)
	require.Equal(t, "Write", e.ToolName)
	require.Equal(t, "required-tools", e.Rule)
	require.Regexp(t, `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$`, e.ExpiresAt)
}

// requireFrames checks the order within the round, and each result once.
func requireFrames(t *testing.T, turns []outcome, frames []agent.Frame) {
	t.Helper()
	short := told(frames)
	require.Equal(t, []string{
		"token Working.", "tool_call c0,c1,c2,c3,c4,c5,c6,c7,c8", "finish TOOL_CALLS",
		"approval_request c0", "approval_request c2", "approval_request c4", "approval_request c7",
	}, short[:7])
	require.Equal(t, []string{"token Done.", "finish STOP"}, short[len(short)-2:])
	var want []string
	for _, o := range turns {
		want = append(want, "tool_result "+o.call.ID+" "+o.status)
	}
	require.ElementsMatch(t, want, short[7:len(short)-2])
}

func TestRepairsAreRecordedAndReplayed(t *testing.T) {
	m := plays(calls("", agent.Call{ID: "x", Name: "Read"}, agent.Call{ID: "x", Name: "Read", Arguments: " null "}, agent.Call{Name: "Read", Arguments: "{}"}))
	p := newWorld(t).boot(m, setup{})
	frames := rest(t, p.begin("s", "go"))
	shown := frames[0].Event.ToolCalls
	require.Equal(t, "x", shown[0].ID)
	require.Len(t, shown, 3)
	for i, c := range shown {
		require.Equal(t, "{}", c.Arguments)
		require.Equal(t, "builtin-tools", c.Source)
		require.NotContains(t, ids(shown[:i]), c.ID)
	}
	replayed := m.requests()[1].Messages
	require.JSONEq(t, strings.NewReplacer("B", shown[1].ID, "C", shown[2].ID).Replace(
		`{"text":"","reasoning":"","calls":[{"ID":"x","Name":"Read","Arguments":"{}"},{"ID":"B","Name":"Read","Arguments":"{}"},{"ID":"C","Name":"Read","Arguments":"{}"}]}`),
		string(replayed[1].Assistant))
	for i, r := range replayed[2].Results {
		require.Equal(t, shown[i].ID, r.CallID)
	}
}

func ids(calls []agent.EventCall) []string {
	out := []string{}
	for _, c := range calls {
		out = append(out, c.ID)
	}
	return out
}

func TestHowRunsEnd(t *testing.T) {
	read := calls("", call("c", "Read", "a"))
	tests := map[string]struct {
		turns  []turn
		change func(*agent.Options)
		want   []string // the last frames
	}{
		"an answer":     {[]turn{say("Hi.")}, nil, []string{"token Hi.", "finish STOP"}},
		"rounds":        {[]turn{read, read, read}, func(o *agent.Options) { o.MaxRounds = 2 }, []string{"tool_result c ok", "finish LIMIT"}},
		"tool calls":    {[]turn{read, read}, func(o *agent.Options) { o.MaxToolCalls = 1 }, []string{"tool_result c error", "finish LIMIT"}},
		"return direct": {[]turn{calls("", call("c", "Answer", "a"))}, nil, []string{"tool_result c ok", `token ran with {"path":"a"}`, "finish returnDirect"}},
		"cut by length": {[]turn{breaks("Hal", agent.TurnError{Code: agent.CodeTruncated})}, nil, []string{"token Hal", "finish LENGTH"}},
		"provider":      {[]turn{breaks("Hal", agent.TurnError{Code: agent.CodeProviderError, Message: "no"})}, nil, []string{"token Hal", "finish ERROR", "error provider_error"}},
		"our own error": {
			[]turn{func(context.Context, func(agent.Delta)) (agent.Turn, error) {
				return agent.Turn{}, errors.New("cannot encode")
			}},
			nil,
			[]string{"finish ERROR", "error invalid_stream"},
		},
		"message too long": {
			[]turn{calls(strings.Repeat("x", 900<<10), call("c", "Write", "a"))},
			nil,
			[]string{"finish ERROR", "error limit"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := newWorld(t).boot(plays(test.turns...), setup{change: test.change})
			got := told(rest(t, p.begin("s", "go")))
			require.GreaterOrEqual(t, len(got), len(test.want))
			require.Equal(t, test.want, got[len(got)-len(test.want):])
		})
	}
}

func TestALongResultIsCutVisibly(t *testing.T) {
	m := plays(calls("", call("c", "Long", "a")))
	p := newWorld(t).boot(m, setup{change: func(o *agent.Options) { o.MaxResultBytes = 51 }})
	rest(t, p.begin("s", "go"))
	text := m.requests()[1].Messages[2].Results[0].Text
	require.Equal(t, strings.Repeat("ä", 25)+"\n[cut: the first 50 of 200 bytes]", text)
}

func TestConversationsGoOnSideBySide(t *testing.T) {
	m := plays(calls("One.", call("c", "Write", "a")), say("Two."))
	p := newWorld(t).boot(m, setup{})
	one, two := p.begin("one", "go"), p.begin("two", "go")
	first := until(t, one, of(agent.EventApproval))
	second := until(t, two, of(agent.EventApproval))
	p.approve(second[len(second)-1].Event.RequestID)
	require.Equal(t, []string{"tool_result c ok", "token Two.", "finish STOP"}, told(rest(t, two)))
	p.approve(first[len(first)-1].Event.RequestID)
	require.Equal(t, []string{"tool_result c ok", "token Two.", "finish STOP"}, told(rest(t, one)))
	// the next run of a conversation knows what was said in the one before
	require.Equal(t, []string{"token That is all.", "finish STOP"}, told(rest(t, p.begin("one", "and now?"))))
	last := m.requests()[len(m.requests())-1].Messages
	require.Len(t, last, 5)
	require.Equal(t, "and now?", *last[4].User)
}

// Case 049: nothing of a run remains after its end but its feed.
func TestRunsLeaveNoGoroutines(t *testing.T) {
	p := newWorld(t).boot(plays(calls("One.", call("c", "Read", "a"), call("d", "Fail", "b")), say("Two.")), setup{})
	rest(t, p.begin("first", "go"))
	before := runtime.NumGoroutine()
	for i := range 30 {
		rest(t, p.begin("s"+string(rune('A'+i)), "go"))
	}
	require.Eventually(t, func() bool { return runtime.NumGoroutine() < before+10 }, patience, time.Millisecond)
}

// A result is told before the text that answers it, however close they come.
func TestResultsAreToldBeforeWhatAnswersThem(t *testing.T) {
	p := newWorld(t).boot(plays(calls("", call("c", "Read", "a")), say("Two.")), setup{})
	for i := range 100 {
		require.Equal(t, []string{"tool_call c", "finish TOOL_CALLS", "tool_result c ok", "token Two.", "finish STOP"},
			told(rest(t, p.begin("s"+strconv.Itoa(i), "go"))))
	}
}
