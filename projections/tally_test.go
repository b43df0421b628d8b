package projections_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// storied has stories of every end of calls and requests, of reviewers, of tools
// that are defined and that are not, over some hours.
func storied(t testing.TB) *pt.Log {
	l := pt.NewLog(t)
	ben, ada := l.Person("ben", "Ben", "reviewer"), l.Person("ada", "Ada", "reviewer")
	for _, tool := range []string{"Read", "Write", "Bash"} {
		p := events.NewPayload([]byte(tool))
		l.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
			Kind: events.DefineTool, Name: tool, Digest: pt.Digest(tool), Content: p.Ref(events.MediaJSON),
		}})
	}
	for i := range 40 {
		s := fmt.Sprintf("s%d", i)
		run := l.Run(s, "carla", "do it")
		l.Round(s, run, "b1", 1, 2, "two calls")
		free := l.Propose(s, run, "b1", 0, []string{"Read", "Grep"}[i%2], `{"path":"a"}`, events.EffectAllow)
		l.Start(free, nil, "")
		l.Result(free, []events.Status{events.StatusOK, events.StatusError}[i%2], events.CausePolicy, "text")
		call, q := l.Protected(s, run, "b1", 1, []string{"Write", "Bash"}[i%2], `{"path":"a"}`)
		who := []events.Actor{ben, ada}[i%2]
		if i%3 == 0 {
			l.Advance(time.Second)
			l.Append(events.Draft{Session: s, Data: &events.Access{
				Action: "view", Outcome: events.AccessOK, Actor: &who, Resource: q.RequestID, Via: "console",
			}})
		}
		fate(l, i, call, q, who)
		l.Advance(11 * time.Minute)
	}
	return l
}

// fate ends a protected call in one of the ways that there are.
func fate(l *pt.Log, i int, call pt.Call, q pt.Request, who events.Actor) {
	switch i % 7 {
	case 0, 1:
		l.Advance(time.Duration(i) * time.Second)
		d := l.Decide(q, who, events.VerdictApprove, "")
		l.Start(call, &q, d)
		l.Result(call, events.StatusOK, events.CauseHuman, "done")
	case 2:
		l.Advance(20 * time.Second)
		changed, d := l.Modify(q, who, `{"path":"b"}`)
		l.Start(call, &changed, d)
		l.Result(call, events.StatusOK, events.CauseHuman, "done")
	case 3:
		l.Decide(q, who, events.VerdictDecline, "no")
		l.Decide(q, who, events.VerdictApprove, "too late")
		l.Result(call, events.StatusDeclined, events.CauseHuman, "declined")
	case 4:
		l.Advance(4 * time.Minute)
		l.End(q, events.CauseTimeout)
		l.Result(call, events.StatusExpired, events.CauseTimeout, "expired")
	case 5:
		l.Result(call, events.StatusStale, events.CauseStale, "stale")
	default: // waits for ever
	}
}

// M34: whatever way the log was read, the totals are what it says.
func TestTotalsAreWhatTheLogSays(t *testing.T) {
	l := storied(t)
	want := judged(t, l)
	same := func(t *testing.T, v *projections.Views) {
		t.Helper()
		got := scrape(t, v)
		for series, n := range want {
			require.InDelta(t, n, got[series], 1e-6, series)
		}
		for series, n := range got { // nothing is counted beside
			family, _, _ := strings.Cut(series, "{")
			if _, counted := want[series]; !counted && slices.Contains([]string{
				"countersign_approval_decisions_total", "countersign_tool_calls_total", "countersign_approval_requests_total", "countersign_events_appended_total",
			}, family) {
				require.Zero(t, n, series)
			}
		}
	}
	whole := filepath.Join(t.TempDir(), "views.db")
	v := open(t, whole, l)
	follow(t, v, l.Len())
	same(t, v)
	require.NoError(t, v.Close())
	tables := counted(t, whole)

	t.Run("after a restart", func(t *testing.T) {
		again := open(t, whole, l)
		catchUp(t, again)
		same(t, again)
		require.NoError(t, again.Close())
	})
	t.Run("stopped and started all the way", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "views.db")
		last := map[string]float64{}
		for n := 1; n < l.Len(); n += 7 {
			v := open(t, path, l.Cut(n))
			follow(t, v, n)
			last = neverLess(t, last, scrape(t, v))
			require.NoError(t, v.Close())
		}
		v := open(t, path, l)
		follow(t, v, l.Len())
		same(t, v)
		neverLess(t, last, scrape(t, v))
		require.NoError(t, v.Close())
		require.Equal(t, tables, counted(t, path), "to the row")
	})
	t.Run("every record twice", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "views.db")
		v := open(t, path, repeating{l})
		follow(t, v, l.Len())
		same(t, v)
		require.NoError(t, v.Close())
		require.Equal(t, tables, counted(t, path), "to the row")
	})
}

// neverLess holds that no counter fell, and returns the newer values.
func neverLess(t *testing.T, before, after map[string]float64) map[string]float64 {
	t.Helper()
	for series, n := range before {
		family, _, _ := strings.Cut(series, "{")
		if strings.HasSuffix(family, "_total") || strings.HasSuffix(family, "_count") || strings.HasSuffix(family, "_bucket") {
			require.GreaterOrEqual(t, after[series], n, series)
		}
	}
	return after
}

// counted returns the rows of the tables that counting keeps, in order.
func counted(t *testing.T, path string) string {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
	require.NoError(t, err)
	defer db.Close()
	var b strings.Builder
	for table, order := range map[string]string{
		"tallies": "1, 2, 3, 4, 5, 6, 7", "labels": "1, 2", "tool_marks": "1", "waits": "1", "shown": "1, 2", "streaks": "1", "policies": "1",
		"doubts": "1, 2", "violations": "1, 2, 3",
	} {
		rows, err := db.Read.QueryContext(t.Context(), "SELECT * FROM "+table+" ORDER BY "+order)
		require.NoError(t, err)
		dumpRows(t, &b, table, rows)
	}
	lines := strings.Split(b.String(), "\n")
	slices.Sort(lines) // tables in any order
	return strings.Join(lines, "\n")
}

// M35 and M36: alerting counters are there before anything happened, and
// moments that do not exist are not.
func TestWhatIsThereBeforeTheFirstRecord(t *testing.T) {
	l := pt.NewLog(t)
	v := open(t, "", l)
	require.NotContains(t, exposition(t, v), "countersign_tool", "less than was told before a restart would be a fall")
	l.Person("ben", "Ben", "reviewer")
	follow(t, v, 1)
	text, values := exposition(t, v), scrape(t, v)
	for _, invariant := range projections.Invariants() {
		series := fmt.Sprintf("countersign_gate_invariant_violations_total{invariant=%q}", invariant)
		require.Contains(t, slices.Collect(maps.Keys(values)), series)
		require.Zero(t, values[series])
	}
	for _, series := range []string{
		`countersign_gate_bypasses_total{reason="request"} 0`,
		`countersign_approval_decisions_total{decided_by="system",decision="expired",policy="required-tools"} 0`,
		`countersign_approval_decisions_total{decided_by="system",decision="failed",policy="default"} 0`,
		`countersign_projection_errors_total{projection="audit",reason="set_aside"} 0`,
		`countersign_approvals_pending{policy="required-tools"} 0`,
		`countersign_events_appended_total{type="boot"} 0`,
	} {
		require.Contains(t, text, series+"\n")
	}
	require.NotContains(t, text, "timestamp_seconds{")
	require.NotContains(t, values, "countersign_approvals_oldest_pending_timestamp_seconds")
	require.NotContains(t, values, "countersign_approvals_next_expiry_timestamp_seconds")
	require.NotContains(t, values, `countersign_projection_rebuild_progress_ratio{projection="audit"}`)

	run := l.Run("s", "carla", "x")
	asked := l.Now()
	_, q := l.Protected("s", run, "b", 0, "Write", `{}`)
	l.Protected("s", run, "b", 1, "Write", `{}`)
	follow(t, v, l.Len())
	values = scrape(t, v)
	require.InDelta(t, float64(asked.UnixMicro())/1e6, values["countersign_approvals_oldest_pending_timestamp_seconds"], 1)
	require.InDelta(t, float64(asked.Add(3*time.Minute).UnixMicro())/1e6, values["countersign_approvals_next_expiry_timestamp_seconds"], 1)
	require.Equal(t, 2, int(values[`countersign_approvals_pending{policy="required-tools"}`]))
	l.Decide(q, pt.Actor("ben", "reviewer"), events.VerdictDecline, "")
	follow(t, v, l.Len())
	require.Equal(t, 1, int(scrape(t, v)[`countersign_approvals_pending{policy="required-tools"}`]))
}
