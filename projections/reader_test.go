package projections_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// Who sees which of three sessions: "own" of carla with nothing asked, "any"
// with a request for every reviewer, "sre" with one for that group.
func TestReadersSeeWhatTheyMay(t *testing.T) {
	l := pt.NewLog(t)
	l.Run("own", "carla", "look")
	l.Protected("any", l.Run("any", "carla", "write"), "b1", 0, "Write", `{}`)
	c := l.Propose("sre", l.Run("sre", "carla", "remove"), "b1", 0, "Bash", `{}`, events.EffectAsk)
	l.Ask(c, func(q *events.ApprovalRequest) { q.Approvers = []string{"group:sre", "person:dana"} })
	v := viewsOf(t, l)

	for name, c := range map[string]struct {
		reader projections.Reader
		want   []string
	}{
		"auditor":               {projections.Everything(), []string{"sre", "any", "own"}},
		"reviewer of no group":  {projections.Reader{Reviewer: true, Person: "ben"}, []string{"any"}},
		"reviewer of the group": {projections.Reader{Reviewer: true, Person: "ben", Groups: []string{"sre"}}, []string{"sre", "any"}},
		"reviewer by name":      {projections.Reader{Reviewer: true, Person: "dana"}, []string{"sre", "any"}},
		"who asked":             {projections.Reader{Person: "carla"}, []string{"sre", "any", "own"}},
		"anybody":               {projections.Reader{Person: "eve"}, nil},
		"nobody":                {projections.Reader{}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			page, err := v.Sessions(t.Context(), c.reader, "", 10)
			require.NoError(t, err)
			var got []string
			for _, s := range page.Items {
				got = append(got, s.ID)
			}
			require.Equal(t, c.want, got)
			for _, id := range []string{"own", "any", "sre"} {
				may, err := v.MayRead(t.Context(), c.reader, id)
				require.NoError(t, err)
				require.Equal(t, contains(c.want, id), may, id)
				calls, err := v.History(t.Context(), projections.Filter{Session: id, Reader: c.reader}, "", 10)
				require.NoError(t, err)
				if id != "own" {
					require.Equal(t, may, len(calls.Items) == 1, id)
				}
			}
			pending, err := v.Pending(t.Context(), c.reader, 10)
			require.NoError(t, err)
			require.Equal(t, contains(c.want, "any"), len(pending) > 0)
		})
	}
}

func contains(list []string, s string) bool { return slices.Contains(list, s) }
