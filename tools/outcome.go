package tools

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/internal/exec"
)

// run starts a command in the workspace, with what all commands have in common.
func (b *workbench) run(ctx context.Context, c exec.Command) (exec.Result, error) {
	if b.hindrance != "" {
		return exec.Result{}, fmt.Errorf("%w: %s", exec.ErrNotStarted, b.hindrance)
	}
	c.Dir, c.Env, c.MaxOutput, c.StopOutput, c.Sandbox = b.workspace.dir, b.env, b.maxResult, stopOutput, b.sandbox
	return exec.Run(ctx, c)
}

// output is what a command printed, whether it failed or not.
func output(r exec.Result) agent.Output {
	out := agent.Output{Content: r.Stdout.Kept, StoppedBy: r.StoppedBy}
	if note := left(r); note != "" && !r.Stdout.Cut() {
		out.Content = append(slices.Clip(out.Content), note...)
	}
	if r.Stdout.Cut() {
		out.FullBytes, out.Digest = r.Stdout.FullBytes, r.Stdout.Digest
	}
	return out
}

// failure says in the model's words how a command failed, with what it printed;
// nil if it did not.
func failure(r exec.Result, timeout time.Duration, printed exec.Stream, most int) error {
	kept := printed.Kept[:min(most, len(printed.Kept))]
	text := "\n" + string(kept)
	if len(kept) == 0 {
		text = " (it printed nothing)"
	}
	if printed.FullBytes > int64(len(kept)) {
		text += fmt.Sprintf("\n[cut: it printed %d bytes]", printed.FullBytes)
	}
	text += left(r)
	switch {
	case r.StoppedBy != "":
		return fmt.Errorf("%w: %s%s", ErrStopped, whyStopped(r.StoppedBy, timeout), text)
	case r.Signal != "":
		return fmt.Errorf("%w: ended by a signal: %s%s", ErrFailed, r.Signal, text)
	case r.ExitCode != 0:
		return fmt.Errorf("%w: exit status %d%s", ErrFailed, r.ExitCode, text)
	}
	return nil
}

func whyStopped(by string, timeout time.Duration) string {
	switch by {
	case exec.StoppedByTimeout:
		return fmt.Sprintf("it was not done within its time, at most %s", timeout)
	case exec.StoppedByOutputLimit:
		return fmt.Sprintf("it printed more than %d MiB", stopOutput>>20)
	case exec.StoppedByMemory:
		return "it took more memory than tools may have"
	case exec.StoppedByProcesses:
		return "it had more processes than tools may have"
	case exec.StoppedByCancel:
		return "the run was cancelled"
	case exec.StoppedByShutdown:
		return "agentd was stopped while the tool ran"
	}
	return by
}

// left says how many processes a command left running, or nothing.
func left(r exec.Result) string {
	if r.Left == 0 {
		return ""
	}
	return fmt.Sprintf("\n[it left %s running, ended with it]", processes(r.Left))
}

func processes(n int) string {
	if n == 1 {
		return "a process"
	}
	return fmt.Sprintf("%d processes", n)
}
