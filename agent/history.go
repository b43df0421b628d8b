package agent

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// script is what the messages of a conversation are made from, copied from the
// fold so that payloads can be read without its lock.
type script struct {
	runs []runScript
}

type runScript struct {
	event  string
	query  *events.Ref
	rounds []roundScript
}

type roundScript struct {
	event string
	round events.RoundFinished
	calls []*fold.Call
}

// scriptOf copies what a session has said. Rounds that failed are no part of
// the conversation.
func scriptOf(s *fold.Session) script {
	var sc script
	for _, run := range s.Runs {
		r := runScript{event: run.EventID, query: run.Query}
		for _, round := range run.Rounds {
			if round.Outcome == events.RoundFailed {
				continue
			}
			r.rounds = append(r.rounds, roundScript{event: round.EventID, round: round.RoundFinished, calls: copies(s.Turn(round))})
		}
		sc.runs = append(sc.runs, r)
	}
	return sc
}

// copies copies the calls of a turn: results are set once and never change.
func copies(calls []*fold.Call) []*fold.Call {
	out := make([]*fold.Call, len(calls))
	for i, c := range calls {
		if c != nil {
			one := *c
			if c.Request != nil {
				q := *c.Request
				one.Request = &q
			}
			out[i] = &one
		}
	}
	return out
}

// messages rebuilds the conversation from the record: the provider's messages
// to the byte, but for recorded repairs, and directly after each one result a
// call, in the order of the calls.
func (l *Loop) messages(ctx context.Context, m Model, sc script) ([]Message, error) {
	var out []Message
	for _, run := range sc.runs {
		query, err := l.opt.Log.Payload(ctx, run.event, run.query)
		if err != nil {
			return nil, fmt.Errorf("read what was asked: %w", err)
		}
		text := string(query)
		out = append(out, Message{User: &text})
		for _, r := range run.rounds {
			more, err := l.roundMessages(ctx, m, r)
			if err != nil {
				return nil, err
			}
			out = append(out, more...)
		}
	}
	return out, nil
}

func (l *Loop) roundMessages(ctx context.Context, m Model, r roundScript) ([]Message, error) {
	if r.round.Message == nil {
		return nil, nil
	}
	if r.round.Dialect != m.Dialect() {
		return nil, fmt.Errorf("the conversation speaks %s, model %q speaks %s; go on with a model of the same dialect",
			r.round.Dialect, m.Name(), m.Dialect())
	}
	raw, err := l.opt.Log.Payload(ctx, r.event, r.round.Message)
	if err != nil {
		return nil, fmt.Errorf("read the model's message: %w", err)
	}
	message, err := m.Repair(raw, r.round.Repairs)
	if err != nil {
		return nil, fmt.Errorf("replay the model's message: %w", err)
	}
	out := []Message{{Assistant: message}}
	if len(r.calls) == 0 {
		return out, nil
	}
	results := make([]Result, len(r.calls))
	for i, c := range r.calls {
		results[i] = l.modelResult(ctx, c)
	}
	return append(out, Message{Results: results}), nil
}

// modelResult is what the model is told of a call.
func (l *Loop) modelResult(ctx context.Context, c *fold.Call) Result {
	if c == nil || c.Result == nil {
		return Result{Text: "The run ended before this call; the tool was not run.", Failed: true}
	}
	return Result{CallID: c.CallID, Name: c.Tool, Text: l.resultText(ctx, c), Failed: c.Result.Status != events.StatusOK}
}
