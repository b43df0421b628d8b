package isolate

import (
	"os"
	"time"
)

// Spec is a command to start in a sandbox.
type Spec struct {
	// Argv is the program's absolute path and its arguments.
	Argv []string
	// Dir is the absolute working directory, as the command sees it.
	Dir string
	// Env is the whole environment.
	Env []string
	// Files become the command's 0, 1 and 2; the caller closes its own.
	Files []*os.File
}

// What ended a command that broke a limit, in End.Stopped.
const (
	StoppedByMemory = "memory-limit"
	StoppedByTasks  = "process-limit"
)

// End is how a command ended.
type End struct {
	// ExitCode is -1 where a signal ended the command.
	ExitCode int
	// Signal is the number of that signal, or 0.
	Signal int
	// Left counts the processes that lived on when the command itself ended,
	// and were killed then.
	Left int
	// Stopped names the limit that the command broke, or is "".
	Stopped string
}

// killTime is how long init has to kill, count and report before it is killed
// itself.
const killTime = 500 * time.Millisecond

// order is what init is told, as JSON in a sealed file.
type order struct {
	Config    Config
	Argv, Env []string
	Dir       string
	UID, GID  int
}

// report is what init says: first that it begins, then how it ended.
type report struct {
	// Failed says why nothing was run.
	Failed string `json:"failed,omitempty"`
	// Begun is said just before the command is started.
	Begun bool `json:"begun,omitempty"`
	End   *End `json:"end,omitempty"`
}
