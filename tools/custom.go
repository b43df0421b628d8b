package tools

import (
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/internal/exec"
)

// maxStderr is how much of a failed custom tool's standard error is told.
const maxStderr = 16 << 10

// Custom is a tool that the configuration makes of a command. The command gets
// the model's argument text on its standard input and begins in the workspace;
// its standard output is the result. With a status other than 0 its standard
// error is the error.
type Custom struct {
	Name        string // letters, digits, "_", "-"; at most 64; no "__"
	Description string
	// Schema is the JSON Schema (2020-12) of the arguments object.
	Schema json.RawMessage
	// Command is the program and its arguments. The program is an absolute
	// path, or a bare name that is looked up in PATH once, by New.
	Command []string
	// Timeout is how long a run may take; 0 means DefaultCustomTimeout.
	Timeout time.Duration
	// ReturnDirect ends the run with this tool's result as the answer.
	ReturnDirect bool
}

type customTool struct {
	*workbench
	*program

	spec    agent.ToolSpec
	argv    []string
	timeout time.Duration
}

func newCustom(b *workbench, c Custom) (*customTool, error) {
	if err := checkName(c.Name); err != nil {
		return nil, err
	}
	if err := checkSchema(c.Schema); err != nil {
		return nil, err
	}
	if len(c.Command) == 0 {
		return nil, errors.New("command: it is empty")
	}
	path, err := exec.Find(c.Command[0], b.env)
	if err != nil {
		return nil, err
	}
	run, err := newProgram(path)
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultCustomTimeout
	}
	return &customTool{
		workbench: b, program: run,
		spec: b.processSpec(agent.ToolSpec{
			Name: c.Name, Description: c.Description, Source: SourceCustom, Schema: slices.Clone(c.Schema), ReturnDirect: c.ReturnDirect,
		}),
		argv:    slices.Concat([]string{path}, c.Command[1:]),
		timeout: c.Timeout,
	}, nil
}

// checkName keeps to what providers take. Two underscores would make it look
// like a tool of an MCP server.
func checkName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`).MatchString(name) || strings.Contains(name, "__") {
		return errors.New(`name: 1 to 64 letters, digits, "_" and "-", and no "__"`)
	}
	return nil
}

func (t *customTool) Spec() agent.ToolSpec { return t.spec }

// Command is the program, as an absolute path, and its arguments.
func (t *customTool) Command() []string { return slices.Clone(t.argv) }

func (t *customTool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	result, err := t.run(ctx, exec.Command{
		Argv: t.argv, Stdin: argumentText(arguments), Timeout: t.timeout,
	})
	if err != nil {
		return agent.Output{}, err
	}
	told := result.Stderr
	if told.FullBytes == 0 {
		told = result.Stdout
	}
	return output(result), failure(result, t.timeout, told, maxStderr)
}
