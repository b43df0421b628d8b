package cases

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/policy"
)

// errNotUnderstood is an input that the runner cannot play: the case is
// skipped, with the reason.
var errNotUnderstood = errors.New("not understood")

func notUnderstood(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errNotUnderstood, fmt.Sprintf(format, args...))
}

// scenario is scenario.json, read.
type scenario struct {
	spec  houseSpec
	turns []answer
	calls []scriptedCall // of all turns that are written out
	steps []jsontext.Value
}

// protectAll is the policy of a case that says none.
func protectAll() policy.Config {
	return policy.Config{RequiredSet: true, RequiredTools: []string{"Write", "Edit", "Bash"}, Timeout: 5 * time.Second}
}

// readScenario reads scenario.json. A case without one gets the usual: one
// protected call.
func readScenario(f *folder) (scenario, error) {
	s := scenario{spec: houseSpec{Policy: protectAll(), Heartbeat: 500 * time.Millisecond}}
	if !f.has("scenario.json") {
		s.calls = []scriptedCall{{ID: "c1", Name: "Bash", Arguments: `{"command":"id"}`}}
		s.turns = []answer{{body: callsTurn("", s.calls)}, {body: textTurn("done")}}
		return s, s.readTools(nil)
	}
	w := f.readWants("scenario.json")
	w.take("steps", &s.steps)
	for _, read := range []func() error{
		func() error { return s.readPolicy(w.object("policy")) },
		func() error { return s.readTools(w.object("tools")) },
		func() error { return s.readModel(f, w) },
	} {
		if err := read(); err != nil {
			return s, err
		}
	}
	w.raw("note")
	if name := w.unknown(); name != "" {
		return s, notUnderstood("%q in scenario.json", name)
	}
	return s, nil
}

func (s *scenario) readPolicy(w *wants) error {
	if w == nil {
		return nil
	}
	s.spec.Policy, _ = readPolicy(w)
	var timeout, heartbeat string
	if w.take("timeout", &timeout) {
		d, err := time.ParseDuration(timeout)
		if err != nil {
			return notUnderstood("timeout %q", timeout)
		}
		s.spec.Policy.Timeout = d
	}
	if w.take("heartbeat_interval", &heartbeat) {
		d, err := time.ParseDuration(heartbeat)
		if err != nil {
			return notUnderstood("heartbeat_interval %q", heartbeat)
		}
		s.spec.Heartbeat = d
	}
	if name := w.unknown(); name != "" {
		return notUnderstood("%q in the policy", name)
	}
	return nil
}

// readTools reads the stubs. The usual four are there in any case.
func (s *scenario) readTools(w *wants) error {
	for _, name := range []string{"Read", "Write", "Edit", "Bash"} {
		if w == nil || !w.has(name) {
			s.spec.Stubs = append(s.spec.Stubs, stubSpec{Name: name, Returns: []byte("done")})
		}
	}
	if w == nil {
		return nil
	}
	for _, name := range w.names {
		stub, err := readStub(name, w.object(name))
		if err != nil {
			return err
		}
		s.spec.Stubs = append(s.spec.Stubs, stub)
	}
	return nil
}

func readStub(name string, w *wants) (stubSpec, error) {
	stub := stubSpec{Name: name}
	if w == nil {
		return stub, notUnderstood("the tool %q", name)
	}
	var text string
	if w.take("returns", &text) {
		stub.Returns = []byte(text)
	}
	for _, member := range []string{"fails", "error"} {
		w.take(member, &stub.Fails)
	}
	var ms int
	for _, member := range []string{"delay_ms", "sleep_ms"} {
		if w.take(member, &ms) {
			stub.Delay = time.Duration(ms) * time.Millisecond
		}
	}
	if w.take("behaviour", &text) {
		stub.Hangs = strings.Contains(text, "for ever")
		if !stub.Hangs {
			return stub, notUnderstood("the tool %q that %s", name, text)
		}
	}
	stub.Schema = string(w.raw("inputSchema"))
	if member := w.unknown(); member != "" {
		return stub, notUnderstood("%q of the tool %q", member, name)
	}
	return stub, nil
}

// readModel reads the turns of the model.
func (s *scenario) readModel(f *folder, w *wants) error {
	if w.has("subagents") {
		return notUnderstood("subagents are not in this version")
	}
	var turns []jsontext.Value
	w.take("model", &turns)
	for _, raw := range turns {
		if raw.Kind() == '"' {
			var file string
			if err := json.Unmarshal(raw, &file); err != nil {
				return err
			}
			s.turns = append(s.turns, answer{body: f.read(file)})
			s.spec.addNames(f.read(file))
			continue
		}
		if err := s.readTurn(parseWants(f.report, "model.", raw)); err != nil {
			return err
		}
	}
	return nil
}

func (s *scenario) readTurn(w *wants) error {
	var text string
	var calls []scriptedCall
	w.take("text", &text)
	w.take("tool_calls", &calls)
	if name := w.unknown(); name != "" {
		return notUnderstood("%q in a turn of the model", name)
	}
	s.calls = append(s.calls, calls...)
	if len(calls) == 0 {
		s.turns = append(s.turns, answer{body: textTurn(text)})
		return nil
	}
	s.turns = append(s.turns, answer{body: callsTurn(text, calls)})
	return nil
}

// addNames adds stubs for the tools that a stream names. What a case writes
// out may name a tool that is not there on purpose; a stream may not.
func (s *houseSpec) addNames(stream []byte) {
	for _, stub := range namedIn(stream) {
		if !slices.ContainsFunc(s.Stubs, func(o stubSpec) bool { return o.Name == stub.Name }) {
			s.Stubs = append(s.Stubs, stub)
		}
	}
}

// tokens are the standard ones, and one of a reviewer for each user that the
// steps name.
func (s *scenario) tokens() []auth.Token {
	all := standardTokens()
	for _, raw := range s.steps {
		for _, user := range usersOf(raw) {
			t := tokenOf(userToken(user), user, auth.RoleReviewer)
			if !slices.ContainsFunc(all, func(o auth.Token) bool { return o.Name == t.Name }) {
				all = append(all, t)
			}
		}
	}
	return all
}

func userToken(user string) string { return "token-of-the-user-" + user }

// usersOf finds as_user in a step and in the steps within.
func usersOf(raw jsontext.Value) []string {
	var users []string
	var step struct {
		User string           `json:"as_user"`
		Do   []jsontext.Value `json:"do"`
	}
	if raw.Kind() != '{' || json.Unmarshal(raw, &step) != nil {
		return nil
	}
	if step.User != "" {
		users = append(users, step.User)
	}
	for _, inner := range step.Do {
		users = append(users, usersOf(inner)...)
	}
	return users
}

// judgeScenario plays a scenario against a node, and judges what came of it.
func judgeScenario(ctx context.Context, o Options, f *folder) error {
	s, err := readScenario(f)
	if err != nil {
		return err
	}
	if f.has("configs.json") {
		judgeConfigs(f)
	}
	p, err := newPlay(ctx, o, f, s)
	if err != nil {
		return err
	}
	defer p.close()
	switch {
	case f.has("requests.http"):
		err = p.postRaw(ctx)
	case len(p.bodies()) > 0:
		err = p.postLines(ctx)
	default:
		err = p.runSteps(ctx)
	}
	if err != nil {
		return err
	}
	return p.judge(ctx)
}
