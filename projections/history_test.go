package projections_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// manyCalls writes n free calls in one session, every third of tool Grep, and
// runs the even ones.
func manyCalls(t *testing.T, n int) *pt.Log {
	t.Helper()
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "look around")
	for i := range n {
		tool := []string{"Read", "List", "Grep"}[i%3]
		c := l.Propose("s1", run, "b1", i, tool, fmt.Sprintf(`{"path":"%d"}`, i), events.EffectAllow)
		if i%2 == 0 {
			l.Start(c, nil, "")
			l.Result(c, events.StatusOK, events.CausePolicy, "ok")
		}
	}
	return l
}

func TestPagesOfAHistoryAreWholeAndInOrder(t *testing.T) {
	v := viewsOf(t, manyCalls(t, 50))
	for _, f := range []projections.Filter{{}, {Tool: "Grep"}, {States: []projections.CallState{"ok"}}, {States: []projections.CallState{projections.CallProposed, "ok"}}, {Session: "s1", Tool: "Read"}} {
		whole, err := v.History(t.Context(), all(f), "", 1000)
		require.NoError(t, err)
		require.Empty(t, whole.Next)
		require.NotEmpty(t, whole.Items)

		var paged []int
		for cursor := ""; ; {
			page, err := v.History(t.Context(), all(f), cursor, 7)
			require.NoError(t, err)
			for _, c := range page.Items {
				paged = append(paged, c.Index)
			}
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		var all []int
		for _, c := range whole.Items {
			all = append(all, c.Index)
		}
		require.Equal(t, all, paged, "filter %+v", f)
		require.IsDecreasing(t, all)
	}
}

func TestCursorsOfOtherListsAreRefused(t *testing.T) {
	v := viewsOf(t, manyCalls(t, 10))
	page, err := v.History(t.Context(), all(projections.Filter{Tool: "Read"}), "", 1)
	require.NoError(t, err)
	require.NotEmpty(t, page.Next)
	for _, cursor := range []string{page.Next, "x", "1-2-3", "1-2-3-4", "-1-0-0-", page.Next + "0", "1-99999999999-0-" + page.Next[len(page.Next)-8:]} {
		_, err := v.History(t.Context(), all(projections.Filter{Tool: "Grep"}), cursor, 1)
		require.ErrorIs(t, err, projections.ErrCursor, cursor)
		_, err = v.Sessions(t.Context(), projections.Everything(), cursor, 1)
		require.ErrorIs(t, err, projections.ErrCursor, cursor)
	}
}

func TestFilterTextIsDataNotQuery(t *testing.T) {
	v := viewsOf(t, manyCalls(t, 5))
	for _, hostile := range []string{`' OR 1=1 --`, `"`, `Read' --`, "\x00", "%", "*"} {
		page, err := v.History(t.Context(), all(projections.Filter{Tool: hostile}), "", 10)
		require.NoError(t, err)
		require.Empty(t, page.Items)
	}
}

func TestToolsAreListedOnce(t *testing.T) {
	tools, err := viewsOf(t, manyCalls(t, 20)).Tools(t.Context(), 10)
	require.NoError(t, err)
	require.Equal(t, []string{"Grep", "List", "Read"}, tools)
}

func TestTimelineTellsEveryRecordAndWhetherItCounted(t *testing.T) {
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "release it")
	l.Round("s1", run, "b1", 1, 1, "I will write")
	call, q := l.Protected("s1", run, "b1", 0, "Write", `{}`)
	l.Run("s2", "carla", "something else")
	ben := pt.Actor("ben", "reviewer")
	d := l.Decide(q, ben, events.VerdictApprove, "")
	l.Decide(q, ben, events.VerdictDecline, "too slow")
	l.Start(call, &q, d)
	l.Result(call, events.StatusOK, events.CauseHuman, "ok")
	v := viewsOf(t, l)

	var types []events.Type
	var reasons []fold.Reason
	for cursor := ""; ; {
		page, err := v.Timeline(t.Context(), "s1", cursor, 3)
		require.NoError(t, err)
		for _, s := range page.Items {
			require.Equal(t, "s1", s.Envelope.SessionID)
			types, reasons = append(types, s.Envelope.Type), append(reasons, s.Reason)
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	require.Equal(t, []events.Type{"run_started", "round_finished", "tool_call", "approval_request", "decision", "decision", "tool_started", "tool_result"}, types)
	require.Equal(t, []fold.Reason{"", "", "", "", "", fold.ReasonNotPending, "", ""}, reasons)

	s, err := v.Session(t.Context(), "s1")
	require.NoError(t, err)
	require.Equal(t, projections.SessionRunning, s.State)
	require.Equal(t, 8, s.Records)
	require.Equal(t, 1, s.Calls)
	title, err := v.Text(t.Context(), "", s.Title)
	require.NoError(t, err)
	require.Equal(t, "release it", string(title))
	sessions, err := v.Sessions(t.Context(), projections.Everything(), "", 10)
	require.NoError(t, err)
	require.Equal(t, []string{"s2", "s1"}, []string{sessions.Items[0].ID, sessions.Items[1].ID})
	runs, err := v.Runs(t.Context(), "s1", 10)
	require.NoError(t, err)
	require.Equal(t, run, runs[0].ID)
	one, err := v.RunOf(t.Context(), "s1", run)
	require.NoError(t, err)
	require.Equal(t, runs[0], one)
	round, err := v.Round(t.Context(), "s1", "b1")
	require.NoError(t, err)
	require.Equal(t, 1, round.Calls)
	turn, err := v.Turn(t.Context(), "s1", "b1", 10)
	require.NoError(t, err)
	require.Len(t, turn, 1)
	decisions, err := v.Decisions(t.Context(), turn[0].Request.RequestID, 10)
	require.NoError(t, err)
	require.Len(t, decisions, 2)
	require.True(t, decisions[0].Counted())
	require.False(t, decisions[1].Counted())
}

func TestPeopleHaveTheNameThatTheLogSaidLast(t *testing.T) {
	l := pt.NewLog(t)
	l.Person("p1", "Carla Reyes", "reviewer")
	l.Person("p1", "Carla R. Reyes", "reviewer")
	l.Append(events.Draft{Session: "s1", Data: &events.Access{Action: "view", Outcome: events.AccessOK, Actor: new(pt.Actor("p1", "reviewer")), Resource: "r1", Via: "console"}})
	v := viewsOf(t, l)
	require.Equal(t, "Carla R. Reyes", v.Name(t.Context(), "p1"))
	require.Equal(t, "p2", v.Name(t.Context(), "p2"))

	log, err := v.AccessLog(t.Context(), projections.AccessFilter{}, "", 10)
	require.NoError(t, err)
	require.Equal(t, "r1", log.Items[0].Resource)
	for since, want := range map[time.Time]bool{l.Now().Add(-time.Hour): true, l.Now().Add(time.Hour): false} {
		acted, err := v.Acted(t.Context(), "p1", "view", "r1", since)
		require.NoError(t, err)
		require.Equal(t, want, acted)
	}
	acted, err := v.Acted(t.Context(), "p2", "view", "r1", l.Now().Add(-time.Hour))
	require.NoError(t, err)
	require.False(t, acted)
}
