package ui_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestInsightsCountWhatTheLogSays(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	a := w.as("eve").get("/insights?span=30d")
	require.Equal(t, http.StatusOK, a.status)
	require.Less(t, len(a.body), 60<<10)
	require.Equal(t, "46 ran, 1 failed or not run, 2 declined or denied, 3 expired.", a.text("#calls desc"))
	require.Equal(t, 31, a.doc.Find("#calls svg.column").Length())
	require.Equal(t, [][]string{
		{"Approved", "21", "81 %", "by people"},
		{"Expired: nobody answered", "3", "12 %", "by the gate"},
		{"Approved with changes", "1", "4 %", "by people"},
		{"Declined", "1", "4 %", "by people"},
	}, rows(a, "[aria-label='How requests ended']", "End", "Requests", "Share", "Ended"))
	require.Equal(t, [][]string{
		{"Ben Okafor", "22", "22", "1", "0"},
		{"Dana Lindqvist", "1", "0", "0", "1"},
	}, rows(a, "[aria-label='How reviewers decide']", "Decisions", "Approved", "Of these changed", "Declined"))
}

func TestAReviewerSeesTheirOwnRowAlone(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	w.settle()
	richStory(w)
	a := ben.get("/insights?span=90d")
	require.NotContains(t, a.text("main"), "Dana Lindqvist")
	require.Contains(t, a.text("main"), "You decided nothing in this time.")
}

func TestInsightsOfADayAreByTheHourAndOfAYearByParts(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	eve := w.as("eve")
	require.Contains(t, eve.get("/insights?from=2026-11-30&to=2026-12-01").text("#calls thead"), "Hour (UTC)")
	year := eve.get("/insights?from=2026-01-01&to=2026-12-31")
	require.Equal(t, http.StatusOK, year.status)
	require.LessOrEqual(t, year.doc.Find("#calls svg.column").Length(), 31)
	require.Equal(t, "46 ran, 1 failed or not run, 2 declined or denied, 3 expired.", year.text("#calls desc"))
}

func TestSpansAreReadStrictly(t *testing.T) {
	w := newWorld(t, nil)
	eve := w.as("eve")
	for query, want := range map[string]int{
		"":                                   http.StatusOK,
		"?span=24h":                          http.StatusOK,
		"?from=2026-11-01&to=2026-11-01":     http.StatusOK,
		"?span=1y":                           http.StatusBadRequest,
		"?span=":                             http.StatusBadRequest,
		"?span=7d&span=7d":                   http.StatusBadRequest,
		"?from=2026-11-01":                   http.StatusBadRequest,
		"?from=2026-11-02&to=2026-11-01":     http.StatusBadRequest,
		"?from=2026-11-1&to=2026-11-02":      http.StatusBadRequest,
		"?from=0001-01-01&to=2026-11-02":     http.StatusBadRequest,
		"?from=2026-11-01&to=9999-99-99":     http.StatusBadRequest,
		"?span=7d&from=2026-11-01&to=2026-1": http.StatusBadRequest,
		"?x=1":                               http.StatusBadRequest,
	} {
		require.Equal(t, want, eve.get("/insights"+query).status, query)
	}
	require.Contains(t, eve.get("/insights").text("main"), "No tool was called in this time")
}

func TestAReviewerWhoDecidesTooFastIsMarked(t *testing.T) {
	w := newWorld(t, nil)
	dana := w.log.Person("p-dana", "Dana", "reviewer")
	for n := range 12 {
		_, q := w.ask(fmt.Sprintf("s%d", n), "Bash", `{"command":"ls"}`)
		w.log.Advance(500 * time.Millisecond)
		w.log.Decide(q, dana, events.VerdictApprove, "")
	}
	w.settle()
	a := w.as("eve").get("/insights?span=24h")
	require.Equal(t, [][]string{{"Dana decides faster than one can read", "12", "100 %", "12"}},
		rows(a, "[aria-label='How reviewers decide']", "Decisions", "Under 2 s", "Approvals in a row"))
}
