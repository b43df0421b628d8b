package projections_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// recordedAs changes whose word a call takes for what runs.
func recordedAs(e events.Enforcement) func(*events.ToolCall) {
	return func(c *events.ToolCall) { c.Enforcement = e }
}

func startedAs(is events.Enforcement) func(*events.ToolStarted) {
	return func(e *events.ToolStarted) { e.Enforcement = is }
}

// What our executor was to run is not let pass because its start says that it ran
// elsewhere.
func TestTheWatchFindsStartsThatClaimToBeElsewhere(t *testing.T) {
	const (
		elsewhere  = projections.NotEnforced
		unapproved = projections.ExecutedWithoutApproval
	)
	tales{
		"a call of ours, said to be seen from outside":   {func(l *tale) { l.byHand(l.free("b1"), startedAs(events.Observed)) }, []projections.Invariant{elsewhere}},
		"a call of ours, said to run by a caller's word": {func(l *tale) { l.byHand(l.free("b1"), startedAs(events.Cooperative)) }, []projections.Invariant{elsewhere}},
		"a call of ours that waits": {func(l *tale) {
			c, _ := l.protected("b1")
			l.byHand(c, startedAs(events.Observed))
		}, []projections.Invariant{elsewhere}},
		"a caller's, said to be seen from outside": {func(l *tale) {
			l.byHand(l.proposed("b1", "Read", events.EffectAllow, recordedAs(events.Cooperative)), startedAs(events.Observed))
		}, []projections.Invariant{elsewhere}},
		"a caller's that must ask, and nobody was asked": {func(l *tale) {
			l.byHand(l.proposed("b1", "Bash", events.EffectAsk, recordedAs(events.Cooperative)), startedAs(events.Cooperative))
		}, []projections.Invariant{unapproved}},
		"seen from outside, said to be run by us": {func(l *tale) {
			l.byHand(l.proposed("b1", "Bash", events.EffectAsk, recordedAs(events.Observed)), nil)
		}, []projections.Invariant{unapproved}},
		"and its record says that the policy lets it": {func(l *tale) {
			l.byHand(l.proposed("b1", "Bash", events.EffectAllow, recordedAs(events.Observed)), nil)
		}, []projections.Invariant{unapproved}},
		"a call of our own loop, recorded as seen from outside": {func(l *tale) {
			run := l.Run("s", "carla", "go")
			l.proposed("b1", "Read", events.EffectAllow, func(e *events.ToolCall) { e.RunID, e.Enforcement = run, events.Observed })
		}, []projections.Invariant{elsewhere}},
	}.hold(t)
}

// What nobody enforces is counted apart, whatever policy says of it, and is never
// said to hold.
func TestWhatNobodyEnforcesIsCountedApart(t *testing.T) {
	l := newTale(t)
	l.byHand(l.proposed("b1", "Bash", events.EffectAsk, recordedAs(events.Observed)), startedAs(events.Observed))
	l.byHand(l.proposed("b2", "Bash", events.EffectAllow, recordedAs(events.Observed)), startedAs(events.Observed))
	l.byHand(l.proposed("b3", "Read", events.EffectAllow, recordedAs(events.Cooperative)), startedAs(events.Cooperative))
	l.Start(l.free("b4"), nil, "")
	require.Empty(t, l.found())
	v := viewsOf(t, l.Log)
	session, err := v.Session(t.Context(), "s")
	require.NoError(t, err)
	require.Equal(t, 3, session.Unenforced)
	m := scrape(t, v)
	require.Equal(t, 3, int(m[`countersign_watch_starts_total{finding="unenforced"}`]))
	require.Equal(t, 1, int(m[`countersign_watch_starts_total{finding="good"}`]))
}
