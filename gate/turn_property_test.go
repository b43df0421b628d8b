package gate_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// planned is a call of a random turn, and what happens about it.
type planned struct {
	tool    string // Append asks, Free does not; both add a line to a file
	file    string
	verdict events.Verdict
	line    string // that it adds, where it was changed by who decided
	moves   bool   // somebody else changes its file just before it is carried
	during  bool   // and again while the tool writes
}

func drawPlan(r *rapid.T) []planned {
	plan := make([]planned, rapid.IntRange(1, 5).Draw(r, "calls"))
	for i := range plan {
		plan[i] = planned{
			tool: rapid.SampledFrom([]string{"Append", "Append", "Free"}).Draw(r, "tool"),
			file: rapid.SampledFrom([]string{"a", "a", "b"}).Draw(r, "file"),
			verdict: rapid.SampledFrom([]events.Verdict{
				events.VerdictApprove, events.VerdictApprove, events.VerdictDecline, events.VerdictModify,
			}).Draw(r, "verdict"),
			line:   fmt.Sprint("line", i),
			moves:  rapid.IntRange(0, 5).Draw(r, "moves") == 0,
			during: rapid.IntRange(0, 5).Draw(r, "during") == 0,
		}
	}
	return plan
}

// For random turns of changes to two files: every call gets one result; what
// writes wrote over exactly what its request showed; nothing starts whose target
// was seen to have moved.
func TestTurnsOfChangesKeepToWhatWasShown(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		plan := drawPlan(r)
		synctest.Test(t, func(t *testing.T) { playTurn(t, plan) })
	})
}

func playTurn(t *testing.T, plan []planned) {
	f := newFiles()
	f.set("a", "first\n")
	h := edits(t, f, under(t, policy.Config{RequiredTools: []string{"Append"}}), func(o *gate.Options) {
		free := f.append()
		free.Name = "Free"
		o.Tools = append(o.Tools, free)
	})
	p := proposal("s", "")
	for i, c := range plan {
		p.Calls = append(p.Calls, gate.ProposedCall{Index: i, Tool: c.tool, Arguments: appends(c.file + " " + c.line), AtOnce: i%2 == 0})
	}
	require.NoError(t, h.Propose(t.Context(), p))
	for i := range plan {
		plan[i].decide(t, h, i)
	}
	for i := range plan {
		plan[i].carry(t, h, f, i)
	}
	require.NoError(t, h.View(t.Context(), "s", func(s *fold.Session) { require.False(t, s.Busy()) }))
}

func (c *planned) decide(t *testing.T, h *house, i int) {
	t.Helper()
	if c.tool != "Append" {
		return
	}
	if c.verdict == events.VerdictModify {
		c.line = fmt.Sprint("changed", i)
	}
	h.accepted(t, ruling(h.request(t, "s", i), c.verdict, alice, func(r *gate.Ruling) {
		if c.verdict == events.VerdictModify {
			r.Arguments = appends(c.file + " " + c.line)
		}
	}))
}

// carry carries a call and holds its result against the file.
func (c *planned) carry(t *testing.T, h *house, f *files, i int) {
	t.Helper()
	if c.moves {
		f.set(c.file, f.get(c.file)+"moved\n")
	}
	before, starts := f.get(c.file), h.log.count(events.TypeToolStarted)
	f.changed = nil
	if c.during {
		f.changed = func() { f.set(c.file, f.get(c.file)+"meanwhile\n") }
	}
	r, _ := h.carry(t, "s", i, func(_ context.Context, arguments []byte) gate.Output { return f.free(t, arguments) })
	started := h.log.count(events.TypeToolStarted) - starts

	wrote := before + c.line + "\n"
	if c.tool == "Free" {
		require.Equal(t, []any{events.StatusOK, wrote}, []any{r.Status, f.get(c.file)})
		return
	}
	shown := *h.request(t, "s", i).Target
	switch {
	case c.verdict == events.VerdictDecline:
		require.Equal(t, []any{events.StatusDeclined, 0, before}, []any{r.Status, started, f.get(c.file)})
	case shown != target(c.file, before):
		require.Equal(t, []any{events.StatusStale, events.CauseStale, 0, before}, []any{r.Status, r.Cause, started, f.get(c.file)})
	case c.during:
		require.Equal(t, []any{events.StatusError, events.CauseStale, 1, before + "meanwhile\n"}, []any{r.Status, r.Cause, started, f.get(c.file)})
	default:
		require.Equal(t, []any{events.StatusOK, events.CauseHuman, 1, wrote}, []any{r.Status, r.Cause, started, f.get(c.file)})
	}
}

// free is the tool without a target: it writes over whatever is there.
func (f *files) free(t *testing.T, arguments []byte) gate.Output {
	t.Helper()
	name, line, err := read(arguments)
	require.NoError(t, err)
	f.set(name, f.get(name)+line+"\n")
	return gate.Output{Content: []byte("appended")}
}
