package main_test

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The race of the real program: a file is changed between the request and the
// decision. The call does not start, the model is told, the file keeps what
// somebody else wrote; and what was shown is what runs.
func TestAFileThatIsChangedBeforeTheDecision(t *testing.T) {
	const write = `{"path":"note.txt","content":"as the model wants it\n"}`
	for _, c := range []struct {
		name     string
		turn     []ask
		before   string // of the file; "": there is none
		moves    string // what somebody writes before the decision; "": nothing
		statuses []string
		after    string
	}{
		{"as it was", []ask{{"Write", write}}, "", "", []string{"ok"}, "as the model wants it\n"},
		{"made meanwhile", []ask{{"Write", write}}, "", "theirs\n", []string{"stale"}, "theirs\n"},
		{"changed meanwhile", []ask{{"Write", write}}, "old\n", "theirs\n", []string{"stale"}, "theirs\n"},
		{"two changes of one turn", []ask{{"Write", write}, {"Write", `{"path":"note.txt","content":"and again\n"}`}}, "old\n", "", []string{"ok", "ok"}, "and again\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newHome(t)
			note := h.path("workspace", "note.txt")
			if c.before != "" {
				require.NoError(t, os.WriteFile(note, []byte(c.before), 0o600))
			}
			p := h.start()
			query := plan{c.turn}.query()
			s := p.as(agentToken).begin(t, query)
			var requests []string
			for range c.turn {
				requests = append(requests, s.until(t, "approval_request").RequestID)
			}
			if c.moves != "" {
				require.NoError(t, os.WriteFile(note, []byte(c.moves), 0o600))
			}
			for _, id := range requests {
				p.as(aliceToken).approve(t, id)
			}
			for _, want := range c.statuses {
				require.Equal(t, want, s.until(t, "tool_result").ToolResults[0].Status)
			}
			require.Equal(t, "STOP", s.rest(t).Reason)
			require.Equal(t, c.statuses[0] == "stale", strings.Contains(h.model.told(query, callID(0, 0)), "The tool was not run."))
			content, err := os.ReadFile(note)
			require.NoError(t, err)
			require.Equal(t, c.after, string(content))
			p.stop()
			seen := check(readLog(t, h.path("data", "journal.db")))
			seen.ended()
			require.Empty(t, seen.problems)
		})
	}
}
