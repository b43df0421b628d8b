package gate

import (
	"bytes"
	"errors"
	"fmt"
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

func compileSchema(name string, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("tool %q: its schema is not JSON: %w", name, err)
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

// fits reports why arguments cannot be given to the tool.
func (t *judgedTool) fits(arguments []byte) error {
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
