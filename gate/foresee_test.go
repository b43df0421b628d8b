package gate_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// edits is a gate in which Append asks, over some files.
func edits(t *testing.T, f *files, changes ...func(*gate.Options)) *house {
	t.Helper()
	return openWith(t, newMemLog(time.Now), time.Minute, func(o *gate.Options) {
		under(t, policy.Config{RequiredTools: []string{"Append", "Bash"}})(o)
		f.with(o)
		for _, change := range changes {
			change(o)
		}
	})
}

// append proposes calls of Append in one turn, "NAME LINE" each.
func (h *house) append(t *testing.T, calls ...string) {
	t.Helper()
	p := proposal("s", "")
	for i, c := range calls {
		p.Calls = append(p.Calls, gate.ProposedCall{Index: i, Tool: "Append", Arguments: appends(c)})
	}
	require.NoError(t, h.Propose(t.Context(), p))
}

func (h *house) preview(t *testing.T, q *fold.Request) string {
	t.Helper()
	b, err := h.log.Payload(t.Context(), q.Carrier, q.Preview)
	require.NoError(t, err)
	return string(b)
}

// never fails a test in which a tool is run other than against its target.
func never(t *testing.T) gate.Run {
	return func(context.Context, []byte) gate.Output {
		t.Error("what has a target is not run without it")
		return gate.Output{Failed: true}
	}
}

// The request says what the call would change, and a call whose target has moved
// by then does not start.
func TestTheTargetIsLookedAtBeforeTheStart(t *testing.T) {
	changed := func(f *files) { f.set("a", "other\n") }
	for _, c := range []struct {
		name   string
		before string // content of the file when it was asked
		moves  func(*files)
		during bool // it moves after the start, before the tool writes
		status events.Status
		cause  events.Cause
		text   string
		starts int
		after  string
	}{
		{"as it was", "one\n", func(*files) {}, false, events.StatusOK, events.CauseHuman, "appended", 1, "one\ntwo\n"},
		{"a new file", "", func(*files) {}, false, events.StatusOK, events.CauseHuman, "appended", 1, "two\n"},
		{"changed", "one\n", changed, false, events.StatusStale, events.CauseStale, `the content of "a" is not the one that the change was made for`, 0, "other\n"},
		{"made meanwhile", "", changed, false, events.StatusStale, events.CauseStale, `"a" did not exist and was made since`, 0, "other\n"},
		{"removed", "one\n", func(f *files) { f.set("a", "") }, false, events.StatusStale, events.CauseStale, `"a" was removed since`, 0, ""},
		{"changed after the start", "one\n", changed, true, events.StatusError, events.CauseStale, "changed meanwhile", 1, "other\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFiles()
			f.set("a", c.before)
			h := edits(t, f)
			h.append(t, "a two")
			q := h.request(t, "s", 0)
			require.Equal(t, target("a", c.before), *q.Target)
			require.Equal(t, "+two\n", h.preview(t, q))
			require.Equal(t, gate.MediaDiff, q.Preview.MediaType)
			h.accepted(t, ruling(q, events.VerdictApprove, alice))
			if c.during {
				f.changed = func() { c.moves(f) }
			} else {
				c.moves(f)
			}
			r, text := h.carry(t, "s", 0, never(t))
			require.Equal(t, []any{c.status, c.cause}, []any{r.Status, r.Cause})
			require.Contains(t, text, c.text)
			require.Equal(t, c.starts, h.log.count(events.TypeToolStarted))
			require.Equal(t, c.starts, f.changes)
			require.Equal(t, c.after, f.get("a"))
		})
	}
}

// Of two changes of one file in a turn the second stands on the first: both run,
// or the second ends stale.
func TestChangesOfOneFileInATurn(t *testing.T) {
	for _, c := range []struct {
		name   string
		first  gate.Ruling
		status []events.Status
		after  string
	}{
		{"both approved", gate.Ruling{Verdict: events.VerdictApprove}, []events.Status{events.StatusOK, events.StatusOK}, "one\ntwo\nthree\n"},
		{"the first declined", gate.Ruling{Verdict: events.VerdictDecline}, []events.Status{events.StatusDeclined, events.StatusStale}, "one\n"},
		{"the first changed", gate.Ruling{Verdict: events.VerdictModify, Arguments: appends("a 2")}, []events.Status{events.StatusOK, events.StatusStale}, "one\n2\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := newFiles()
			f.set("a", "one\n")
			h := edits(t, f)
			h.append(t, "a two", "a three")
			require.Equal(t, target("a", "one\ntwo\n"), *h.request(t, "s", 1).Target)
			h.accepted(t, ruling(h.request(t, "s", 0), c.first.Verdict, alice, func(r *gate.Ruling) { r.Arguments = c.first.Arguments }))
			h.accepted(t, ruling(h.request(t, "s", 1), events.VerdictApprove, alice))
			for i, want := range c.status {
				r, _ := h.carry(t, "s", i, never(t))
				require.Equal(t, want, r.Status)
			}
			require.Equal(t, c.after, f.get("a"))
		})
	}
}

// A modification is foreseen anew, over the calls before it under their own
// current text.
func TestAModificationIsForeseenAnew(t *testing.T) {
	f := newFiles()
	f.set("a", "one\n")
	h := edits(t, f)
	h.append(t, "a two", "a three")
	h.accepted(t, ruling(h.request(t, "s", 0), "", alice, becomes(string(appends("a 2")))))
	f.set("b", "x\n")
	q := h.request(t, "s", 1)
	require.Contains(t, h.refused(t, ruling(q, "", alice, becomes(`{"command":"b"}`))), "the changed arguments cannot run: there is no line to append")
	h.accepted(t, ruling(h.request(t, "s", 1), "", alice, becomes(string(appends("a 3")))))
	q = h.request(t, "s", 1)
	require.Equal(t, target("a", "one\n2\n"), *q.Target)
	require.Equal(t, "+3\n", h.preview(t, q))
	for i := range 2 {
		r, _ := h.carry(t, "s", i, never(t))
		require.Equal(t, events.StatusOK, r.Status)
	}
	require.Equal(t, "one\n2\n3\n", f.get("a"))
}

// What the tool would refuse is answered without asking anybody.
func TestWhatTheToolWouldRefuse(t *testing.T) {
	f := newFiles()
	h := edits(t, f)
	h.append(t, "a", strings.Repeat("n", events.MaxNameBytes+1)+" x", "b x")
	for i, why := range []string{"there is no line to append", "the path has 257 bytes, at most 256"} {
		r, text := h.result(t, "s", i)
		require.Equal(t, []any{events.StatusError, events.CausePolicy, "target"}, []any{r.Status, r.Cause, r.Rule})
		require.Contains(t, text, "The tool was not run: ")
		require.Contains(t, text, why)
	}
	require.Equal(t, fold.Pending, h.request(t, "s", 2).State)
	f.panics = true
	p := proposal("s2", "")
	p.Calls = []gate.ProposedCall{{Tool: "Append", Arguments: appends("a x")}}
	require.NoError(t, h.Propose(t.Context(), p))
	r, _ := h.result(t, "s2", 0)
	require.Equal(t, "target", r.Rule)
}

// A request from before targets were named, and one whose tool does not change
// files any more, are approvals of something else.
func TestARequestWithoutItsTarget(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, after func(*gate.Tool)
		text          string
	}{
		{"of an earlier version", func(t *gate.Tool) { t.Changes = nil }, func(*gate.Tool) {}, "does not say what it would change"},
		{"for a later version", func(*gate.Tool) {}, func(t *gate.Tool) { t.Changes = nil }, "does not say what it changes any more"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := edits(t, newFiles(), redefined("Append", c.before))
			h.append(t, "a two")
			h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
			h.stop()
			log := h.log
			h = edits(t, newFiles(), redefined("Append", c.after), func(o *gate.Options) { o.Log, o.Boot = log.as("agentd/n/b2"), "b2" })
			h.log = log
			r, text := h.carry(t, "s", 0, never(t))
			require.Equal(t, events.StatusStale, r.Status)
			require.Contains(t, text, c.text)
		})
	}
}

// Free calls are bound to nothing, but what they change is foreseen for those
// after them.
func TestAFreeChangeBeforeAProtectedOne(t *testing.T) {
	f := newFiles()
	h := edits(t, f, under(t, policy.Config{RequiredTools: []string{"Append"}}), func(o *gate.Options) {
		free := f.append()
		free.Name = "Free"
		o.Tools = append(o.Tools, free)
	})
	p := proposal("s", "")
	p.Calls = []gate.ProposedCall{{Tool: "Free", Arguments: appends("a one")}, {Index: 1, Tool: "Append", Arguments: appends("a two")}}
	require.NoError(t, h.Propose(t.Context(), p))
	require.Equal(t, target("a", "one\n"), *h.request(t, "s", 1).Target)
	h.accepted(t, ruling(h.request(t, "s", 1), events.VerdictApprove, alice))
	_, text := h.carry(t, "s", 0, func(context.Context, []byte) gate.Output {
		f.set("a", "one\n")
		return gate.Output{Content: []byte("ran free")}
	})
	require.Equal(t, "ran free", text)
	r, _ := h.carry(t, "s", 1, never(t))
	require.Equal(t, events.StatusOK, r.Status)
	require.Equal(t, "one\ntwo\n", f.get("a"))
}

// A diff that is too long to be kept is never cut: the request says so, with
// what the tool says in short.
func TestALongPreview(t *testing.T) {
	h := edits(t, newFiles())
	h.append(t, "a "+strings.Repeat("x", gate.MaxPreview))
	q := h.request(t, "s", 0)
	require.Equal(t, events.MediaText, q.Preview.MediaType)
	require.Equal(t, "adds a line\nThe diff has 524290 bytes, more than is kept with a request.", h.preview(t, q))
}
