package projections_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

func TestPendingRequestsAreRead(t *testing.T) {
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "go")
	var want []string
	for i := range 7 {
		_, q := l.Protected("s1", run, fmt.Sprintf("b%d", i), 0, "Bash", `{}`)
		if i == 3 {
			l.Decide(q, pt.Actor("ben", "reviewer"), events.VerdictDecline, "")
			continue
		}
		want = append(want, q.RequestID)
	}
	v := viewsOf(t, l)
	var got []string
	cursor := ""
	for pages := 0; ; pages++ {
		page, err := v.PendingPage(t.Context(), projections.Everything(), cursor, 2)
		require.NoError(t, err)
		for _, q := range page.Items {
			got = append(got, q.RequestID)
		}
		if cursor = page.Next; cursor == "" {
			require.Equal(t, 2, pages)
			break
		}
	}
	require.Equal(t, want, got)
	page, err := v.PendingPage(t.Context(), projections.Everything(), "", 2)
	require.NoError(t, err)
	_, err = v.PendingPage(t.Context(), projections.Reader{Person: "carla"}, page.Next, 2)
	require.ErrorIs(t, err, projections.ErrCursor, "a cursor is of one reader")
	_, err = v.PendingPage(t.Context(), projections.Everything(), "x", 2)
	require.ErrorIs(t, err, projections.ErrCursor)
}
