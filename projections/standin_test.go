package projections_test

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// knower is a gate that knows which sessions are open, and what was asked in
// them.
type knower struct{ requests map[string]string }

// Unfinished implements projections.Gate.
func (k knower) Unfinished() (ids []string) {
	for _, session := range k.requests {
		ids = append(ids, session)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}

// SessionOf implements projections.Gate.
func (k knower) SessionOf(_ context.Context, request string) (string, error) {
	return k.requests[request], nil
}

// What deciding needs is known while the views are built from nothing, for every
// reader just as after it, and moves with the log.
func TestWhatWaitsIsKnownWhileViewsAreBuilt(t *testing.T) {
	l := &pt.Held{Log: everything(t)}
	ben := l.Person("ben", "Ben", "reviewer")
	gate := knower{requests: map[string]string{}}
	var decided pt.Request
	for i := range 5 {
		session := fmt.Sprint("waiting-", i)
		run := l.Run(session, "carla", "do it")
		for j := range 3 {
			_, q := l.Protected(session, run, "b1", j, "Write", fmt.Sprintf(`{"path":"%d-%d"}`, i, j))
			gate.requests[q.RequestID] = session
			decided = q
		}
	}
	come, release := l.Hold()
	defer release()
	v, err := projections.Open(t.Context(), projections.Options{
		Path: filepath.Join(t.TempDir(), "views.db"), Source: l, RebuildBeyond: 1, Gate: gate,
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, v.Close())
	})
	<-come
	require.True(t, v.KnowsWaiting())
	q, err := v.Request(t.Context(), decided.RequestID)
	require.NoError(t, err)
	require.Empty(t, q.Votes)
	l.Decide(decided, ben, events.VerdictApprove, "it goes on")
	before := waitingFor(t, v, gate)
	require.Len(t, before["reviewer"], 14)
	require.Equal(t, []any{true, false}, []any{before["reviewer reads"], before["nobody reads"]})
	ended, err := v.Request(t.Context(), decided.RequestID)
	require.NoError(t, err)
	require.Equal(t, fold.Approved, ended.State)

	release()
	until(t, v, func(s projections.Status) bool { return s.CaughtUp && s.Rebuilding == nil })
	require.False(t, v.KnowsWaiting(), "the views know")
	require.Equal(t, before, waitingFor(t, v, gate))
}

// waitingFor is all that views tell of what waits, for every kind of reader.
func waitingFor(t *testing.T, v *projections.Views, gate knower) (told map[string]any) {
	t.Helper()
	told = map[string]any{}
	for name, r := range map[string]projections.Reader{
		"auditor": projections.Everything(), "carla": {Person: "carla"}, "reviewer": {Person: "ben", Reviewer: true}, "nobody": {},
	} {
		n, err := v.CountPending(t.Context(), r)
		require.NoError(t, err)
		all, err := v.Pending(t.Context(), r, 100)
		require.NoError(t, err)
		require.Len(t, all, n)
		cursor := ""
		for i := 0; i < len(all); i += 4 {
			page, err := v.PendingPage(t.Context(), r, cursor, 4)
			require.NoError(t, err)
			require.Equal(t, all[i:min(i+4, len(all))], page.Items)
			cursor = page.Next
		}
		require.Empty(t, cursor)
		may, err := v.MayRead(t.Context(), r, "waiting-1")
		require.NoError(t, err)
		none, err := v.MayRead(t.Context(), r, "no such session")
		require.NoError(t, err)
		require.False(t, none)
		told[name], told[name+" reads"] = all, may
	}
	for id := range gate.requests {
		q, err := v.Request(t.Context(), id)
		require.NoError(t, err)
		told[id] = q
	}
	return told
}
