package cases

import (
	"context"
	"errors"
	"os"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// played is all that came of one stream.
type played struct {
	frames   []agent.Event // what the client saw, to the end
	requests []jsontext.Value
	story    *story
}

// playStream asks one question of a house whose provider answers with the
// stream. Every call asks, and is approved as soon as it does.
func playStream(ctx context.Context, o Options, stubs []stubSpec, a answer) (*played, error) {
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	p := newProvider(a)
	defer p.Close()
	h, err := openHouse(ctx, houseSpec{Dir: dir, Memory: true, Policy: askAll(stubs), Stubs: stubs, Provider: p.url()}, o.Logger)
	if err != nil {
		return nil, err
	}
	out := &played{}
	runCtx, stop := context.WithCancel(ctx)
	defer stop()
	err = h.run(runCtx, func(ctx context.Context) error {
		defer stop()
		return out.play(ctx, h)
	})
	out.requests = p.asked()
	return out, errors.Join(err, h.cs.Close())
}

// askAll protects all tools.
func askAll(stubs []stubSpec) policy.Config {
	c := policy.Config{RequiredSet: true}
	for _, s := range stubs {
		c.RequiredTools = append(c.RequiredTools, s.Name)
	}
	return c
}

// play asks, approves, and reads to the end of the run.
func (p *played) play(ctx context.Context, h *house) error {
	_, reader, err := h.loop.Start(ctx, agent.Query{Text: "go", Principal: "case"})
	if err != nil {
		return err
	}
	for {
		f, err := reader.Next(ctx)
		if errors.Is(err, agent.ErrFeedEnded) {
			break
		}
		if err != nil {
			return err
		}
		p.frames = append(p.frames, f.Event)
		if f.Event.Type != agent.EventApproval {
			continue
		}
		ruling := gate.Ruling{RequestID: f.Event.RequestID, Verdict: events.VerdictApprove, Actor: reviewer(), ActorName: "reviewer", Via: "chat-api"}
		if _, err := h.cs.Gate.Decide(ctx, ruling); err != nil {
			return err
		}
	}
	p.story, err = tellStory(ctx, h.cs.Log, h.spec.notes())
	return err
}

// first joins the pieces of one kind of the first round.
func (p *played) first(kind string) string {
	var b strings.Builder
	for _, e := range p.frames {
		if e.Type == agent.EventFinish {
			break
		}
		if e.Type == kind {
			b.WriteString(e.Data)
		}
	}
	return b.String()
}

// shown returns the calls that the client was told of.
func (p *played) shown() []agent.EventCall {
	for _, e := range p.frames {
		if e.Type == agent.EventToolCall {
			return e.ToolCalls
		}
	}
	return nil
}

// round returns the first round that the log holds, or nil.
func (p *played) round() *fold.Round {
	for _, s := range p.story.sessions {
		for _, run := range s.Runs {
			if len(run.Rounds) > 0 {
				return run.Rounds[0]
			}
		}
	}
	return nil
}

// failure is the class of what went wrong, or "": the turn's code, or that of
// a call that was refused for its arguments.
func (p *played) failure() string {
	if r := p.round(); r == nil || r.Outcome == events.RoundFailed {
		if r == nil {
			return "no round"
		}
		return r.Code
	}
	for _, c := range p.story.calls() {
		switch {
		case c.Result == nil || c.Result.Status != events.StatusError || c.Start != nil:
		case c.Rule == "arguments":
			return "invalid_arguments"
		default:
			return c.Rule
		}
	}
	return ""
}

// touched reports whether a call was run or offered for approval.
func (p *played) touched(id string) bool {
	for _, e := range p.frames {
		if e.Type == agent.EventApproval && e.ToolCallID == id {
			return true
		}
	}
	return p.story.count(id) > 0
}

// holdsRaw reports whether the log holds a call's arguments to the byte: with
// the call, or in the message of a turn that failed.
func (p *played) holdsRaw(raw string) bool {
	for _, c := range p.story.calls() {
		if p.story.asked(c) == raw {
			return true
		}
	}
	r := p.round()
	if r == nil || r.Message == nil {
		return false
	}
	var message struct {
		ToolCalls []chatCall `json:"tool_calls"`
	}
	if json.Unmarshal([]byte(p.story.text(r.Message)), &message) != nil {
		return false
	}
	for _, c := range message.ToolCalls {
		if c.Function.Arguments == raw {
			return true
		}
	}
	return false
}
