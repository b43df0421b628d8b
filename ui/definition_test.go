package ui_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// defines writes a definition of Write. Calls of stories name the digest of
// pt.Digest("Write"), whose text is "Write".
func (w *world) defines(content string) {
	w.t.Helper()
	p := events.NewPayload([]byte(content))
	w.log.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: events.DefineTool, Name: "Write", Digest: events.DigestOf([]byte(content)), Content: p.Ref(events.MediaJSON),
	}})
	w.log.Advance(time.Second)
}

// A request of a tool whose definition changed says so above the arguments, with
// the difference; the tool's page says who accepted which.
func TestADefinitionThatChanged(t *testing.T) {
	w := newWorld(t, nil)
	w.defines(`{"command":["old\u202e<b>"]}`)
	w.defines("Write")
	call, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	a := ben.get("/requests/" + q.RequestID)
	require.Equal(t, http.StatusOK, a.status)
	requireClean(t, a)
	changed := a.text(".redefined")
	require.Contains(t, changed, "This is not the tool that was accepted last. If you approve this call and it starts, the new definition is accepted")
	require.Contains(t, changed, "Accepted last: the first that the log has, 2026-11-30")
	require.Contains(t, a.text(".redefined .diff .d"), `old`)
	require.Equal(t, "+ Write", a.text(".redefined .diff .a"))
	require.Less(t, strings.Index(a.body, "The definition changed"), strings.Index(a.body, "exactly as the tool gets them"), "it stands above the arguments")
	tools := ben.get("/tools/view?name=Write")
	require.Contains(t, tools.text("header.head"), "Changed, not accepted")
	require.Contains(t, rows(tools, "[aria-label^=Definitions]", "Accepted")[0][0], "not accepted")

	w.log.Start(call, &q, w.log.Decide(q, w.log.Person("p-ben", "Ben", "reviewer"), events.VerdictApprove, ""))
	w.settle()
	tools = ben.get("/tools/view?name=Write")
	requireClean(t, tools)
	require.NotContains(t, tools.text("header.head"), "not accepted")
	list := rows(tools, "[aria-label^=Definitions]", "Accepted")
	require.Contains(t, list[0][0], "by Ben, 2026-11-30")
	require.Contains(t, list[1][0], "the first that the log has")
	require.Contains(t, ben.get("/requests/"+q.RequestID).text(".redefined"), "This is not the tool that was accepted last.", "what was decided shows what was seen")
	require.NotContains(t, ben.get("/requests/"+q.RequestID).text(".redefined"), "If you approve")

	w.log.Advance(time.Minute)
	_, later := w.ask("s2", "Write", `{"path":"b"}`)
	require.Zero(t, ben.get("/requests/"+later.RequestID).doc.Find(".redefined").Length())
}

// What people declined of the like before stands on the page, with the comment and
// the difference; of what the reader may not see, only that it was.
func TestWhatWasDeclinedBefore(t *testing.T) {
	w := newWorld(t, nil)
	dana := w.log.Person("p-dana", "Dana", "reviewer")
	dana.Groups = []string{"sre"}
	for i, approvers := range [][]string{{"group:sre"}, {}} {
		session := fmt.Sprint("s", i)
		run := w.log.Run(session, "carla", "please")
		c := w.log.Propose(session, run, "b1", 0, "Write", fmt.Sprintf(`{"path":"a","n":%d}`, i), events.EffectAsk)
		q := w.log.Ask(c, func(e *events.ApprovalRequest) { e.Approvers = approvers })
		w.log.Decide(q, dana, events.VerdictDecline, fmt.Sprintf("no <b>%d</b>", i))
		w.log.Result(c, events.StatusDeclined, events.CauseHuman, "declined")
		w.log.Advance(time.Minute)
	}
	_, q := w.ask("s5", "Write", `{"path":"a","n":7}`)
	ben, eve := w.as("ben"), w.as("eve")
	a := ben.get("/requests/" + q.RequestID)
	requireClean(t, a)
	require.Contains(t, a.text("#request"), "2 times in the 30 days before")
	items := a.doc.Find(".earlier > li")
	require.Equal(t, 2, items.Length())
	first, second := strings.Join(strings.Fields(items.Eq(0).Text()), " "), strings.Join(strings.Fields(items.Eq(1).Text()), " ")
	require.Contains(t, first, "declined by Danano <b>1</b>")
	require.Contains(t, first, `"n": 7`)
	require.Contains(t, second, "not yours to see")
	require.NotContains(t, second, "<b>0</b>")
	require.Contains(t, eve.get("/requests/"+q.RequestID).text(".earlier"), "no <b>0</b>")
	require.Equal(t, pt.Digest("Write"), events.DigestOf([]byte("Write")))
}
