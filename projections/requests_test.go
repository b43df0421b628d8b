package projections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

func TestPendingRequestsComeOldestFirst(t *testing.T) {
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "release it")
	_, first := l.Protected("s1", run, "b1", 0, "Write", `{"path":"a"}`)
	_, second := l.Protected("s1", run, "b1", 1, "Bash", `{"command":"ls"}`)
	_, third := l.Protected("s1", run, "b1", 2, "Edit", `{"path":"c"}`)
	l.Decide(second, pt.Actor("ben", "reviewer"), events.VerdictDecline, "no")
	v := viewsOf(t, l)

	pending, err := v.Pending(t.Context(), projections.Everything(), 10)
	require.NoError(t, err)
	require.Len(t, pending, 2)
	require.Equal(t, []string{first.RequestID, third.RequestID}, []string{pending[0].RequestID, pending[1].RequestID})
	require.Equal(t, 2, v.Status().Pending)
	require.Equal(t, "deploy-bot", pending[0].Call.Agent.Name)
	require.Equal(t, 3*time.Minute, pending[0].Deadline.Sub(time.UnixMicro(pending[0].At.LogTime)))

	limited, err := v.Pending(t.Context(), projections.Everything(), 1)
	require.NoError(t, err)
	require.Len(t, limited, 1)
}

// The stories of a request, each with what the view must say at its end.
func TestRequestEndsAsTheFoldSays(t *testing.T) {
	ben, eve := pt.Actor("ben", "reviewer"), pt.Actor("eve", "auditor")
	for name, c := range map[string]struct {
		story   func(l *pt.Log, q pt.Request)
		state   fold.RequestState
		reasons []fold.Reason
	}{
		"nobody answers yet": {func(*pt.Log, pt.Request) {}, fold.Pending, nil},
		"approved":           {func(l *pt.Log, q pt.Request) { l.Decide(q, ben, events.VerdictApprove, "") }, fold.Approved, []fold.Reason{""}},
		"declined, then approved by somebody slower": {func(l *pt.Log, q pt.Request) {
			l.Decide(q, ben, events.VerdictDecline, "no")
			l.Decide(q, ben, events.VerdictApprove, "")
		}, fold.Declined, []fold.Reason{"", fold.ReasonNotPending}},
		"an auditor may not": {
			func(l *pt.Log, q pt.Request) { l.Decide(q, eve, events.VerdictApprove, "") }, fold.Pending,
			[]fold.Reason{fold.ReasonNotPermitted},
		},
		"too late": {func(l *pt.Log, q pt.Request) {
			l.Advance(4 * time.Minute)
			l.Decide(q, ben, events.VerdictApprove, "")
			l.End(q, events.CauseTimeout)
		}, fold.Declined, []fold.Reason{fold.ReasonTooLate, ""}},
		"about another text": {func(l *pt.Log, q pt.Request) {
			q.Digest = pt.Digest("another")
			l.Decide(q, ben, events.VerdictApprove, "")
		}, fold.Pending, []fold.Reason{fold.ReasonOtherDigest}},
		"changed": {func(l *pt.Log, q pt.Request) { l.Modify(q, ben, `{"path":"b"}`) }, fold.Approved, []fold.Reason{"", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			l := pt.NewLog(t)
			_, q := l.Protected("s1", l.Run("s1", "carla", "go"), "b1", 0, "Write", `{"path":"a"}`)
			c.story(l, q)
			v := viewsOf(t, l)

			got, err := v.Request(t.Context(), q.RequestID)
			require.NoError(t, err)
			require.Equal(t, c.state, got.State)
			decisions, err := v.Decisions(t.Context(), q.RequestID, 10)
			require.NoError(t, err)
			var reasons []fold.Reason
			for _, d := range decisions {
				reasons = append(reasons, d.Reason)
			}
			require.Equal(t, c.reasons, reasons)
		})
	}
}

func TestChangedTextIsFoundWhereItStands(t *testing.T) {
	l := pt.NewLog(t)
	ben := pt.Actor("ben", "reviewer")
	call, q := l.Protected("s1", l.Run("s1", "carla", "go"), "b1", 0, "Write", `{"path":"a"}`)
	changed, decision := l.Modify(q, ben, `{"path":"b"}`)
	l.Start(call, &changed, decision)
	l.Result(call, events.StatusOK, events.CauseHuman, "done")
	v := viewsOf(t, l)

	got, err := v.Call(t.Context(), "s1", call.CallKey)
	require.NoError(t, err)
	require.Equal(t, projections.CallState(events.StatusOK), got.State)
	ref, carrier := got.Current()
	text, err := v.Text(t.Context(), carrier, ref)
	require.NoError(t, err)
	require.JSONEq(t, `{"path":"b"}`, string(text))
	asked, err := v.Text(t.Context(), got.EventID, got.Arguments)
	require.NoError(t, err)
	require.JSONEq(t, `{"path":"a"}`, string(asked))
}

func TestUnknownNamesAreNotFound(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("s1", "carla", "go")
	v := viewsOf(t, l)
	_, err := v.Request(t.Context(), "nope")
	require.ErrorIs(t, err, projections.ErrNotFound)
	_, err = v.Session(t.Context(), "nope")
	require.ErrorIs(t, err, projections.ErrNotFound)
	_, err = v.Call(t.Context(), "s1", events.CallKey{BatchID: "b", Index: 1})
	require.ErrorIs(t, err, projections.ErrNotFound)
	_, err = v.Round(t.Context(), "s1", "b")
	require.ErrorIs(t, err, projections.ErrNotFound)
}
