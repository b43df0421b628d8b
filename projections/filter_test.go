package projections_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// decidedCalls is a log of four calls that ben and dana ruled on: two of tool
// Write, one of Bash, one of Read about which nobody was asked.
func decidedCalls(t *testing.T) *pt.Log {
	t.Helper()
	l := pt.NewLog(t)
	ben, dana := pt.Actor("ben", "reviewer"), pt.Actor("dana", "reviewer")
	run := l.Run("s1", "carla", "go")
	for i, c := range []struct {
		tool    string
		who     events.Actor
		verdict events.Verdict
	}{{"Write", ben, events.VerdictApprove}, {"Bash", dana, events.VerdictApprove}, {"Write", ben, events.VerdictDecline}} {
		call, q := l.Protected("s1", run, "b1", i, c.tool, `{"n":`+strconv.Itoa(i)+`}`)
		d := l.Decide(q, c.who, c.verdict, "")
		if c.verdict == events.VerdictApprove {
			l.Start(call, &q, d)
			l.Result(call, events.StatusOK, events.CauseHuman, "ok")
		} else {
			l.Result(call, events.StatusDeclined, events.CauseHuman, "no")
		}
	}
	l.Propose("s2", l.Run("s2", "carla", "look"), "b1", 3, "Read", `{"n":3}`, events.EffectAllow)
	return l
}

// What each filter leaves, by the calls' indexes, the newest first.
func TestFiltersOfAHistory(t *testing.T) {
	v := viewsOf(t, decidedCalls(t))
	for name, c := range map[string]struct {
		filter projections.Filter
		want   []int
	}{
		"none":                {projections.Filter{}, []int{3, 2, 1, 0}},
		"tool":                {projections.Filter{Tool: "Write"}, []int{2, 0}},
		"agent":               {projections.Filter{Agent: "deploy-bot"}, []int{3, 2, 1, 0}},
		"no such agent":       {projections.Filter{Agent: "DEPLOY-BOT"}, nil},
		"rule":                {projections.Filter{Rule: "required-tools"}, []int{3, 2, 1, 0}},
		"session":             {projections.Filter{Session: "s2"}, []int{3}},
		"state":               {projections.Filter{States: []projections.CallState{"ok"}}, []int{1, 0}},
		"states":              {projections.Filter{States: []projections.CallState{"declined", "proposed"}}, []int{3, 2}},
		"decider":             {projections.Filter{Decider: "ben"}, []int{2, 0}},
		"asker":               {projections.Filter{Asker: "carla"}, []int{3, 2, 1, 0}},
		"tool and decider":    {projections.Filter{Tool: "Bash", Decider: "ben"}, nil},
		"tool, state, person": {projections.Filter{Tool: "Write", States: []projections.CallState{"ok", "error"}, Decider: "ben"}, []int{0}},
		"everything": {projections.Filter{
			Tool: "Write", Agent: "deploy-bot", Session: "s1", Rule: "required-tools", States: []projections.CallState{"ok"}, Decider: "ben", Asker: "carla",
		}, []int{0}},
	} {
		for _, limit := range []int{1, 2, 100} {
			var got []int
			for cursor := ""; ; {
				page, err := v.History(t.Context(), all(c.filter), cursor, limit)
				require.NoError(t, err, name)
				for _, call := range page.Items {
					got = append(got, call.Index)
				}
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			require.Equal(t, c.want, got, "%s, %d a page", name, limit)
		}
	}
}

func TestNewerCallsComeInOrder(t *testing.T) {
	l := decidedCalls(t)
	v := viewsOf(t, l)
	page, err := v.History(t.Context(), all(projections.Filter{}), "", 100)
	require.NoError(t, err)
	slices.Reverse(page.Items)
	var got []projections.Call
	for after := (events.Position{}); ; {
		calls, err := v.Newer(t.Context(), all(projections.Filter{}), after, 2)
		require.NoError(t, err)
		if len(calls) == 0 {
			break
		}
		got, after = append(got, calls...), calls[len(calls)-1].At
	}
	require.Equal(t, page.Items, got)
	calls, err := v.Newer(t.Context(), all(projections.Filter{Tool: "Bash", Query: "deploy-bot"}), events.Position{}, 10)
	require.NoError(t, err)
	require.Len(t, calls, 1)
	require.Equal(t, "tool", calls[0].Found.Text)
}

func TestSimilarIsTheLastThatAPersonApproved(t *testing.T) {
	l := decidedCalls(t)
	run := "run-s2"
	again := l.Propose("s2", run, "b2", 0, "Write", `{}`, events.EffectAsk)
	edit := l.Propose("s2", run, "b2", 1, "Edit", `{}`, events.EffectAsk)
	v := viewsOf(t, l)
	call := func(c pt.Call) projections.Call {
		found, err := v.Call(t.Context(), c.Session, c.CallKey)
		require.NoError(t, err)
		return found
	}
	similar, err := v.Similar(t.Context(), call(again))
	require.NoError(t, err)
	require.Equal(t, 0, similar.Index, "the second was declined")
	require.Equal(t, "s1", similar.Session)
	_, err = v.Similar(t.Context(), call(edit))
	require.ErrorIs(t, err, projections.ErrNotFound)
	_, err = v.Similar(t.Context(), similar)
	require.ErrorIs(t, err, projections.ErrNotFound, "none before the first")
}

func TestNamesThatAHistoryIsFilteredBy(t *testing.T) {
	v := viewsOf(t, decidedCalls(t))
	for name, c := range map[string]struct {
		list func(limit int) ([]string, error)
		want []string
	}{
		"tools":  {func(n int) ([]string, error) { return v.Tools(t.Context(), n) }, []string{"Bash", "Read", "Write"}},
		"agents": {func(n int) ([]string, error) { return v.Agents(t.Context(), n) }, []string{"deploy-bot"}},
		"rules":  {func(n int) ([]string, error) { return v.Rules(t.Context(), n) }, []string{"required-tools"}},
	} {
		got, err := c.list(10)
		require.NoError(t, err)
		require.Equal(t, c.want, got, name)
		got, err = c.list(1)
		require.NoError(t, err)
		require.Equal(t, c.want[:1], got, name)
	}
}

// Case 098: times in mixed zones, with and without fractions, around changes of
// daylight saving. Log time is microseconds since 1970, so that no zone is in
// it.
func TestTimesInMixedZones(t *testing.T) {
	var times []time.Time
	var env struct{ TZ []string }
	var filters []struct {
		From        time.Time
		To          time.Time
		ExpectCount int `json:"expect_count"`
	}
	var expect struct {
		Order  []any `json:"order_indices_by_instant"`
		Counts []int
	}
	for name, into := range map[string]any{"times": &times, "env": &env, "filters": &filters, "expect": &expect} {
		b, err := os.ReadFile(filepath.Join("testdata", "time-zones", name+".json"))
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, into))
	}
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "go")
	order := make([]int, len(times))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return times[a].Compare(times[b]) })
	for _, i := range order { // a log is written in order
		l.SetNow(times[i])
		l.Propose("s1", run, "b1", i, "Read", `{}`, events.EffectAllow)
	}
	v := viewsOf(t, l)
	for _, zone := range env.TZ {
		in, err := time.LoadLocation(zone)
		require.NoError(t, err)
		for i, f := range filters {
			page, err := v.History(t.Context(), all(projections.Filter{From: f.From.In(in), Until: f.To.In(in)}), "", 100)
			require.NoError(t, err)
			require.Len(t, page.Items, f.ExpectCount, "%s, filter %d", zone, i)
			require.Equal(t, expect.Counts[i], f.ExpectCount)
		}
	}
	page, err := v.History(t.Context(), all(projections.Filter{}), "", 100)
	require.NoError(t, err)
	slices.Reverse(page.Items)
	var got []int
	for n, c := range page.Items {
		require.Equal(t, times[c.Index].UnixMicro(), c.At.LogTime, "the same instant, to the microsecond")
		require.Equal(t, order[n], c.Index)
		got = append(got, c.Index)
	}
	for n, want := range expect.Order {
		if one, ok := want.(float64); ok {
			require.Equal(t, int(one), got[at(expect.Order, n)])
		}
	}
	require.Equal(t, time.Hour, times[3].Sub(times[2]), "two half past two of one night")
}

// at is where the n-th of an order stands whose lists are of equals.
func at(order []any, n int) (index int) {
	for _, o := range order[:n] {
		if same, ok := o.([]any); ok {
			index += len(same)
			continue
		}
		index++
	}
	return index
}
