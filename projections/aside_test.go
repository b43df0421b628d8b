package projections_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

func envelope(critical bool) []byte {
	e := `{"specversion":"1.0","id":"0195f3a0-0000-7000-8000-0000000000aa","source":"agentd/n/b","type":"weather","time":"2026-11-30T12:03:00.000000Z",` +
		`"dataschema":"/schemas/weather/1","sessionid":"s1","partitionkey":"s1","sequence":"900"`
	if critical {
		e += `,"critical":true`
	}
	return []byte(e + `,"data":{"x":1}}`)
}

func TestUnreadableRecordsAreSetAsideAndDoNotBlock(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("s1", "carla", "go")
	l.AppendRaw("s1", []byte("\xff\x00 no JSON at all"))
	l.AppendRaw("s1", []byte(`{"specversion":"1.0","specversion":"1.0"}`))
	_, q := l.Protected("s1", "run-s1", "b1", 0, "Write", `{}`)
	v := viewsOf(t, l)

	aside, err := v.SetAside(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, aside, 2)
	require.Equal(t, []byte("\xff\x00 no JSON at all"), aside[0].Raw)
	require.Equal(t, uint64(1), aside[0].At.Offset)
	require.Contains(t, aside[1].Reason, "malformed")
	require.Equal(t, 2, v.Status().Aside)
	_, err = v.Request(t.Context(), q.RequestID)
	require.NoError(t, err)
}

func TestTypesOfAnotherBuildAreShown(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("s1", "carla", "go")
	l.AppendRaw("s1", envelope(false))
	v := viewsOf(t, l)
	page, err := v.Timeline(t.Context(), "s1", "", 10)
	require.NoError(t, err)
	require.Equal(t, events.Type("weather"), page.Items[1].Envelope.Type)
	require.Equal(t, fold.ReasonUnreadable, page.Items[1].Reason)
	require.Zero(t, v.Status().Aside)
}

func TestACriticalTypeOfAnotherBuildBlocksItsSession(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("s1", "carla", "go")
	l.AppendRaw("s1", envelope(true))
	v := viewsOf(t, l)
	s, err := v.Session(t.Context(), "s1")
	require.NoError(t, err)
	require.NotEmpty(t, s.Blocked)
	require.Equal(t, 1, v.Status().Aside)
}

// A record that can be read but not stored: the view already has a row in its
// place. It alone is set aside, and what came with it in its batch stands.
func TestARecordThatCannotBeStoredIsSetAsideAlone(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("s1", "carla", "go")
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	follow(t, v, 1)
	require.NoError(t, v.Close())
	run(t, path, "CREATE TRIGGER poison BEFORE INSERT ON calls WHEN new.tool = 'Poison' BEGIN SELECT RAISE(ABORT, 'no'); END")

	l.Propose("s1", "run-s1", "b1", 0, "Read", `{}`, events.EffectAllow)
	l.Propose("s1", "run-s1", "b1", 1, "Poison", `{}`, events.EffectAllow)
	l.Propose("s1", "run-s1", "b1", 2, "Write", `{}`, events.EffectAllow)
	v = open(t, path, l)
	follow(t, v, l.Len())
	turn, err := v.Turn(t.Context(), "s1", "b1", 10)
	require.NoError(t, err)
	require.Len(t, turn, 2)
	aside, err := v.SetAside(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, aside, 1)
	require.Contains(t, aside[0].Reason, "no")
}

func TestErasedTextIsSaidToBeGone(t *testing.T) {
	l := pt.NewLog(t)
	c := l.Propose("s1", l.Run("s1", "carla", "go"), "b1", 0, "Read", `{"path":"secret"}`, events.EffectAllow)
	l.Erase(c.Event)
	v := viewsOf(t, l)
	_, err := v.Text(t.Context(), c.Event, c.Arguments)
	require.ErrorIs(t, err, events.ErrNoPayload)
}

// Two sessions of a log from elsewhere use one request id, and two runs one
// batch id: the views hold both, however they are made, and each call has its
// own request.
func TestIdsThatAreUsedTwiceStopNothing(t *testing.T) {
	l := pt.NewLog(t)
	_, q := l.Protected("s1", l.Run("s1", "carla", "go"), "b1", 0, "Write", `{"n":1}`)
	c := l.Propose("s2", l.Run("s2", "carla", "go"), "b1", 0, "Write", `{"n":2}`, events.EffectAsk)
	l.Ask(c, func(again *events.ApprovalRequest) { again.RequestID = q.RequestID })
	l.Round("s3", l.Run("s3", "carla", "go"), "b1", 1, 0, "once")
	l.Append(events.Draft{Session: "s3", Data: &events.RunFinished{RunID: "run-s3", Reason: events.FinishStop, Rounds: 1}})
	l.Append(events.Draft{Session: "s3", Data: &events.RunStarted{
		RunID: "second", Principal: "carla", Agent: events.Agent{Name: "deploy-bot"}, Query: c.Arguments.CarriedBy(c.Event), Model: "default",
		ToolsDigest: pt.Digest("tools"), PolicyDigest: pt.Digest("policy"),
	}})
	l.Round("s3", "second", "b1", 1, 0, "twice")

	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	follow(t, v, l.Len())
	require.Zero(t, v.Status().Aside)
	for range 2 {
		page, err := v.History(t.Context(), all(projections.Filter{}), "", 10)
		require.NoError(t, err)
		require.Len(t, page.Items, 2)
		for i, call := range page.Items {
			require.Equal(t, []string{"s2", "s1"}[i], call.Session)
			require.Equal(t, call.Arguments.Commitment, call.Request.Arguments.Commitment, "its own request")
		}
		pending, err := v.Pending(t.Context(), projections.Everything(), 10)
		require.NoError(t, err)
		require.Len(t, pending, 2)
		require.NoError(t, v.Rebuild(t.Context()))
	}
}
