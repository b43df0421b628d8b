package gate_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// files are what the tool Append changes: a call adds a line to one of them. Its
// arguments are {"command":"NAME LINE"}.
type files struct {
	mu      sync.Mutex
	content map[string]string // mu; "" where there is none
	changes int               // runs of Change; mu
	changed func()            // called in Change, before it looks; mu
	panics  bool
}

func newFiles() *files { return &files{content: map[string]string{}} }

// append is the tool, as the gate knows it.
func (f *files) append() gate.Tool {
	return gate.Tool{Name: "Append", Source: events.SourceBuiltin, Definition: []byte("Append"), Schema: []byte(schema), Changes: f}
}

// with gives a gate the tool.
func (f *files) with(o *gate.Options) { o.Tools = append(o.Tools, f.append()) }

// appends is the arguments of a call, of "NAME LINE".
func appends(command string) []byte { return fmt.Appendf(nil, `{"command":%q}`, command) }

func read(arguments []byte) (name, line string, err error) {
	var args struct {
		Command string `json:"command"`
	}
	if err := json.Unmarshal(arguments, &args); err != nil {
		return "", "", err
	}
	name, line, ok := strings.Cut(args.Command, " ")
	if !ok {
		return "", "", errors.New("there is no line to append")
	}
	return name, line, nil
}

func (f *files) set(name, content string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.content[name] = content
}

func (f *files) get(name string) string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.content[name]
}

func target(name, content string) events.Target {
	if content == "" {
		return events.Target{Path: name}
	}
	return events.Target{Path: name, Digest: events.DigestOf([]byte(content))}
}

// Foresee implements gate.Changer.
func (f *files) Foresee(_ context.Context, arguments []byte, earlier gate.Overlay) (gate.Foreseen, error) {
	name, line, err := read(arguments)
	if err != nil {
		return gate.Foreseen{}, err
	}
	if f.panics {
		panic("a mistake of the tool")
	}
	before := f.get(name)
	if laid, ok := earlier[name]; ok {
		before = string(laid)
	}
	return gate.Foreseen{Target: target(name, before), Diff: []byte("+" + line + "\n"), Note: "adds a line", After: []byte(before + line + "\n")}, nil
}

// Look implements gate.Changer.
func (f *files) Look(_ context.Context, path string) (events.Target, error) {
	if path == "link" {
		return events.Target{}, errors.New("it is a link")
	}
	return target(path, f.get(path)), nil
}

// Change implements gate.Changer.
func (f *files) Change(_ context.Context, arguments []byte, was events.Target) gate.Output {
	f.mu.Lock()
	changed := f.changed
	f.changes++
	f.mu.Unlock()
	if changed != nil {
		changed()
	}
	if now := target(was.Path, f.get(was.Path)); now != was {
		return gate.Output{Content: []byte("it was changed meanwhile"), Failed: true, Stale: true}
	}
	name, line, err := read(arguments)
	if err != nil {
		return gate.Output{Content: []byte(err.Error()), Failed: true}
	}
	f.set(name, f.get(name)+line+"\n")
	return gate.Output{Content: []byte("appended")}
}
