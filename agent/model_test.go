package agent_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// model plays turns. Which is next follows from the number of the assistant
// messages in the request, so it goes on after a restart.
type model struct {
	turns []turn

	mu    sync.Mutex
	asked []agent.Request // mu
}

// turn is one answer of a model.
type turn func(ctx context.Context, sink func(agent.Delta)) (agent.Turn, error)

func plays(turns ...turn) *model { return &model{turns: turns} }

func (m *model) Name() string    { return "fake" }
func (m *model) Dialect() string { return "fake" }

func (m *model) Stream(ctx context.Context, req agent.Request, sink func(agent.Delta)) (agent.Turn, error) {
	m.mu.Lock()
	m.asked = append(m.asked, req)
	m.mu.Unlock()
	n := 0
	for _, msg := range req.Messages {
		if msg.Assistant != nil {
			n++
		}
	}
	if n >= len(m.turns) {
		return say("That is all.")(ctx, sink)
	}
	return m.turns[n](ctx, sink)
}

// requests returns what the model was asked so far.
func (m *model) requests() []agent.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.asked)
}

// message is the form of the fake's messages.
type message struct {
	Text      string       `json:"text"`
	Reasoning string       `json:"reasoning"`
	Calls     []agent.Call `json:"calls"`
}

func (m *model) Repair(raw json.RawMessage, repairs []events.Repair) (json.RawMessage, error) {
	var msg message
	if err := json.Unmarshal(raw, &msg); err != nil {
		return nil, err
	}
	for _, r := range repairs {
		if r.What == events.RepairID {
			msg.Calls[r.Index].ID = r.Now
		} else {
			msg.Calls[r.Index].Arguments = r.Now
		}
	}
	return json.Marshal(msg)
}

func (m *model) Text(raw json.RawMessage) (text, reasoning string) {
	var msg message
	_ = json.Unmarshal(raw, &msg) // what it says where it can be read
	return msg.Text, msg.Reasoning
}

func finished(t agent.Turn) agent.Turn {
	b, err := json.Marshal(message{t.Text, t.Reasoning, t.Calls})
	if err != nil {
		panic(err) // strings encode
	}
	t.Message, t.Usage = b, agent.Usage{PromptTokens: 2, CompletionTokens: 1, TotalTokens: 3}
	return t
}

// say answers with a text, streamed word by word.
func say(text string) turn { return calls(text) }

// calls says a text and asks for calls.
func calls(text string, wanted ...agent.Call) turn {
	return func(_ context.Context, sink func(agent.Delta)) (agent.Turn, error) {
		for _, word := range strings.SplitAfter(text, " ") {
			if word != "" {
				sink(agent.Delta{Text: word})
			}
		}
		return finished(agent.Turn{Text: text, Calls: wanted, Finish: "stop"}), nil
	}
}

// call is a call with the arguments {"path": path}.
func call(id, tool, path string) agent.Call {
	return agent.Call{ID: id, Name: tool, Arguments: fmt.Sprintf(`{"path":%q}`, path)}
}

// breaks says a text and then fails.
func breaks(text string, failure agent.TurnError) turn {
	return func(_ context.Context, sink func(agent.Delta)) (agent.Turn, error) {
		sink(agent.Delta{Text: text})
		return agent.Turn{Text: text}, &failure
	}
}

// hangs says a text and then nothing until its context ends.
func hangs(text string) turn {
	return func(ctx context.Context, sink func(agent.Delta)) (agent.Turn, error) {
		sink(agent.Delta{Text: text})
		<-ctx.Done()
		return agent.Turn{Text: text}, context.Cause(ctx)
	}
}

// inTurn plays one after the other at each attempt.
func inTurn(attempts ...turn) turn {
	var mu sync.Mutex
	n := 0
	return func(ctx context.Context, sink func(agent.Delta)) (agent.Turn, error) {
		mu.Lock()
		play := attempts[min(n, len(attempts)-1)]
		n++
		mu.Unlock()
		return play(ctx, sink)
	}
}

// tool is a tool of the tests.
type tool struct {
	name             string
	readOnly, direct bool
	run              func(ctx context.Context, arguments []byte) (agent.Output, error)
}

const schema = `{"type":"object","properties":{"path":{"type":"string"}},"additionalProperties":false}`

func (t tool) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name: t.name, Description: "For tests.", Source: "builtin-tools", Schema: []byte(schema), ReadOnly: t.readOnly, ReturnDirect: t.direct,
		Isolation: "none",
	}
}

func (t tool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	return t.run(ctx, arguments)
}

// tools are: Read, which is free; Write and Slow, which ask, and of which Slow
// runs until it is told to stop; Format, which is denied; Answer, whose result
// is the answer; Fail.
func tools() []agent.Tool {
	echo := func(_ context.Context, arguments []byte) (agent.Output, error) {
		return agent.Output{Content: append([]byte("ran with "), arguments...)}, nil
	}
	slow := func(ctx context.Context, _ []byte) (agent.Output, error) {
		<-ctx.Done()
		return agent.Output{}, fmt.Errorf("stopped: %w", context.Cause(ctx))
	}
	return []agent.Tool{
		tool{name: "Read", readOnly: true, run: echo},
		tool{name: "Write", run: echo},
		tool{name: "Slow", run: slow},
		tool{name: "Format", run: echo},
		tool{name: "Answer", direct: true, run: echo},
		tool{name: "Fail", run: func(context.Context, []byte) (agent.Output, error) { return agent.Output{}, fmt.Errorf("no such file") }},
		tool{name: "Long", readOnly: true, run: func(context.Context, []byte) (agent.Output, error) {
			return agent.Output{Content: []byte(strings.Repeat("ä", 100))}, nil
		}},
	}
}

func known() []gate.Tool {
	var out []gate.Tool
	for _, t := range tools() {
		out = append(out, agent.GateTool(t, []byte(t.Spec().Name)))
	}
	return out
}

// told is frames in short: types, with what tells them apart. Pieces of text
// that follow each other are one.
func told(frames []agent.Frame) []string {
	var out []string
	text := ""
	for i, f := range frames {
		if f.Event.Type == agent.EventToken {
			text += f.Event.Data
			if i+1 < len(frames) && frames[i+1].Event.Type == agent.EventToken {
				continue
			}
			out = append(out, "token "+text)
			text = ""
			continue
		}
		out = append(out, short(f.Event))
	}
	return out
}

func short(e agent.Event) string {
	switch e.Type {
	case agent.EventFinish:
		return "finish " + e.Reason
	case agent.EventToolCall:
		ids := make([]string, 0, len(e.ToolCalls))
		for _, c := range e.ToolCalls {
			ids = append(ids, c.ID)
		}
		return "tool_call " + strings.Join(ids, ",")
	case agent.EventApproval:
		return "approval_request " + e.ToolCallID
	case agent.EventToolResult:
		return "tool_result " + e.ToolResults[0].ID + " " + e.ToolResults[0].Status
	case agent.EventError:
		return "error " + e.Code
	default:
		return e.Type
	}
}
