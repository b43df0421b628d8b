package exec

import (
	"os"
	"strings"
	"syscall"

	"github.com/countersign-dev/countersign/internal/isolate"
)

// sandboxed is a command in a sandbox.
type sandboxed struct{ child *isolate.Child }

func startSandboxed(c Command, files []*os.File) (running, error) {
	child, err := c.Sandbox.Start(isolate.Spec{Argv: c.Argv, Dir: c.Dir, Env: ownFolders(c.Env, c.Dir), Files: files})
	if err != nil {
		return nil, err
	}
	return sandboxed{child}, nil
}

// ownFolders lets the command's home be where it works, and its temporary
// files go where it may write them.
func ownFolders(env []string, dir string) []string {
	var all []string
	for _, variable := range env {
		if !strings.HasPrefix(variable, "HOME=") && !strings.HasPrefix(variable, "TMPDIR=") {
			all = append(all, variable)
		}
	}
	return append(all, "HOME="+dir, "TMPDIR=/tmp")
}

func (s sandboxed) ended() <-chan struct{} { return s.child.Ended() }

func (s sandboxed) terminate() { s.child.Stop() }

func (s sandboxed) kill() { s.child.Kill() }

func (s sandboxed) reap() (ending, error) {
	end, err := s.child.Wait()
	return ending{code: end.ExitCode, signal: syscall.Signal(end.Signal), left: end.Left, stopped: end.Stopped}, err
}
