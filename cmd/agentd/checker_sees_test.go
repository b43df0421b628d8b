package main_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// A checker that complains of nothing proves nothing: it must see each of the
// things that it is there for, in a log that was good before.
func TestCheckerSees(t *testing.T) {
	h := newHome(t)
	p := h.start()
	s := p.as(agentToken).begin(t, plan{{count("Count", "asks"), count("Tally", "free")}}.query())
	p.as(aliceToken).approve(t, s.until(t, "approval_request").RequestID)
	s.rest(t)
	p.stop()
	l := readLog(t, h.path("data", "journal.db"))
	notes := h.executions()
	request := all[*events.ApprovalRequest](l)[0].RequestID

	for name, c := range map[string]struct {
		keep  func(entry) bool // of the log
		twice events.Type      // told again at the end
		notes []string
		acked acknowledged
		want  string
	}{
		"nothing":            {notes: notes},
		"no approval":        {keep: without(events.TypeDecision), notes: notes, want: "started without its approval"},
		"no request":         {keep: without(events.TypeApprovalRequest), notes: notes, want: "started without its approval"},
		"no start":           {keep: without(events.TypeToolStarted), notes: notes, want: "ran without a start"},
		"no result":          {keep: without(events.TypeToolResult), notes: notes, want: "has the results []"},
		"two starts":         {twice: events.TypeToolStarted, notes: notes, want: "is started again"},
		"two results":        {twice: events.TypeToolResult, notes: notes, want: "has the results [ok ok]"},
		"two executions":     {notes: slices.Concat(notes, notes), want: "ran 2 times"},
		"no execution":       {want: "has not run"},
		"a lost answer":      {notes: notes, acked: acknowledged{request, "decline", "never said", ruled{Accepted: true}}, want: "was accepted, the log has"},
		"an unknown request": {notes: notes, acked: acknowledged{"none", "decline", "never said", ruled{Accepted: true}}, want: "is not in the log"},
	} {
		t.Run(name, func(t *testing.T) {
			changed := *l
			changed.entries = slices.DeleteFunc(slices.Clone(l.entries), func(e entry) bool { return c.keep != nil && !c.keep(e) })
			for _, e := range l.entries {
				if c.twice == e.Type {
					changed.entries = append(changed.entries, e)
				}
			}
			seen := check(&changed)
			seen.ended()
			seen.executions(c.notes)
			if c.acked.request != "" {
				seen.acknowledged(c.acked)
			}
			if c.want == "" {
				require.Empty(t, seen.problems)
				return
			}
			require.Condition(t, func() bool {
				return slices.ContainsFunc(seen.problems, func(p string) bool { return strings.Contains(p, c.want) })
			}, "%q in %q", c.want, seen.problems)
		})
	}
}

// without keeps all entries but those of a type.
func without(kind events.Type) func(entry) bool {
	return func(e entry) bool { return e.Type != kind }
}
