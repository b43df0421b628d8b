// Package tools has the tools that agentd brings along, and makes tools of the
// commands in its configuration.
//
// The built-in tools are Read, Write, Edit and Bash. They work in one folder,
// the workspace. The file tools cannot leave it: every path is resolved
// beneath it (os.Root), whatever ".." and links say and whoever changes them
// meanwhile; what is no regular file, or has more than one name, is refused.
// Write and Edit say beforehand what they would change, and can be bound to the
// content that was approved (agent.Changer). Bash and custom tools are processes
// that begin in it, in a sandbox where one is given; their definition has the
// digest of the program that they start.
//
//	all, err := tools.New(tools.Options{
//		Workspace: "./workspace",
//		Builtin:   []string{"Read", "Write", "Edit", "Bash"},
//		Custom:    []tools.Custom{{Name: "Deploy", Schema: schema, Command: []string{"/srv/deploy.sh"}}},
//	})
//
// Nothing here asks, records or decides: the gate does, and is the only caller
// of Run. It hands over arguments that fit the tool's schema; they are decoded
// strictly again all the same. A failure is an error whose text is meant for
// the model. Where a command failed, the Output beside the error has what it
// printed, and the text has that too.
package tools

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

var (
	// ErrOptions is a configuration that New refuses.
	ErrOptions = errors.New("tools")
	// ErrArguments are arguments that the tool cannot work with.
	ErrArguments = errors.New("arguments")
	// ErrOutside is a path that is not in the workspace.
	ErrOutside = errors.New("outside the workspace")
	// ErrNotRegular is a directory, link, pipe, socket or device where a file
	// is asked for.
	ErrNotRegular = errors.New("not a regular file")
	// ErrRefused is a file that must not be changed: it has more than one name,
	// or is read-only, or changed under the tool's hands.
	ErrRefused = errors.New("refused")
	// ErrTooLarge is a file beyond what the tool works with.
	ErrTooLarge = errors.New("too large")
	// ErrFailed is a command that ended with a status other than 0.
	ErrFailed = errors.New("the command failed")
	// ErrStopped is a command that was ended before it was done.
	ErrStopped = errors.New("the command was stopped")
)

// The sources of a ToolSpec that this package makes.
const (
	SourceBuiltin = string(events.SourceBuiltin)
	SourceCustom  = string(events.SourceCustom)
)

// The values of options that say nothing else.
const (
	DefaultBashTimeout   = 2 * time.Minute
	DefaultCustomTimeout = time.Minute
	DefaultMaxResult     = 512 << 10
)

// stopOutput ends a command that prints without end.
const stopOutput = 256 << 20

// How a tool is kept from agentd, where that is not a sandbox's mode.
const (
	// isolationOwn is agentd's own code, that opens nothing outside the
	// workspace.
	isolationOwn = "in-process"
	// isolationUnavailable: its process would have to be shut off and cannot be.
	isolationUnavailable = "unavailable"
)

// Options are the tools to make and where they work.
type Options struct {
	// Workspace is the folder of all tools; it is made if it is missing.
	Workspace string
	// Protected are files and folders that the workspace may neither contain
	// nor lie in: data directory, configuration, agents, skills.
	Protected []string
	// Builtin names the built-in tools to offer, in this order.
	Builtin []string
	// Custom are the commands to offer, after the built-in tools.
	Custom []Custom
	// Environ is what processes may choose their variables from (see
	// exec.Environment); nil means os.Environ().
	Environ []string
	// MaxResult is how many bytes of a result are kept; 0 means
	// DefaultMaxResult.
	MaxResult int
	// Sandbox shuts the processes of tools off from agentd; nil runs them with
	// all that agentd may do.
	Sandbox *isolate.Sandbox
	// Hindrance says why processes cannot be shut off though they must be: no
	// call that needs one is run. "" where they can, or need not.
	Hindrance string
	// BashTimeout is how long Bash runs where the call says nothing; 0 means
	// DefaultBashTimeout.
	BashTimeout time.Duration
}

// workbench is what the tools of one New share.
type workbench struct {
	workspace *workspace
	env       []string
	maxResult int
	sandbox   *isolate.Sandbox
	hindrance string
}

// New makes the tools. It starts no process. The tools keep the workspace open
// for as long as they are in use.
func New(o Options) ([]agent.Tool, error) {
	o = o.withDefaults()
	w, err := openWorkspace(o.Workspace, o.Protected)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrOptions, err)
	}
	b := &workbench{workspace: w, env: exec.Environment(o.Environ), maxResult: o.MaxResult, sandbox: o.Sandbox, hindrance: o.Hindrance}
	var all []agent.Tool
	for _, name := range o.Builtin {
		tool, err := b.builtin(name, o)
		if err != nil {
			return nil, fmt.Errorf("%w: builtin %q: %w", ErrOptions, name, err)
		}
		all = append(all, tool)
	}
	for _, c := range o.Custom {
		tool, err := newCustom(b, c)
		if err != nil {
			return nil, fmt.Errorf("%w: custom %q: %w", ErrOptions, c.Name, err)
		}
		all = append(all, tool)
	}
	return all, checkNames(all)
}

func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.MaxResult <= 0 {
		o.MaxResult = DefaultMaxResult
	}
	if o.BashTimeout <= 0 {
		o.BashTimeout = DefaultBashTimeout
	}
	return o
}

func (b *workbench) builtin(name string, o Options) (agent.Tool, error) {
	switch name {
	case "Read":
		return &readTool{b}, nil
	case "Write":
		return newWrite(b), nil
	case "Edit":
		return newEdit(b), nil
	case "Bash":
		return newBash(b, o.BashTimeout)
	}
	return nil, errors.New("there is none of this name; the built-in tools are Read, Write, Edit and Bash")
}

// checkNames refuses tools that a policy or a reviewer could mistake for each
// other.
func checkNames(all []agent.Tool) error {
	seen := map[string]string{}
	for _, tool := range all {
		name := tool.Spec().Name
		folded := strings.ToLower(name)
		if other, taken := seen[folded]; taken {
			return fmt.Errorf("%w: the names %q and %q are too much alike: each tool needs a name of its own", ErrOptions, other, name)
		}
		seen[folded] = name
	}
	return nil
}

// fileSpec describes a built-in tool that starts no process.
func (b *workbench) fileSpec(name, description, schema string) agent.ToolSpec {
	isolation := isolationOwn
	if b.sandbox == nil && b.hindrance == "" {
		isolation = isolate.None
	}
	return agent.ToolSpec{
		Name: name, Description: description, Source: SourceBuiltin, Schema: json.RawMessage(schema), Isolation: isolation,
	}
}

// processSpec fills in how a tool's process is shut off.
func (b *workbench) processSpec(s agent.ToolSpec) agent.ToolSpec {
	switch {
	case b.hindrance != "":
		s.Isolation, s.Hindrance = isolationUnavailable, "It needs a process of its own, and "+b.hindrance+"."
	case b.sandbox != nil:
		s.Isolation = b.sandbox.Mode()
	default:
		s.Isolation = isolate.None
	}
	return s
}
