package gate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/countersign-dev/countersign/events"
)

// Tool is what the gate knows of a tool.
type Tool struct {
	Name   string
	Source events.ToolSource
	// Server is the MCP server of the tool, "" for others.
	Server string
	// Definition is the text whose digest stands in every call; it is recorded
	// before its first use.
	Definition []byte
	// Schema is the JSON Schema (2020-12) of the arguments.
	Schema []byte
	// Isolation is how the tool is kept from agentd: "none", or its means.
	Isolation string
	// ReadOnly tools change nothing: their calls are not held back by the
	// protected calls of their turn.
	ReadOnly bool
	// Changes is set for a tool whose calls change one file; nil for others.
	Changes Changer
	// Verify says, just before a start, why what would run is not what the
	// definition describes; nil where nothing can have changed.
	Verify func(ctx context.Context) error
	// Hindrance says why no call of the tool can run on this machine, as a
	// sentence; "" where it can. Its calls get that as an error, without asking.
	Hindrance string
}

// judgedTool is a tool with its schema compiled.
type judgedTool struct {
	Tool
	digest events.Digest
	schema *jsonschema.Schema
}

// judgedTools returns tools by name.
func judgedTools(tools []Tool) (map[string]*judgedTool, error) {
	byName := make(map[string]*judgedTool, len(tools))
	for _, t := range tools {
		if byName[t.Name] != nil {
			return nil, fmt.Errorf("two tools are named %q; names must differ", t.Name)
		}
		schema, err := compileSchema(t.Name, t.Schema)
		if err != nil {
			return nil, err
		}
		byName[t.Name] = &judgedTool{Tool: t, digest: events.DigestOf(t.Definition), schema: schema}
	}
	return byName, nil
}

func compileSchema(name string, text []byte) (_ *jsonschema.Schema, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("tool %q: its schema cannot be used: %v", name, p)
		}
	}()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("tool %q: its schema is not JSON: %w", name, err)
	}
	if err := checkNumbers(doc); err != nil {
		return nil, fmt.Errorf("tool %q: its schema: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	url := "tool:schema"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("tool %q: its schema: %w", name, err)
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("tool %q: its schema: %w", name, err)
	}
	return schema, nil
}

// checkNumbers refuses a schema with a number that the checker cannot hold: it
// would pass over it.
func checkNumbers(v any) error {
	switch v := v.(type) {
	case json.Number:
		return events.CheckNumber(v)
	case []any:
		for _, e := range v {
			if err := checkNumbers(e); err != nil {
				return err
			}
		}
	case map[string]any:
		return checkNumbers(slices.Collect(maps.Values(v)))
	}
	return nil
}

// errUnchecked is why arguments are refused that the schema check broke on.
var errUnchecked = errors.New("the arguments could not be checked against its schema")

// fits reports why arguments cannot be given to a tool. Schemas are the
// operator's, arguments the model's, and the checker a library's: if it panics,
// the call is refused, and the gate goes on.
func (g *Gate) fits(t *judgedTool, arguments []byte) (err error) {
	defer func() {
		if p := recover(); p != nil {
			g.logger.Error("the check of a call's arguments panicked", "tool", t.Name, "panic", fmt.Sprint(p))
			err = errUnchecked
		}
	}()
	args, err := events.DecodeArguments(arguments)
	if err != nil {
		return err
	}
	err = t.schema.Validate(args.Value)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return fmt.Errorf("the arguments do not fit its schema: %s", misfits(invalid))
	}
	return err
}

// misfits names the first few places where arguments do not fit.
func misfits(e *jsonschema.ValidationError) string {
	printer := message.NewPrinter(language.English)
	var lines []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 && len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("at %q: %s", "/"+strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(printer)))
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(e)
	return strings.Join(lines, "; ")
}
