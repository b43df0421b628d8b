package main_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// process is one run of agentd as a server.
type process struct {
	t    *testing.T
	cmd  *exec.Cmd
	out  *output // stdout
	errs *output // stderr
	base string  // http://127.0.0.1:PORT
	link string  // the sign-in link that it printed
	done chan struct{}
}

// output is what a process printed so far.
type output struct {
	mu    sync.Mutex
	text  bytes.Buffer  // mu
	moved chan struct{} // mu; closed when more has come
}

func newOutput() *output { return &output{moved: make(chan struct{})} }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	close(o.moved)
	o.moved = make(chan struct{})
	return o.text.Write(b)
}

func (o *output) String() string {
	text, _ := o.now()
	return text
}

func (o *output) now() (string, <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String(), o.moved
}

// environment is that of every agentd here: nothing of the tests' own, in which
// COUNTERSIGN_ variables may stand.
func environment(more ...string) []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=/nonexistent", "LANG=C.UTF-8"}, more...)
}

// launch starts an agentd that serves, and returns when it has said how to get
// in. It ends with the test at the latest.
func launch(t *testing.T, dir string, args ...string) *process {
	t.Helper()
	p := &process{t: t, cmd: exec.Command(os.Getenv(binaryEnv), args...), out: newOutput(), errs: newOutput(), done: make(chan struct{})}
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environment(), p.out, p.errs
	p.cmd.WaitDelay = 5 * time.Second
	require.NoError(t, p.cmd.Start())
	go func() {
		defer close(p.done)
		_ = p.cmd.Wait() // how it ended is in ProcessState
	}()
	t.Cleanup(p.kill)
	p.link = p.said(`http://countersign\.localhost:\d+/sign-in\?link=\S+`)
	p.base = regexp.MustCompile(`^http://countersign\.localhost(:\d+)/.*`).ReplaceAllString(p.link, "http://127.0.0.1$1")
	return p
}

// said waits for something on stdout.
func (p *process) said(pattern string) string {
	p.t.Helper()
	want := regexp.MustCompile(pattern)
	late := time.After(20 * time.Second)
	for {
		text, moved := p.out.now()
		if found := want.FindString(text); found != "" {
			return found
		}
		select {
		case <-moved:
		case <-p.done:
			require.FailNow(p.t, "agentd ended", "waiting for %q:\n%s\n%s", pattern, p.out, p.errs)
		case <-late:
			require.FailNow(p.t, "agentd did not say it", "waiting for %q:\n%s\n%s", pattern, p.out, p.errs)
		}
	}
}

// kill ends the process as a crash does.
func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// stop asks the process to end, and returns its exit code and how long it took.
func (p *process) stop() (code int, took time.Duration) {
	p.t.Helper()
	began := time.Now()
	require.NoError(p.t, p.cmd.Process.Signal(syscall.SIGTERM))
	select {
	case <-p.done:
	case <-time.After(15 * time.Second):
		require.FailNow(p.t, "agentd does not stop", "%s", p.errs)
	}
	return p.cmd.ProcessState.ExitCode(), time.Since(began)
}

// console is the address of the console, under its own host name.
func (p *process) console() string { return strings.Split(p.link, "/sign-in")[0] }

// ran is a command that has ended.
type ran struct {
	code        int
	out, stderr string
}

// agentd runs a command that ends by itself.
func agentd(t *testing.T, dir string, environ []string, args ...string) ran {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Getenv(binaryEnv), args...)
	var out, stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(environ...), &out, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		require.NoError(t, err)
	}
	require.NoError(t, ctx.Err(), "agentd %v did not end:\n%s%s", args, &out, &stderr)
	return ran{cmd.ProcessState.ExitCode(), out.String(), stderr.String()}
}
