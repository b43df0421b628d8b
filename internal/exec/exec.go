// Package exec starts every process that is not agentd.
//
// A tool's command is foreign code: it may print for ever, ignore signals,
// leave children behind, hold pipes open or look for keys in its environment.
// Run starts one, feeds it, reads all that it prints, and comes back when it
// ended, or when its time, its output or the caller's patience ran out:
//
//	result, err := exec.Run(ctx, exec.Command{
//		Argv:    []string{"/bin/sh", "-c", "make test"},
//		Dir:     "/srv/workspace",
//		Env:     exec.Environment(os.Environ()),
//		Timeout: 2 * time.Minute,
//	})
//
// What it promises:
//
//   - The command gets the environment that Command names and nothing of
//     agentd's: no variables, no open files, no terminal, no working directory.
//   - The command is the leader of a session of its own. When Run returns,
//     every process of that session has been sent SIGKILL, also after a normal
//     end: a result is never followed by late effects of the same call.
//   - The command finds its whole input from its first moment: if agentd dies, it
//     never takes a part of it for all.
//   - Output never blocks the command: what is not kept is counted and hashed.
//   - Run returns within Timeout, Grace, half a second and what the kernel needs
//     to bury the command, whoever still holds its pipes.
//   - On Linux the command dies with agentd.
//
// Without a sandbox a process that makes a session of its own (setsid) escapes,
// and what the command may reach is not restricted. With Command.Sandbox it
// runs as package isolate says: every process is gone when Run returns, however
// it daemonised, and also when agentd dies.
package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/isolate"
)

var (
	// ErrBadCommand is a command that no kernel would start: no absolute path,
	// or a NUL byte or too long a text in an argument.
	ErrBadCommand = errors.New("bad command")
	// ErrNotStarted means that nothing was run.
	ErrNotStarted = errors.New("not started")
)

// What ended a command early, as in Result.StoppedBy.
const (
	StoppedByTimeout     = "timeout"
	StoppedByCancel      = "cancelled"
	StoppedByShutdown    = "shutdown" // where the cause of ctx says so
	StoppedByOutputLimit = "output-limit"
	StoppedByMemory      = isolate.StoppedByMemory // in a sandbox, like the next
	StoppedByProcesses   = isolate.StoppedByTasks
)

// The values of a Command that says nothing else.
const (
	DefaultMaxOutput = 512 << 10
	DefaultGrace     = 2 * time.Second
)

// maxArgument is the longest argument that Linux takes (MAX_ARG_STRLEN), less
// its end mark.
const maxArgument = 128<<10 - 1

// Command is a program to run, once.
type Command struct {
	// Argv is the program's absolute path and its arguments. Nothing is looked
	// up in PATH and no shell reads it.
	Argv []string
	// Dir is the absolute working directory.
	Dir string
	// Env is the whole environment, "NAME=value" each; see Environment.
	Env []string
	// Stdin is all of the standard input. A command that does not read it is
	// not held up.
	Stdin []byte
	// Timeout is how long the command may run; 0 means as long as ctx.
	Timeout time.Duration
	// Grace is how long a command that is stopped has between SIGTERM and
	// SIGKILL; 0 means DefaultGrace.
	Grace time.Duration
	// MaxOutput is how many bytes are kept of each stream, from its start; 0
	// means DefaultMaxOutput. The rest is read, counted and hashed.
	MaxOutput int
	// StopOutput stops a command that printed more bytes than this, both
	// streams taken together; 0 means never.
	StopOutput int64
	// Merge sends standard error where standard output goes, in the order of
	// writing; Result.Stderr is empty then.
	Merge bool
	// Sandbox shuts the command off from agentd; nil runs it with all that
	// agentd may do. In a sandbox HOME is Dir, and TMPDIR is /tmp.
	Sandbox *isolate.Sandbox
}

// Result is how a command ended.
type Result struct {
	Stdout, Stderr Stream
	// ExitCode is -1 where a signal ended the command.
	ExitCode int
	// Signal names that signal ("killed"), or is "".
	Signal string
	// StoppedBy says why Run ended the command, or is "" where it ended by
	// itself.
	StoppedBy string
	// Left counts the processes that the command left running and that were
	// killed when it ended. Only a sandbox counts.
	Left int
	// Duration is from just before the start until the command was gone.
	Duration time.Duration
}

// Run runs the command to its end. A command that failed, or was stopped, is
// not an error: Result says so. An error means that nothing ran
// (ErrBadCommand, ErrNotStarted), or that the kernel lost the child.
func Run(ctx context.Context, c Command) (Result, error) {
	if err := c.check(); err != nil {
		return Result{}, err
	}
	if ctx.Err() != nil {
		return Result{}, fmt.Errorf("%w: %s: %w", ErrNotStarted, c.Argv[0], context.Cause(ctx))
	}
	// Linux sends the parent-death signal when the thread that forked ends, so
	// that thread has to stay for as long as the command.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	p, err := start(c.withDefaults())
	if err != nil {
		return Result{}, fmt.Errorf("%w in %s: %w", ErrNotStarted, c.Dir, err)
	}
	return p.finish(ctx)
}

func (c Command) check() error {
	if len(c.Argv) == 0 || !filepath.IsAbs(c.Argv[0]) {
		return fmt.Errorf("%w: %q: the program must be an absolute path", ErrBadCommand, c.Argv)
	}
	if !filepath.IsAbs(c.Dir) {
		return fmt.Errorf("%w: %s: the working directory %q must be absolute", ErrBadCommand, c.Argv[0], c.Dir)
	}
	for i, text := range c.Argv {
		if strings.ContainsRune(text, 0) {
			return fmt.Errorf("%w: argument %d of %q has a NUL byte", ErrBadCommand, i, c.Argv[0])
		}
		if len(text) > maxArgument {
			return fmt.Errorf("%w: argument %d of %q has %d bytes; at most %d can be passed",
				ErrBadCommand, i, c.Argv[0], len(text), maxArgument)
		}
	}
	return nil
}

func (c Command) withDefaults() Command {
	if c.Env == nil {
		c.Env = []string{} // nil would pass on agentd's own
	}
	if c.Grace <= 0 {
		c.Grace = DefaultGrace
	}
	if c.MaxOutput <= 0 {
		c.MaxOutput = DefaultMaxOutput
	}
	return c
}

// Environment returns those variables of an environment that a command may
// see: where programs, home and temporary files are, language and time zone,
// and what more names. It passes on nothing else of agentd's own settings or
// anybody's keys. Without a PATH it adds the usual one.
func Environment(all []string, more ...string) []string {
	kept := []string{}
	path := false
	for _, variable := range all {
		name, _, found := strings.Cut(variable, "=")
		if !found || !allowed(name) && !slices.Contains(more, name) {
			continue
		}
		path = path || name == "PATH"
		kept = append(kept, variable)
	}
	if !path {
		kept = append(kept, "PATH=/usr/local/bin:/usr/bin:/bin")
	}
	return kept
}

func allowed(name string) bool {
	switch name {
	case "PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TERM", "TMPDIR":
		return true
	}
	return strings.HasPrefix(name, "LC_")
}

// devNull is what a command without input reads.
func devNull() (*os.File, error) { return os.Open(os.DevNull) }
