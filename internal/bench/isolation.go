package bench

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

const (
	// isolationSamples is how many commands a round starts of each kind.
	isolationSamples = 40
	// mostAdded is what isolation may add to a command.
	mostAdded = 15 * time.Millisecond
	// betweenCommands is how long an agent takes at the very least from a result
	// to its next call.
	betweenCommands = 50 * time.Millisecond
	// ballast makes this process as large as an agentd with some work behind
	// it: what is forked is paid for by the page.
	ballast = 64 << 20
	trivial = "/bin/true"
)

// measureIsolation measures what starting a command costs, in a sandbox and
// without one, beside fork and exec. All three run to their end.
func (b *bench) measureIsolation(ctx context.Context) ([]Row, error) {
	dir, err := b.folder()
	if err != nil {
		return nil, err
	}
	sandbox, err := isolate.New(isolate.Probe(ctx), isolate.Config{Writable: []string{dir}, Hidden: []string{dir + "-data"}})
	if err != nil {
		return nil, err
	}
	defer sandbox.Close()
	held := make([]byte, ballast)
	for i := range held {
		held[i] = byte(i)
	}
	defer runtime.KeepAlive(held)
	command := exec.Command{Argv: []string{trivial}, Dir: dir, Env: exec.Environment(nil)}
	isolated, open := command, command
	isolated.Sandbox = sandbox
	var rows []Row
	for _, of := range []struct {
		what    string
		command exec.Command
		pause   time.Duration
		most    time.Duration
	}{
		{"a command in a sandbox", isolated, betweenCommands, mostAdded},
		{"in a sandbox, right after another", isolated, 0, 0},
		{"a command without one", open, betweenCommands, 0},
	} {
		pairs, err := b.rounds(isolationSamples, func() (ours, limit time.Duration, err error) {
			<-time.After(of.pause)
			return runAndFork(ctx, of.command)
		})
		if err != nil {
			return nil, err
		}
		rows = append(rows, added(of.what, of.most, pairs))
	}
	return rows, nil
}

// runAndFork starts a command as a tool is started, and by itself.
func runAndFork(ctx context.Context, c exec.Command) (ours, limit time.Duration, err error) {
	began := time.Now()
	result, err := exec.Run(ctx, c)
	ours = time.Since(began)
	if err != nil || result.ExitCode != 0 {
		return 0, 0, fmt.Errorf("%s ended with %d: %w", c.Argv[0], result.ExitCode, err)
	}
	began = time.Now()
	p, err := os.StartProcess(c.Argv[0], c.Argv, &os.ProcAttr{Env: c.Env, Dir: c.Dir})
	if err != nil {
		return 0, 0, err
	}
	_, err = p.Wait()
	return ours, time.Since(began), err
}

// added is the row of a time that should be at most so much more than the
// limit's; 0 sets no goal.
func added(what string, most time.Duration, pairs []pair) Row {
	more := median(pairs, func(p pair) time.Duration { return p.ours.p50 - p.limit.p50 })
	row := latency(what, 0, pairs, "adds "+ms(more)+" (p50)")
	row.Goal, row.Met = "", more <= most
	if most > 0 {
		row.Goal = "+ ≤ " + ms(most)
	}
	return row
}
