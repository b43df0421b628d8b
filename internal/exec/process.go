package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/countersign-dev/countersign/internal/isolate"
)

// drainTime is how long outputs may stay open after the command itself ended: for
// what a helper of it, such as the last part of a pipeline, still has to say.
const drainTime = 250 * time.Millisecond

// process is a started command. Run's goroutine owns it; it owns the goroutines
// that read the outputs and wait for the end, and all of them are over when
// finish returns.
type process struct {
	command Command
	running
	began   time.Time
	outputs []*capture // standard output, and standard error unless merged
	meter   *meter
}

// start makes the pipes and the process. What it opened is closed if it fails.
func start(c Command) (*process, error) {
	p := &process{command: c, meter: newMeter(c.StopOutput)}
	theirs, err := p.plumb()
	if err == nil {
		p.began = time.Now()
		if c.Sandbox == nil {
			p.running, err = startPlain(c, theirs)
		} else {
			p.running, err = startSandboxed(c, theirs)
		}
	}
	closeAll(theirs)
	if err != nil {
		p.unplumb()
		return nil, err
	}
	return p, nil
}

// plumb returns the files that become the command's 0, 1 and 2.
func (p *process) plumb() (theirs []*os.File, err error) {
	in, err := p.input()
	if err != nil {
		return nil, err
	}
	theirs = append(theirs, in)
	for range 2 {
		if p.command.Merge && len(p.outputs) == 1 {
			return append(theirs, theirs[1]), nil
		}
		output, w, err := newCapture(p.command.MaxOutput, p.meter)
		if err != nil {
			return theirs, err
		}
		p.outputs = append(p.outputs, output)
		theirs = append(theirs, w)
	}
	return theirs, nil
}

func (p *process) input() (*os.File, error) {
	if len(p.command.Stdin) == 0 {
		return devNull()
	}
	return inputFile(p.command.Stdin)
}

// finish waits for the end, or brings it about, and leaves nothing behind.
func (p *process) finish(ctx context.Context) (Result, error) {
	stoppedBy := p.wait(ctx)
	if stoppedBy != "" {
		p.terminate()
		within(p.command.Grace, p.ended())
	}
	// A command that had to be killed has had its time; others may still drain.
	if closed(p.ended()) {
		p.drain()
	}
	// The command is not reaped before this, so its id cannot be anybody else's.
	p.kill()
	<-p.ended()
	p.drain()
	return p.collect(stoppedBy)
}

// wait returns what asks for an early end, or "". An end that has come already
// is the command's own.
func (p *process) wait(ctx context.Context) (stoppedBy string) {
	var late <-chan time.Time
	if p.command.Timeout > 0 {
		timer := time.NewTimer(p.command.Timeout)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-p.ended():
	case <-late:
		stoppedBy = StoppedByTimeout
	case <-p.meter.over:
		stoppedBy = StoppedByOutputLimit
	case <-ctx.Done():
		stoppedBy = stopOf(context.Cause(ctx))
	}
	if closed(p.ended()) {
		return ""
	}
	return stoppedBy
}

// stopOf is the word for the end of a context. A cause may have its own.
func stopOf(cause error) string {
	if named, ok := errors.AsType[interface {
		error
		StoppedBy() string
	}](cause); ok {
		return named.StoppedBy()
	}
	if errors.Is(cause, context.DeadlineExceeded) {
		return StoppedByTimeout
	}
	return StoppedByCancel
}

// drain waits until nobody holds an output any more, but not long.
func (p *process) drain() {
	timer := time.NewTimer(drainTime)
	defer timer.Stop()
	for _, output := range p.outputs {
		select {
		case <-output.done:
		case <-timer.C:
			return
		}
	}
}

// collect reaps the command and takes what was read.
func (p *process) collect(stoppedBy string) (Result, error) {
	end, err := p.reap()
	p.drain() // now nobody of a sandbox holds an output
	result := Result{
		StoppedBy: cmp.Or(stoppedBy, end.stopped), Duration: time.Since(p.began), ExitCode: end.code, Left: end.left,
	}
	streams := p.unplumb()
	result.Stdout = streams[0]
	if len(streams) > 1 {
		result.Stderr = streams[1]
	}
	if end.signal != 0 {
		result.Signal = end.signal.String()
	}
	switch {
	case errors.Is(err, isolate.ErrNotStarted):
		return Result{}, fmt.Errorf("%w: %s in %s: %w", ErrNotStarted, p.command.Argv[0], p.command.Dir, err)
	case err != nil:
		return result, fmt.Errorf("wait for %s: %w", p.command.Argv[0], err)
	}
	return result, nil
}

// unplumb closes our ends, and waits for those who used them.
func (p *process) unplumb() []Stream {
	var streams []Stream
	for _, output := range p.outputs {
		streams = append(streams, output.stream())
	}
	return streams
}

func closeAll(files []*os.File) {
	for _, f := range files {
		_ = f.Close() // the child has its own copy; a merged output is here twice
	}
}

// within waits for done, at most so long.
func within(d time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

func closed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
