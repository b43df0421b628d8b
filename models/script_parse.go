package models

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/countersign-dev/countersign/agent"
)

// ErrScript is in the chain of every error of ParseScript. The message names
// file and line.
var ErrScript = errors.New("script")

const defaultClosing = "That was the whole script."

// ParseScript reads a script; name is the file's, for error messages.
func ParseScript(name string, b []byte) (*Script, error) {
	p := &scriptParser{name: name, script: &Script{closing: defaultClosing}}
	dec := yaml.NewDecoder(bytes.NewReader(b))
	var doc yaml.Node
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("is empty: want conversations")
		}
		return nil, fmt.Errorf("%w %s: %w", ErrScript, name, err)
	}
	if err := p.top(doc.Content[0]); err != nil {
		return nil, err
	}
	var second yaml.Node
	if err := dec.Decode(&second); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w %s: more than one document", ErrScript, name)
	}
	return p.script, nil
}

type scriptParser struct {
	name   string
	script *Script
}

// fields are the keys that a mapping may have.
type fields map[string]func(*yaml.Node) error

func (p *scriptParser) top(n *yaml.Node) error {
	s := p.script
	conversations := func(n *yaml.Node) error { return p.list(n, p.conversation) }
	// The pace comes first wherever it stands: turns inherit it.
	err := p.mapping(n, fields{
		"delay": p.duration(&s.pace.delay), "chunk": p.number(&s.pace.chunk),
		"closing": p.text(&s.closing), "conversations": p.skip,
	})
	if err == nil {
		err = p.mapping(n, fields{"delay": p.skip, "chunk": p.skip, "closing": p.skip, "conversations": conversations})
	}
	if err == nil && len(s.conversations) == 0 {
		err = p.fail(n, "no conversations")
	}
	return err
}

func (p *scriptParser) conversation(n *yaml.Node) error {
	var c conversation
	turns := func(n *yaml.Node) error {
		return p.list(n, func(n *yaml.Node) error {
			place := fmt.Sprintf("%d-%d", len(p.script.conversations)+1, len(c.turns)+1)
			turn, err := p.turn(n, place)
			c.turns = append(c.turns, turn)
			return err
		})
	}
	if err := p.mapping(n, fields{"match": p.text(&c.match), "turns": turns}); err != nil {
		return err
	}
	for _, before := range p.script.conversations {
		if strings.Contains(c.match, before.match) {
			return p.fail(n, "never reached: a conversation before it takes all that it matches")
		}
	}
	if len(c.turns) == 0 {
		return p.fail(n, "a conversation without turns")
	}
	p.script.conversations = append(p.script.conversations, c)
	return nil
}

// turn reads one turn; place makes the ids of its calls.
func (p *scriptParser) turn(n *yaml.Node, place string) (scriptTurn, error) {
	t := scriptTurn{pace: p.script.pace}
	calls := func(n *yaml.Node) error {
		return p.list(n, func(n *yaml.Node) error {
			call, err := p.call(n)
			call.ID = cmp.Or(call.ID, fmt.Sprintf("call-%s-%d", place, len(t.calls)+1))
			t.calls = append(t.calls, call)
			return err
		})
	}
	failure := func(n *yaml.Node) (err error) {
		t.err, err = p.failure(n)
		return err
	}
	err := p.mapping(n, fields{
		"reasoning": p.text(&t.reasoning), "text": p.text(&t.text), "calls": calls,
		"finish": p.text(&t.finish), "error": failure,
		"delay": p.duration(&t.pace.delay), "chunk": p.number(&t.pace.chunk),
	})
	if err == nil && t.text == "" && t.reasoning == "" && len(t.calls) == 0 && t.err == nil {
		err = p.fail(n, "an empty turn: want text, reasoning, calls or error")
	}
	if t.finish == "" {
		t.finish = "stop"
		if len(t.calls) > 0 {
			t.finish = "tool_calls"
		}
	}
	return t, err
}

func (p *scriptParser) call(n *yaml.Node) (agent.Call, error) {
	var c agent.Call
	err := p.mapping(n, fields{"id": p.text(&c.ID), "name": p.text(&c.Name), "arguments": p.text(&c.Arguments)})
	if err == nil && c.Name == "" {
		err = p.fail(n, "a call without a name")
	}
	return c, err
}

func (p *scriptParser) failure(n *yaml.Node) (*agent.TurnError, error) {
	var e agent.TurnError
	err := p.mapping(n, fields{"code": p.text(&e.Code), "message": p.text(&e.Message)})
	codes := []string{
		agent.CodeUnexpectedEOF, agent.CodeTruncated, agent.CodeInvalidStream,
		agent.CodeProviderError, agent.CodeUnavailable, agent.CodeLimit,
	}
	if err == nil && !slices.Contains(codes, e.Code) {
		err = p.fail(n, "error code %q: want one of %s", e.Code, strings.Join(codes, ", "))
	}
	return &e, err
}

// mapping reads a mapping with these keys, each at most once.
func (p *scriptParser) mapping(n *yaml.Node, keys fields) error {
	if n.Kind != yaml.MappingNode {
		return p.fail(n, "want a mapping with keys out of %s", keys.names())
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		read, ok := keys[key.Value]
		if !ok || key.Kind != yaml.ScalarNode {
			return p.fail(key, "unknown key %q: want one of %s", key.Value, keys.names())
		}
		if seen[key.Value] {
			return p.fail(key, "key %q is given twice", key.Value)
		}
		seen[key.Value] = true
		if err := read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (f fields) names() string {
	names := make([]string, 0, len(f))
	for name := range f {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

func (p *scriptParser) list(n *yaml.Node, element func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return p.fail(n, "want a list")
	}
	for _, e := range n.Content {
		if err := element(e); err != nil {
			return err
		}
	}
	return nil
}

func (p *scriptParser) skip(*yaml.Node) error { return nil }

func (p *scriptParser) text(to *string) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			return p.fail(n, "want a text; put it in quotes")
		}
		*to = n.Value
		return nil
	}
}

func (p *scriptParser) number(to *int) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := strconv.Atoi(n.Value)
		if err != nil || v < 1 || n.ShortTag() != "!!int" {
			return p.fail(n, "want a whole number above zero")
		}
		*to = v
		return nil
	}
}

func (p *scriptParser) duration(to *time.Duration) func(*yaml.Node) error {
	return func(n *yaml.Node) error {
		v, err := time.ParseDuration(n.Value)
		if err != nil || v < 0 || n.Kind != yaml.ScalarNode {
			return p.fail(n, "want a duration such as 30ms")
		}
		*to = v
		return nil
	}
}

func (p *scriptParser) fail(n *yaml.Node, format string, args ...any) error {
	return fmt.Errorf("%w %s:%d: %s", ErrScript, p.name, n.Line, fmt.Sprintf(format, args...))
}
