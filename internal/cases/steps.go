package cases

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/agent"
)

// steps is the table from a step's op to what it does. A step takes the
// members that it understands; one that is left makes the case not understood.
func (p *play) steps() map[string]func(context.Context, *run, *wants) error {
	return map[string]func(context.Context, *run, *wants) error{
		"chat_stream":         p.stepChat,
		"await_event":         p.stepAwait,
		"approval":            p.stepApproval,
		"approve_all":         p.stepApproveAll,
		"sleep":               p.stepSleep,
		"disconnect":          p.stepDisconnect,
		"cancel":              p.stepCancel,
		"kill_server":         p.stepKill,
		"start_server":        func(ctx context.Context, _ *run, _ *wants) error { return p.start(ctx) },
		"restart_server":      p.stepRestart,
		"parallel":            p.stepParallel,
		"race":                p.stepParallel,
		"assert_not_executed": p.stepNotExecuted,
		"list_pending":        p.stepPending,
		"goroutine_count":     p.stepGoroutines,
		"mutate_pending_call": p.stepMutate,
	}
}

// runSteps plays the steps, as often as one of them says.
func (p *play) runSteps(ctx context.Context) error {
	repeat := 1
	for _, raw := range p.s.steps {
		var step struct {
			Repeat int `json:"repeat_runs"`
		}
		if raw.Kind() == '{' && json.Unmarshal(raw, &step) == nil {
			repeat = max(repeat, step.Repeat)
		}
	}
	for range repeat {
		ctx := p.begin(ctx)
		r := p.runs[len(p.runs)-1]
		for _, raw := range p.s.steps {
			if err := p.step(ctx, r, raw); err != nil {
				return err
			}
		}
		if err := p.settle(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

func (p *play) step(ctx context.Context, r *run, raw jsontext.Value) error {
	if raw.Kind() != '{' {
		return notUnderstood("step %s is a sentence for people", raw)
	}
	trial := &report{}
	w := parseWants(trial, "step ", raw)
	var op string
	w.take("op", &op)
	do := p.steps()[op]
	if do == nil {
		return notUnderstood("step %q", op)
	}
	w.raw("note")
	w.raw("repeat_runs")
	if err := do(ctx, r, w); err != nil {
		return fmt.Errorf("step %s: %w", op, err)
	}
	if name := w.unknown(); name != "" {
		return notUnderstood("%q of step %s", name, op)
	}
	if len(trial.failures) > 0 {
		return notUnderstood("step %s: %s", op, trial.failures[0])
	}
	return nil
}

var variable = regexp.MustCompile(`\$[A-Za-z_][A-Za-z0-9_]*`)

// fill puts the saved values in the place of their names.
func (r *run) fill(text []byte) []byte {
	return variable.ReplaceAllFunc(text, func(name []byte) []byte {
		if v, ok := r.vars[string(name[1:])]; ok {
			return []byte(v)
		}
		return name
	})
}

func (p *play) stepChat(ctx context.Context, r *run, w *wants) error {
	body := map[string]any{"query": "go"}
	var given map[string]any
	if w.take("body", &given) {
		body = given
	}
	name, same := "s", false
	w.take("as", &name)
	if w.take("same_conversation", &same) && same && r.last != nil {
		body["conversationId"] = r.last.conversation
	}
	b, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return p.ask(ctx, r, name, r.fill(b))
}

// on takes the stream that a step names; without a name it is the last.
func (r *run) on(w *wants) (*stream, error) {
	var name string
	if !w.take("stream", &name) {
		name = ""
	}
	s := r.last
	if name != "" {
		s = r.streams[name]
	}
	if s == nil {
		return nil, notUnderstood("there is no stream %q", name)
	}
	return s, nil
}

func (p *play) stepAwait(ctx context.Context, r *run, w *wants) error {
	s, err := r.on(w)
	if err != nil {
		return err
	}
	var kind string
	match, save := map[string]jsontext.Value{}, map[string]string{}
	w.take("type", &kind)
	if !slices.Contains(eventTypes(), kind) {
		return notUnderstood("an event %q is not in this version's stream", kind)
	}
	if ms := 0; w.take("timeout_ms", &ms) {
		timed, cancel := context.WithTimeout(ctx, time.Duration(ms)*time.Millisecond)
		defer cancel()
		ctx = timed
	}
	w.take("match", &match)
	w.take("save", &save)
	e, err := s.await(ctx, func(e agent.Event) bool {
		if kind == agent.EventFinish && len(match) == 0 {
			return last(e)
		}
		return e.Type == kind && matches(e, match)
	})
	if err != nil {
		return fmt.Errorf("await %s: %w", kind, err)
	}
	members := membersOf(e)
	for variable, member := range save {
		var value string
		if json.Unmarshal(members[member], &value) != nil {
			return fmt.Errorf("the event %s has no text %q", kind, member)
		}
		r.vars[variable] = value
	}
	return nil
}

// eventTypes are what streams carry.
func eventTypes() []string {
	return []string{
		agent.EventReasoning, agent.EventToken, agent.EventToolCall, agent.EventFinish, agent.EventApproval, agent.EventHeartbeat,
		agent.EventToolResult, agent.EventError, agent.EventReset,
	}
}

func membersOf(e agent.Event) map[string]jsontext.Value {
	var members map[string]jsontext.Value
	if b, err := json.Marshal(e); err == nil {
		_ = json.Unmarshal(b, &members) // it was encoded just now
	}
	return members
}

func matches(e agent.Event, match map[string]jsontext.Value) bool {
	members := membersOf(e)
	for name, want := range match {
		if len(members[name]) == 0 || !sameJSON(members[name], want) {
			return false
		}
	}
	return true
}

// stepApproval posts all members of the step that are not the runner's.
func (p *play) stepApproval(ctx context.Context, r *run, w *wants) error {
	var user string
	var after int
	w.take("as_user", &user)
	w.take("after_ms", &after)
	expect := w.object("expect")
	body := map[string]jsontext.Value{}
	for _, name := range w.names {
		if !w.taken[name] {
			body[name] = w.raw(name)
		}
	}
	b, err := json.Marshal(body, json.Deterministic(true))
	if err != nil {
		return err
	}
	if !waited(ctx.Done(), time.Duration(after)*time.Millisecond) {
		return context.Cause(ctx)
	}
	got, err := p.decide(ctx, r, user, r.fill(b))
	if err != nil || expect == nil {
		return err
	}
	return p.judgeReply(expect, got)
}

// judgeReply judges the answer to one decision.
func (p *play) judgeReply(w *wants, got reply) error {
	var accepted bool
	var status int
	if w.take("accepted", &accepted) {
		same(p.f.report, "accepted", got.Accepted, accepted)
	}
	if w.take("status", &status) {
		same(p.f.report, "status", got.status, status)
	}
	if name := w.unknown(); name != "" {
		return notUnderstood("%q expected of an approval", name)
	}
	return nil
}

// stepApproveAll approves from now on whatever asks.
func (p *play) stepApproveAll(ctx context.Context, r *run, _ *wants) error {
	s := r.last
	if s == nil {
		return notUnderstood("nothing was asked yet")
	}
	p.streaming.Go(func() {
		for {
			id, err := awaitRequest(ctx, s)
			if err != nil {
				return
			}
			body, err := json.Marshal(map[string]string{"requestId": id, "decision": "approve"})
			if err != nil {
				return
			}
			if _, err := p.decide(ctx, r, "", body); err != nil {
				return // the node was killed: the log tells what it took
			}
		}
	})
	return nil
}

func (p *play) stepSleep(ctx context.Context, _ *run, w *wants) error {
	var ms int
	w.take("ms", &ms)
	if !waited(ctx.Done(), time.Duration(ms)*time.Millisecond) {
		return context.Cause(ctx)
	}
	return nil
}

func (p *play) stepDisconnect(_ context.Context, r *run, w *wants) error {
	s, err := r.on(w)
	if err == nil {
		s.cut()
		<-s.ended
	}
	return err
}

func (p *play) stepCancel(ctx context.Context, r *run, w *wants) error {
	s, err := r.on(w)
	if err != nil {
		return err
	}
	res, err := p.node.do(ctx, http.MethodDelete, "/chat/stream/"+url.PathEscape(s.conversation), agentToken, nil)
	if err == nil && res.status >= 300 {
		err = fmt.Errorf("DELETE was answered with %d: %s", res.status, res.body)
	}
	return err
}

func (p *play) stepKill(_ context.Context, _ *run, w *wants) error {
	name := "KILL"
	w.take("signal", &name)
	signals := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM, "INT": syscall.SIGINT}
	s, ok := signals[strings.TrimPrefix(name, "SIG")]
	if !ok {
		return notUnderstood("signal %q", name)
	}
	return p.stop(s)
}

func (p *play) stepRestart(ctx context.Context, _ *run, w *wants) error {
	w.raw("signal")
	return errors.Join(p.stop(syscall.SIGTERM), p.start(ctx))
}

func (p *play) stepParallel(ctx context.Context, r *run, w *wants) error {
	var steps []jsontext.Value
	if !w.take("do", &steps) && !w.take("steps", &steps) {
		w.take("between", &steps)
	}
	if len(steps) == 0 {
		return notUnderstood("it has no steps within")
	}
	var group errgroup.Group
	for _, raw := range steps {
		group.Go(func() error { return p.step(ctx, r, raw) })
	}
	return group.Wait()
}
