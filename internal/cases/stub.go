package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/tools"
)

// stubSpec says what a stub tool does. It notes that it was run before
// anything else.
type stubSpec struct {
	Name    string
	Returns []byte
	Pattern string // in place of Returns: repeated, with %d counting lines, up to Size bytes
	Size    int
	Fails   string        // the error that it returns, or ""
	Delay   time.Duration // before it returns
	Hangs   bool          // it never returns by itself
	Schema  string        // of its arguments; none: any object
	Source  string        // of the tool; "": built-in where the name is
}

// stubTool is a tool of a case.
type stubTool struct {
	spec  stubSpec
	notes string // the file of notes
}

// execution is a note of a stub.
type execution struct {
	Tool      string      `json:"tool"`
	Arguments []byte      `json:"arguments"`
	At        events.Time `json:"at"`
}

func (t stubTool) Spec() agent.ToolSpec {
	schema := t.spec.Schema
	if schema == "" {
		schema = `{"type":"object"}`
	}
	source := t.spec.Source
	if source == "" {
		source = tools.SourceCustom
		if slices.Contains([]string{"Read", "Write", "Edit", "Bash"}, t.spec.Name) {
			source = tools.SourceBuiltin
		}
	}
	return agent.ToolSpec{
		Name: t.spec.Name, Description: "A stub of a case.", Source: source, Schema: []byte(schema),
		ReadOnly: t.spec.Name == "Read", Isolation: "none",
	}
}

// Run notes the execution and plays the tool.
func (t stubTool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	if err := note(t.notes, execution{Tool: t.spec.Name, Arguments: arguments, At: events.At(time.Now())}); err != nil {
		return agent.Output{}, err
	}
	if t.spec.Hangs {
		<-ctx.Done()
	}
	if !waited(ctx.Done(), t.spec.Delay) || ctx.Err() != nil {
		return agent.Output{StoppedBy: "cancelled"}, context.Cause(ctx)
	}
	if t.spec.Fails != "" {
		return agent.Output{}, errors.New(t.spec.Fails)
	}
	return agent.Output{Content: t.spec.result()}, nil
}

// result is what the tool returns.
func (s stubSpec) result() []byte {
	if s.Size == 0 {
		return s.Returns
	}
	b := make([]byte, 0, s.Size+len(s.Pattern)+20)
	for line := 1; len(b) < s.Size; line++ {
		b = append(b, strings.ReplaceAll(s.Pattern, "%d", strconv.Itoa(line))...)
	}
	return b[:s.Size]
}

// note appends to the file of executions: one write, so that what a killed
// process had begun is there.
func note(file string, e execution) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600) //nolint:gosec // our own folder
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// executions reads the notes of the stubs, in order.
func executions(file string) ([]execution, error) {
	b, err := os.ReadFile(file) //nolint:gosec // our own folder
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var all []execution
	for line := range bytes.Lines(b) {
		var e execution
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("a note of a stub: %w", err)
		}
		all = append(all, e)
	}
	return all, nil
}
