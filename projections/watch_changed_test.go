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

// boots writes the boot of a gate that asks about changed definitions, or not yet.
func (l *tale) boots(asks bool) {
	l.Append(events.Draft{Data: &events.Boot{
		BootID: events.NewID(), Node: "n", Version: "1", GoVersion: "go", Previous: []events.Head{}, Isolation: "none", Bus: "memory", AsksChanged: asks, Clock: events.At(l.Now()),
	}})
}

// under writes a free call of Read under a definition, and its start.
func (l *tale) under(batch, definition string) {
	l.Start(l.proposed(batch, "Read", events.EffectAllow, func(e *events.ToolCall) { e.ToolDigest = pt.Digest(definition) }), nil, "")
}

// approved writes a call of Read under a definition, and a start on an approval.
func (l *tale) approvedUnder(batch, definition string) {
	c := l.proposed(batch, "Read", events.EffectAsk, func(e *events.ToolCall) { e.ToolDigest = pt.Digest(definition) })
	q := l.Ask(c, nil)
	l.Start(c, &q, l.Decide(q, l.ben, events.VerdictApprove, ""))
}

// What runs without being asked about runs under a definition that somebody
// accepted: from where the log says that its gate asks about changes.
func TestTheWatchKnowsWhichDefinitionsAreAccepted(t *testing.T) {
	unapproved := []projections.Invariant{projections.ExecutedWithoutApproval}
	defines := func(l *tale, texts ...string) {
		for _, text := range texts {
			l.define(events.DefineTool, "Read", []byte(text))
		}
	}
	tales{
		"the first":             {func(l *tale) { l.boots(true); defines(l, "one"); l.under("b1", "one") }, nil},
		"a change":              {func(l *tale) { l.boots(true); defines(l, "one", "two"); l.under("b1", "two") }, unapproved},
		"a change that is kept": {func(l *tale) { l.boots(true); defines(l, "one", "two"); l.under("b1", "two"); l.under("b2", "two") }, append(unapproved, unapproved...)},
		"a change that was accepted": {func(l *tale) {
			l.boots(true)
			defines(l, "one", "two")
			l.approvedUnder("b1", "two")
			l.under("b2", "two")
			l.under("b3", "one")
		}, nil},
		"a change that was declined": {func(l *tale) {
			l.boots(true)
			defines(l, "one", "two")
			q := l.Ask(l.proposed("b1", "Read", events.EffectAsk, func(e *events.ToolCall) { e.ToolDigest = pt.Digest("two") }), nil)
			l.Decide(q, l.ben, events.VerdictDecline, "")
			l.under("b2", "two")
		}, unapproved},
		"before the gate asked":   {func(l *tale) { l.boots(false); defines(l, "one", "two"); l.under("b1", "two") }, nil},
		"what ran last before it": {func(l *tale) { defines(l, "one", "two"); l.under("b1", "two"); l.boots(true); l.under("b2", "two") }, nil},
		"what ran earlier before it": {func(l *tale) {
			defines(l, "one", "two", "three")
			l.under("b1", "two")
			l.under("b2", "three")
			l.boots(true)
			l.under("b3", "two")
		}, unapproved},
		"what was defined and never ran before it": {func(l *tale) { defines(l, "one", "two"); l.under("b1", "one"); l.boots(true); l.under("b2", "two") }, unapproved},
	}.hold(t)
}

// Pages read what is accepted, and it survives a restart and a rebuild.
func TestTheViewsTellWhatIsAccepted(t *testing.T) {
	l := newTale(t)
	l.boots(true)
	l.define(events.DefineTool, "Read", []byte("one"))
	l.define(events.DefineTool, "Read", []byte("two"))
	v := viewsOf(t, l.Log)
	l.Advance(time.Minute)
	l.approvedUnder("b1", "two")
	follow(t, v, l.Len())
	got, err := v.Accepted(t.Context())
	require.NoError(t, err)
	anew, err := viewsOf(t, l.Log).Accepted(t.Context())
	require.NoError(t, err)
	require.Equal(t, anew, got)
	read := got.Tools["Read"]
	require.Equal(t, pt.Digest("two"), read.Now)
	require.Equal(t, fold.AcceptedFirst, read.Accepted[pt.Digest("one")].How)
	two := read.Accepted[pt.Digest("two")]
	require.Equal(t, []any{fold.AcceptedApproved, "ben", "s"}, []any{two.How, two.Person, two.Session})
	require.NotEmpty(t, two.Request)
}
