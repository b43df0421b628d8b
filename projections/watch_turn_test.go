package projections_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// Each call of a turn has its result before the next round, and before the run
// ends.
func TestTheWatchFindsCallsWithoutAnAnswer(t *testing.T) {
	for name, story := range map[string]struct {
		open   bool // the second call of the turn stays open
		unsaid bool // or was never recorded
		next   bool // another round comes, else the run ends
	}{
		"the run ends":                      {open: true},
		"the next round comes":              {open: true, next: true},
		"a call is not in the log":          {unsaid: true},
		"nor when the next round comes":     {unsaid: true, next: true},
		"all answered, and the run ends":    {},
		"all answered, and on to a new one": {next: true},
	} {
		t.Run(name, func(t *testing.T) {
			l := pt.NewLog(t)
			run := l.Run("s", "carla", "do it")
			l.Round("s", run, "b1", 1, 2, "two calls")
			one := l.Propose("s", run, "b1", 0, "Read", `{}`, events.EffectAllow)
			l.Start(one, nil, "")
			l.Result(one, events.StatusOK, events.CausePolicy, "text")
			if !story.unsaid {
				two := l.Propose("s", run, "b1", 1, "Read", `{}`, events.EffectAllow)
				if !story.open {
					l.Start(two, nil, "")
					l.Result(two, events.StatusOK, events.CausePolicy, "text")
				}
			}
			if story.next {
				l.Round("s", run, "b2", 2, 0, "more")
			}
			l.Append(events.Draft{Session: "s", Data: &events.RunFinished{RunID: run, Reason: events.FinishError, Rounds: 1, Calls: 2}})

			v := viewsOf(t, l)
			found, err := v.ViolationsOf(t.Context(), "s", 10)
			require.NoError(t, err)
			if !story.open && !story.unsaid {
				require.Empty(t, found)
				return
			}
			require.Len(t, found, 1, "once, though the run ended as well")
			require.Equal(t, projections.ResponseMissing, found[0].Invariant)
			require.Equal(t, events.CallKey{BatchID: "b1", Index: 1}, found[0].Key)
			require.Equal(t, "1 of 2 calls of the turn before have no result", found[0].Detail)
		})
	}
}

// M42: written by hand into the log, and it shows: the counter rises by one, and
// the session says so.
func TestAnExecutionByHandShows(t *testing.T) {
	l := newTale(t)
	c, _ := l.protected("b1")
	v := viewsOf(t, l.Log)
	const counter = `countersign_gate_invariant_violations_total{invariant="executed_without_approval"}`
	require.Equal(t, 0, int(scrape(t, v)[counter]))

	l.byHand(c, nil)
	follow(t, v, l.Len())
	require.Equal(t, 1, int(scrape(t, v)[counter]))
	session, err := v.Session(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, 1, session.Violations)
	page, err := v.Violations(t.Context(), projections.Everything(), "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	require.Equal(t, c.CallKey, page.Items[0].Key)

	stranger, err := v.Violations(t.Context(), projections.Reader{Person: "mallory"}, "", 10)
	require.NoError(t, err)
	require.Empty(t, stranger.Items, "who may not read the session learns nothing of it")
}

func TestViolationsComeInPages(t *testing.T) {
	l := newTale(t)
	c, _ := l.protected("b1")
	for range 5 {
		l.byHand(c, nil)
	}
	v := viewsOf(t, l.Log)
	var ids []string
	for cursor, n := "", 0; n == 0 || cursor != ""; n++ {
		page, err := v.Violations(t.Context(), projections.Everything(), cursor, 2)
		require.NoError(t, err)
		for _, f := range page.Items {
			ids = append(ids, f.EventID)
		}
		cursor = page.Next
	}
	require.Len(t, ids, 5)
	_, err := v.Violations(t.Context(), projections.Everything(), "12-0-0-rubbish", 2)
	require.ErrorIs(t, err, projections.ErrCursor)
}
