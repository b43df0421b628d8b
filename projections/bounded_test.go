package projections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// actsOf writes n acts of a person.
func actsOf(l *pt.Log, n int, person, action, outcome string) {
	drafts := make([]events.Draft, n)
	for i := range drafts {
		actor := pt.Actor(person, "reviewer")
		drafts[i] = events.Draft{Data: &events.Access{Action: action, Outcome: outcome, Actor: &actor, Resource: "thing", Via: "console"}}
	}
	l.Append(drafts...)
}

// What is rare in a long access log is found over several pages, each of which
// says how far back it looked.
func TestAPageLooksAtSoManyActsAndSaysSo(t *testing.T) {
	l := pt.NewLog(t)
	actsOf(l, 3, "eve", "export", events.AccessOK)
	for range 25 {
		actsOf(l, 1000, "ben", "view", events.AccessOK)
	}
	actsOf(l, 1, "eve", "export", events.AccessRefused)
	v := open(t, "", l)
	follow(t, v, l.Len())
	pages := func(f projections.AccessFilter) (counts []int) {
		for cursor := ""; ; {
			page, err := v.AccessLog(t.Context(), f, cursor, 100)
			require.NoError(t, err)
			counts = append(counts, len(page.Items))
			require.Equal(t, page.Next != "" && len(page.Items) < 100, page.Reached != (events.Position{}))
			if cursor = page.Next; cursor == "" || len(counts) > 9 {
				return counts
			}
		}
	}
	require.Equal(t, []int{1, 0, 3}, pages(projections.AccessFilter{Action: "export"}))
	require.Equal(t, []int{0, 0, 3}, pages(projections.AccessFilter{Action: "export", Outcome: events.AccessOK}))
	require.Equal(t, []int{4}, pages(projections.AccessFilter{Person: "eve"}), "an index answers who it was")
	require.Equal(t, []int{1}, pages(projections.AccessFilter{Person: "eve", Outcome: events.AccessRefused}))
	require.Equal(t, []int{0}, pages(projections.AccessFilter{Action: "export", Until: l.Now().Add(-time.Hour)}))

	page, err := v.AccessLog(t.Context(), projections.AccessFilter{Action: "export"}, "", 100)
	require.NoError(t, err)
	_, err = v.AccessLog(t.Context(), projections.AccessFilter{Action: "view"}, page.Next, 100)
	require.ErrorIs(t, err, projections.ErrCursor)
}

// A page of sessions without rights in any of them ends after so many as well.
func TestAPageOfSessionsLooksAtSoMany(t *testing.T) {
	l := pt.NewLog(t)
	for _, session := range []string{"a", "b", "c"} {
		l.Run(session, "carla", "hello")
	}
	l.Run("d", "mallory", "hello")
	v := open(t, "", l)
	follow(t, v, l.Len())
	ids := func(f projections.SessionFilter) (ids []string) {
		for cursor := ""; ; {
			page, err := v.FindSessions(t.Context(), f, cursor, 2)
			require.NoError(t, err)
			for _, s := range page.Items {
				ids = append(ids, s.ID)
			}
			if cursor = page.Next; cursor == "" {
				return ids
			}
		}
	}
	all := projections.Everything()
	at := l.Now().Add(-3 * time.Millisecond) // when session b began
	require.Equal(t, []string{"d", "c", "b", "a"}, ids(projections.SessionFilter{Reader: all}))
	require.Equal(t, []string{"c", "b", "a"}, ids(projections.SessionFilter{Reader: all, Asker: "carla"}))
	require.Equal(t, []string{"c", "b", "a"}, ids(projections.SessionFilter{Reader: projections.Reader{Person: "carla"}}))
	require.Equal(t, []string{"d", "c", "b"}, ids(projections.SessionFilter{Reader: all, From: at}))
	require.Equal(t, []string{"a"}, ids(projections.SessionFilter{Reader: all, Until: at}))
	require.Equal(t, []string{"d", "c", "b", "a"}, ids(projections.SessionFilter{Reader: all, State: projections.SessionRunning, Agent: "deploy-bot"}))
	require.Empty(t, ids(projections.SessionFilter{Reader: all, State: projections.SessionBlocked}))
	require.Empty(t, ids(projections.SessionFilter{Reader: all, Agent: "' OR 1=1 --"}))
	require.Empty(t, ids(projections.SessionFilter{Reader: all, Broken: true}))
	require.Empty(t, ids(projections.SessionFilter{}), "the zero reader sees nothing")
}
