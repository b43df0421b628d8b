package models

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
)

// Script is a set of conversations to be played by a [Scripted] model. It is
// written in YAML:
//
//	delay: 30ms               # before each piece; default none
//	chunk: 8                  # characters in a piece; default: all at once
//	closing: That was all.    # the answer when a conversation is over
//	conversations:
//	  - match: release notes  # begun by a user message that contains this
//	    turns:
//	      - reasoning: I should look first.
//	        text: Let me read it.
//	        calls:
//	          - name: Read
//	            arguments: '{"path":"NOTES.md"}'
//	          - {id: call-7, name: Bash, arguments: '{"command":"date"}'}
//	      - text: Done.
//	  - turns:                # without match: any other first message
//	      - text: Hello.
//	      - error: {code: provider_error, message: overloaded}
//
// The first conversation whose match fits is taken. One without match comes
// last. A turn is played as reasoning, text, calls, then its error if it has
// one. It may have its own delay and chunk, and a finish: the provider's word,
// "tool_calls" or "stop" by default. Words such as "length" fail the turn as
// they do for a real provider.
//
// A call's arguments are a string, exactly what the model is to write; left
// out they are absent. A call without an id gets one that depends on its place
// alone.
//
// The file is read strictly: a key that is unknown or given twice, and a value
// of the wrong type, is an error with file and line.
type Script struct {
	pace          pace
	closing       string
	conversations []conversation
}

type pace struct {
	delay time.Duration
	chunk int // characters; 0 is all
}

type conversation struct {
	match string
	turns []scriptTurn
}

type scriptTurn struct {
	pace      pace
	reasoning string
	text      string
	calls     []agent.Call
	finish    string
	err       *agent.TurnError
}

// Scripted is a model that plays a script. It holds no state: what comes next
// follows from the request alone, so a run that goes on after a restart finds
// its place. It may be used from many goroutines.
//
// The last user message that contains a conversation's match began that
// conversation; if there is none, the conversation without match began with
// the first message. The number of assistant messages since then is the number
// of turns played.
type Scripted struct {
	chat

	name   string
	script *Script
}

var _ agent.Model = (*Scripted)(nil)

// NewScripted returns a model of that name.
func NewScripted(name string, script *Script) *Scripted {
	return &Scripted{name: name, script: script}
}

// Name implements [agent.Model].
func (m *Scripted) Name() string { return m.name }

// Stream implements [agent.Model].
func (m *Scripted) Stream(ctx context.Context, req agent.Request, sink func(agent.Delta)) (agent.Turn, error) {
	if _, err := encodeRequest(m.name, req); err != nil {
		return agent.Turn{}, fmt.Errorf("model %q: %w", m.name, err) // what a provider would refuse
	}
	return m.script.next(req.Messages).play(ctx, sink)
}

// next returns the turn that follows these messages.
func (s *Script) next(messages []agent.Message) scriptTurn {
	turns, begin := s.begun(messages)
	played := 0
	for _, m := range messages[begin:] {
		if m.Assistant != nil {
			played++
		}
	}
	if played < len(turns) {
		return turns[played]
	}
	return scriptTurn{pace: s.pace, text: s.closing, finish: "stop"}
}

// begun returns the turns of the conversation that is going on, and the place
// of the message that began it.
func (s *Script) begun(messages []agent.Message) ([]scriptTurn, int) {
	for i, m := range slices.Backward(messages) {
		if m.User == nil {
			continue
		}
		for _, c := range s.conversations {
			if c.match != "" && strings.Contains(*m.User, c.match) {
				return c.turns, i
			}
		}
	}
	for _, c := range s.conversations {
		if c.match == "" {
			return c.turns, 0
		}
	}
	return nil, 0
}

// play streams the turn. A context that ends gives its cause and what was
// streamed by then.
func (t scriptTurn) play(ctx context.Context, sink func(agent.Delta)) (agent.Turn, error) {
	var said, thought strings.Builder
	emit := func(d agent.Delta) {
		thought.WriteString(d.Reasoning)
		said.WriteString(d.Text)
		sink(d)
	}
	err := t.pace.each(ctx, t.reasoning, func(piece string) { emit(agent.Delta{Reasoning: piece}) })
	if err == nil {
		err = t.pace.each(ctx, t.text, func(piece string) { emit(agent.Delta{Text: piece}) })
	}
	turn := agent.Turn{Text: said.String(), Reasoning: thought.String()}
	m := message{text: turn.Text, reasoning: turn.Reasoning, thinking: thinkingContent}
	if err == nil {
		turn.Calls, turn.Finish = slices.Clone(t.calls), t.finish
		for _, call := range t.calls {
			m.calls = append(m.calls, messageCall{Call: call})
		}
		err = t.outcome()
	}
	turn.Message = m.encode()
	return turn, err
}

// outcome judges the turn's end as that of any provider.
func (t scriptTurn) outcome() error {
	if t.err != nil {
		failure := *t.err
		return &failure
	}
	return judgeFinish(t.finish, len(t.calls), t.text != "")
}

// each cuts text into pieces and hands them out in the script's time.
func (p pace) each(ctx context.Context, text string, piece func(string)) error {
	for text != "" {
		if err := p.wait(ctx); err != nil {
			return err
		}
		end := p.cut(text)
		piece(text[:end])
		text = text[end:]
	}
	return nil
}

func (p pace) wait(ctx context.Context) error {
	if ctx.Err() != nil || p.delay == 0 {
		return context.Cause(ctx)
	}
	timer := time.NewTimer(p.delay)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-timer.C:
		return nil
	}
}

// cut returns the length in bytes of the next piece.
func (p pace) cut(text string) int {
	n := 0
	for i := range text {
		if p.chunk > 0 && n == p.chunk {
			return i
		}
		n++
	}
	return len(text)
}
