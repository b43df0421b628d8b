package ui_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// act writes an act on the record.
func (w *world) act(person, action, outcome, resource, reason, session string) {
	w.t.Helper()
	actor := pt.Actor(person, "reviewer")
	w.log.Append(events.Draft{Session: session, Data: &events.Access{
		Action: action, Outcome: outcome, Actor: &actor, Resource: resource, Reason: reason, Via: "console",
	}})
}

func TestTheAccessLogSaysWhoDidWhat(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{}`)
	w.log.Person("p-ben", "Ben\u202e", "reviewer")
	w.act("p-ben", "view", events.AccessOK, q.RequestID, "", "s1")
	w.log.Advance(time.Hour)
	w.act("p-ben", "open", events.AccessRefused, "/system<script>", "this page is for auditors", "")
	w.act("p-dana", "export", events.AccessOK, "history.csv?tool=Bash", "", "")
	w.log.Append(events.Draft{Data: &events.Access{Action: "sign-in", Outcome: events.AccessRefused, Reason: "no such token", Via: "console"}})
	w.settle()
	w.log.Advance(time.Hour)
	eve := w.as("eve")
	w.settle()
	a := eve.get("/access?to=2026-11-30T15:30")
	requireClean(t, a)
	var rows []string
	for i := range a.doc.Find("tbody tr").Length() {
		rows = append(rows, strings.Join(cellsOf(a, i)[1:7], "|"))
	}
	require.Equal(t, []string{
		"Refused|nobody who signed in|signed in||no such token|console",
		"Done|p-dana reviewer|began an export|history.csv?tool=Bash||console",
		"Refused|Ben⟦U+202E⟧ reviewer|tried to open|/system<script>|this page is for auditors|console",
		"Done|Ben⟦U+202E⟧ reviewer|looked at|" + q.RequestID + "||console",
	}, rows)
	require.Equal(t, "/requests/"+q.RequestID, a.doc.Find("td[data-label='On what'] a").AttrOr("href", ""))

	for query, want := range map[string]int{
		"person=p-ben": 2, "action=export": 1, "outcome=refused": 2, "person=p-ben&outcome=refused": 1, "from=2026-11-30T14:30&to=2026-11-30T15:30": 3,
		"person=nobody": 0, "action=%27%3B%20DROP%20TABLE%20access": 0,
	} {
		require.Len(t, rowsOf(eve.get("/access?"+query)), want, query)
	}
	require.Equal(t, http.StatusForbidden, w.as("ben").get("/access").status)
	require.Equal(t, "Outcome refused", chipsIn(eve.get("/access?outcome=refused")))
}

func TestTheAccessLogIsPagedAndExported(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 130 {
		w.act("p-ben", []string{"view", "decide"}[i%2], events.AccessOK, "=thing", "", "")
	}
	w.settle()
	eve := w.as("eve")
	pages := allRows(t, eve, "/access?action=decide")
	require.Len(t, pages, 65)
	b := eve.export("/access/export?action=decide", "csv")
	require.Equal(t, pages, csvPlaces(t, b.body))
	require.Contains(t, b.body, `,"'=thing",`)
	require.Contains(t, b.header.Get("Content-Disposition"), "countersign-access-")
	_, last, _ := cutLast(strings.TrimSpace(eve.export("/access/export?action=decide", "ndjson").body))
	var end exportEnd
	require.NoError(t, json.Unmarshal([]byte(last), &end))
	require.Equal(t, map[string]string{"action": "decide"}, end.Trailer.Filter)
	require.Equal(t, 65, end.Trailer.Count)
}

func TestSessionsAreFiltered(t *testing.T) {
	w := newWorld(t, nil)
	w.log.Person("carla", "Carla", "agent")
	w.ask("waits", "Write", `{}`)
	w.log.Advance(time.Hour)
	run := w.log.Run("done", "mallory", "quick")
	w.log.Append(events.Draft{Session: "done", Data: &events.RunFinished{RunID: run, Reason: events.FinishStop}})
	w.settle()
	eve := w.as("eve")
	for query, want := range map[string]string{
		"": "done waits", "state=waiting": "waits", "state=idle": "done", "asker=carla": "waits", "asker=nobody": "", "agent=deploy-bot": "done waits",
		"from=2026-11-30T14:30": "done", "to=2026-11-30T14:30": "waits", "watch=violations": "",
	} {
		a := eve.get("/sessions?" + query)
		require.Equal(t, http.StatusOK, a.status, query)
		var ids []string
		for i := range a.doc.Find("tbody tr").Length() {
			ids = append(ids, cellsOf(a, i)[7])
		}
		require.Equal(t, want, strings.Join(ids, " "), query)
	}
	require.Equal(t, "Asked by Carla", chipsIn(eve.get("/sessions?asker=carla")))
	require.Equal(t, "State waits for people", chipsIn(eve.get("/sessions?state=waiting")))
	require.Equal(t, "In order", cellsOf(eve.get("/sessions"), 0)[2])
}
