package projections_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// define puts a text behind a digest onto a log; its digest is its own.
func define(l *pt.Log, kind events.DefinitionKind, name, text string) events.Digest {
	p, digest := events.NewPayload([]byte(text)), events.DigestOf([]byte(text))
	l.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: kind, Name: name, Digest: digest, Content: p.Ref(events.MediaJSON),
	}})
	return digest
}

// policyOf is the document of a policy that asks about one tool.
func policyOf(required string) string {
	return `{"allowed_tools":[],"denied_tools":["Deploy"],"format":"countersign/policy/1","required_tools":["` + required +
		`"],"start_within":"5m0s","timeout":"3m0s"}`
}

func TestDefinitionsAreKeptWithTheirHistory(t *testing.T) {
	l := pt.NewLog(t)
	old := define(l, events.DefineTool, "Bash", `{"v":1}`)
	define(l, events.DefineTool, "Read", `{"v":1,"of":"Read"}`)
	now := define(l, events.DefineTool, "Bash", `{"v":2}`)
	define(l, events.DefinePrompt, "Bash", "a prompt of the same name")
	v := viewsOf(t, l)

	list, err := v.Definitions(t.Context(), events.DefineTool, "Bash", 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, []events.Digest{now, old}, []events.Digest{list[0].Digest, list[1].Digest})
	text, err := v.Text(t.Context(), list[1].EventID, list[1].Content)
	require.NoError(t, err)
	require.Equal(t, `{"v":1}`, string(text))

	first, err := v.DefinitionOf(t.Context(), events.DefineTool, old)
	require.NoError(t, err)
	require.Equal(t, list[1], first)
	_, err = v.DefinitionOf(t.Context(), events.DefinePrompt, old)
	require.ErrorIs(t, err, projections.ErrNotFound)
}

func TestThePolicyThatHoldsIsTheNewestCallsOrOneDefinedSince(t *testing.T) {
	l := pt.NewLog(t)
	strict, lax := policyOf("*"), policyOf("Write")
	v := viewsOf(t, l)
	_, err := v.PolicyNow(t.Context())
	require.ErrorIs(t, err, projections.ErrNotFound)
	judge := func(tool string) (effect events.Effect, rule string) {
		t.Helper()
		v = viewsOf(t, l)
		p, err := v.PolicyNow(t.Context())
		require.NoError(t, err)
		effect, rule, why, ok := p.Judge(tool, events.SourceBuiltin)
		require.True(t, ok)
		require.NotEmpty(t, why)
		return effect, rule
	}
	first := define(l, events.DefinePolicy, "policy", strict)
	effect, rule := judge("Read")
	require.Equal(t, []string{"ask", "required-tools"}, []string{string(effect), rule})

	define(l, events.DefinePolicy, "policy", lax)
	effect, _ = judge("Read")
	require.Equal(t, events.EffectAllow, effect)

	// The first policy is taken up again: its text is on the record already.
	arguments := events.NewPayload([]byte("{}"))
	l.Append(events.Draft{Session: "s1", Payloads: []events.Payload{arguments}, Data: &events.ToolCall{
		CallKey: events.CallKey{BatchID: "b1"}, CallID: "c1", Tool: "Read", ToolSource: events.SourceBuiltin, ToolDigest: pt.Digest("Read"),
		Arguments: arguments.Ref(events.MediaJSON), Agent: events.Agent{Name: "a"}, Principal: "carla", Enforcement: events.Enforced,
		Effect: events.EffectAsk, Rule: "required-tools", PolicyDigest: first,
	}})
	effect, _ = judge("Read")
	require.Equal(t, events.EffectAsk, effect)
	effect, rule = judge("Deploy")
	require.Equal(t, []string{"deny", "denied-tools"}, []string{string(effect), rule})
}

func TestAPolicyThatCannotBeReadJudgesNothing(t *testing.T) {
	l := pt.NewLog(t)
	define(l, events.DefinePolicy, "policy", `{"format":"countersign/policy/99"}`)
	v := viewsOf(t, l)
	p, err := v.PolicyNow(t.Context())
	require.ErrorContains(t, err, "countersign/policy/99")
	_, _, _, ok := p.Judge("Read", events.SourceBuiltin)
	require.False(t, ok)
	require.NotEmpty(t, p.Text, "its text is shown all the same")
}

func TestProcessesAreListedTheNewestFirst(t *testing.T) {
	l := pt.NewLog(t)
	boot := &events.Boot{
		BootID: "b1", Node: "n1", Version: "v1", GoVersion: "go1", Previous: []events.Head{}, Clock: events.At(l.Now()), Isolation: "none", Bus: "memory",
	}
	l.Append(events.Draft{Data: boot})
	l.Append(events.Draft{Data: &events.Alive{BootID: "b1", Heads: []events.Head{}}})
	l.Append(events.Draft{Data: &events.ClockStep{BootID: "b1", Before: events.At(l.Now()), After: events.At(l.Now().Add(-time.Hour))}})
	l.Append(events.Draft{Data: &events.Shutdown{BootID: "b1", Reason: "SIGTERM", Heads: []events.Head{}}})
	v := viewsOf(t, l)
	list, err := v.Boots(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, list, 2)
	require.Equal(t, "SIGTERM", list[0].Event.(*events.Shutdown).Reason)
	require.Equal(t, boot, list[1].Event)
	steps, err := v.ClockSteps(t.Context(), 10)
	require.NoError(t, err)
	require.Len(t, steps, 1)
	require.Equal(t, uint64(2), steps[0].At.Offset)
}

func TestTotalsCountWhatCameOfASessionsCalls(t *testing.T) {
	l := everything(t)
	v := viewsOf(t, l)
	totals, err := v.Totals(t.Context(), "s1")
	require.NoError(t, err)
	require.Equal(t, map[projections.CallState]int{"ok": 1, "error": 1, "cancelled": 1}, totals.Calls)
	require.Equal(t, 1, totals.Approved)
	totals, err = v.Totals(t.Context(), "none")
	require.NoError(t, err)
	require.Empty(t, totals.Calls)

	aside, err := v.SetAside(t.Context(), 10)
	require.NoError(t, err)
	require.NotEmpty(t, aside)
	one, err := v.AsideAt(t.Context(), aside[0].At.Partition, aside[0].At.Offset)
	require.NoError(t, err)
	require.Equal(t, aside[0], one)
	_, err = v.AsideAt(t.Context(), 9, 0)
	require.ErrorIs(t, err, projections.ErrNotFound)
}
