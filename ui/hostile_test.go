package ui_test

import (
	"bufio"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// hostileTexts are the arguments of cases 058, 060, 062, 064, 065 and 096.
func hostileTexts(t *testing.T) []shownCall {
	t.Helper()
	var all []shownCall
	for _, file := range []string{
		"058/approval.json", "058/approval-all12.json", "060/approval.json", "062/approval.json", "065/approval-invalid-json.json",
		"065/approval-string.json", "065/approval-array.json", "065/approval-wrong-type.json", "096/call.json",
	} {
		all = append(all, readCall(t, caseFile(t, file)))
	}
	for lines := bufio.NewScanner(strings.NewReader(string(caseFile(t, "064/calls.jsonl")))); lines.Scan(); {
		all = append(all, readCall(t, lines.Bytes()))
	}
	return all
}

// Whatever is compared, changed or decided with others is as inert there as on
// its own page.
func TestHostileTextsAreInertOnTheWayToADecision(t *testing.T) {
	for _, c := range hostileTexts(t) {
		w := newWorld(t, nil)
		_, old := w.ask("s\u202e1", c.ToolName, c.Arguments)
		w.log.Decide(old, w.log.Person("p-dana", "Dana\u202e<script>", "reviewer"), events.VerdictApprove, c.Arguments)
		_, q := w.ask("s2", c.ToolName, strings.Replace(c.Arguments, "e", "3", 1))
		ben := w.as("ben")
		page := ben.get("/requests/" + q.RequestID)
		requireClean(t, page)
		require.Contains(t, page.text(".sheet.below .theirs h3"), "Against the last approved call")
		bulk := ben.get(selectPath(q.RequestID))
		require.Equal(t, http.StatusOK, bulk.status)
		requireClean(t, bulk)
		requireClean(t, ben.get("/requests/"+old.RequestID+"?decided=1"))
		form := page.fields("form.decide")
		form.Set("arguments", c.Arguments)
		preview := ben.post("/requests/"+q.RequestID+"/change", form)
		require.Contains(t, []int{http.StatusOK, http.StatusUnprocessableEntity}, preview.status)
		requireClean(t, preview)
		form.Set("verdict", "decline")
		form.Set("comment", "no\u202e<script>")
		form.Del("arguments")
		require.Equal(t, http.StatusSeeOther, ben.post("/requests/"+q.RequestID+"/decide", form).status)
		requireClean(t, ben.get("/requests/"+q.RequestID+"?decided=1"))
	}
}
