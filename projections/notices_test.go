package projections_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// Every record of a short story has a notice that names what moved, and no text.
func TestEachRecordHasItsNotice(t *testing.T) {
	l := pt.NewLog(t)
	run := l.Run("s", "carla", "SECRET query")
	l.Round("s", run, "b1", 1, 2, "SECRET")
	c, q := l.Protected("s", run, "b1", 0, "Write", `{"text":"SECRET"}`)
	_, open := l.Protected("s", run, "b1", 1, "Write", `{}`)
	d := l.Decide(q, pt.Actor("p-dana", "reviewer"), events.VerdictApprove, "SECRET")
	l.Start(c, &q, d)
	l.Result(c, events.StatusOK, events.CauseHuman, "SECRET")
	l.Append(events.Draft{Data: &events.Access{Action: "view", Outcome: events.AccessOK, Via: "console"}})
	l.AppendRaw("", []byte("no JSON"))
	v := viewsOf(t, l)

	place, err := v.Place(t.Context())
	require.NoError(t, err)
	require.Equal(t, int64(l.Len()), place.Row)
	require.Equal(t, map[uint32]uint64{0: uint64(l.Len())}, place.Sizes)
	notices, err := v.Notices(t.Context(), 0, place.Row, 100)
	require.NoError(t, err)
	var got []string
	for i, n := range notices {
		require.Equal(t, int64(i+1), n.Row)
		require.Equal(t, uint64(i), n.At.Offset)
		require.NotContains(t, fmt.Sprint(n), "SECRET")
		request := map[string]string{q.RequestID: "ended one", open.RequestID: "open one", "": "none"}[n.Request]
		got = append(got, fmt.Sprintf("%s %s %q %s/%d %s waits=%t", n.Kind, n.Type, n.Session, n.Key.BatchID, n.Key.Index, request, n.Waits))
		if n.Session == "s" {
			require.Equal(t, &projections.Audience{Principal: "carla", Asked: []string{""}}, n.Audience)
		} else {
			require.Nil(t, n.Audience)
		}
	}
	require.Equal(t, []string{
		`session run_started "s" /0 none waits=false`,
		`session round_finished "s" /0 none waits=false`,
		`call tool_call "s" b1/0 ended one waits=false`,
		`request approval_request "s" b1/0 ended one waits=false`,
		`call tool_call "s" b1/1 open one waits=true`,
		`request approval_request "s" b1/1 open one waits=true`,
		`request decision "s" /0 ended one waits=false`,
		`call tool_started "s" b1/0 ended one waits=false`,
		`call tool_result "s" b1/0 ended one waits=false`,
		`access access "" /0 none waits=false`,
		`system  "" /0 none waits=false`,
	}, got)
}

func TestNoticesAreBounded(t *testing.T) {
	l := pt.NewLog(t)
	for i := range 10 {
		l.Run(fmt.Sprint(i), "carla", "q")
	}
	v := viewsOf(t, l)
	for _, c := range []struct {
		after, upTo int64
		limit       int
		want        []int64
	}{
		{0, 10, 3, []int64{1, 2, 3}},
		{7, 10, 100, []int64{8, 9, 10}},
		{7, 8, 100, []int64{8}},
		{10, 10, 100, nil},
	} {
		notices, err := v.Notices(t.Context(), c.after, c.upTo, c.limit)
		require.NoError(t, err)
		var got []int64
		for _, n := range notices {
			got = append(got, n.Row)
		}
		require.Equal(t, c.want, got)
	}
}

// A log that cannot be read gives an error, and nothing made up.
func TestNoticesOfAFailingLog(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("s", "carla", "q")
	v := viewsOf(t, l)
	l.Fail(fmt.Errorf("the disk is gone"))
	_, err := v.Notices(t.Context(), 0, 1, 10)
	require.ErrorContains(t, err, "the disk is gone")
}

// Sees says of an audience what the tables say of the session.
func TestAnAudienceIsWhatTheTablesSay(t *testing.T) {
	l := pt.NewLog(t)
	waiting := map[string]bool{}
	l.Run("own", "ben", "q") // asks nobody
	for i, approvers := range [][]string{nil, {}, {"group:sre"}, {"person:dana"}, {"group:dba", "person:ben"}} {
		session := fmt.Sprint("s", i)
		run := l.Run(session, "carla", "q")
		c := l.Propose(session, run, "b1", 0, "Bash", `{}`, events.EffectAsk)
		q := l.Ask(c, func(q *events.ApprovalRequest) { q.Approvers = approvers })
		waiting[q.RequestID] = i != 3
		if i == 3 {
			l.End(q, events.CauseCancelled)
		}
	}
	v := viewsOf(t, l)
	place, err := v.Place(t.Context())
	require.NoError(t, err)
	notices, err := v.Notices(t.Context(), 0, place.Row, 100)
	require.NoError(t, err)
	all, err := v.Waiting(t.Context())
	require.NoError(t, err)
	for _, r := range []projections.Reader{
		{},
		projections.Everything(),
		{Reviewer: true},
		{Reviewer: true, Person: "dana"},
		{Reviewer: true, Person: "ben"},
		{Person: "ben"},
		{Person: "carla"},
		{Reviewer: true, Person: "x", Groups: []string{"sre", "ops"}},
		{Person: "x", Groups: []string{"sre"}},
	} {
		for _, n := range notices {
			may, err := v.MayRead(t.Context(), r, n.Session)
			require.NoError(t, err)
			require.Equal(t, may, r.Sees(n.Audience), "%+v of session %s", r, n.Session)
		}
		count := 0
		for _, w := range all {
			require.True(t, waiting[w.Request])
			if r.Sees(w.Audience) {
				count++
			}
		}
		n, err := v.CountPending(t.Context(), r)
		require.NoError(t, err)
		require.Equal(t, n, count, "%+v", r)
	}
	require.Len(t, all, len(waiting)-1)
}
