package agent

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// ErrStale is why a call changed nothing that was approved for another content
// than its target has.
var ErrStale = errors.New("it was changed meanwhile; nothing was written")

// Overlay is what files hold once earlier calls of a turn have run, by the path
// of their targets.
type Overlay = gate.Overlay

// Foreseen is what a call would change.
type Foreseen = gate.Foreseen

// Changer is a tool whose calls change one file. What it would do can be shown
// before somebody approves it, and what was approved is bound to the file's
// content. All tools of a loop name a file alike.
type Changer interface {
	Tool
	// Foresee says what a call would change as things are now, over what
	// earlier calls of the same turn would leave; it changes nothing. The error
	// is why the call would fail, in words for the model.
	Foresee(ctx context.Context, arguments []byte, earlier Overlay) (Foreseen, error)
	// Look returns a target as it is now, by its path.
	Look(ctx context.Context, path string) (events.Target, error)
	// Change is Run against a target: where the file differs from it when it is
	// opened, or before it is replaced, nothing is written, and the error is
	// ErrStale.
	Change(ctx context.Context, arguments []byte, target events.Target) (Output, error)
}

// Verifier is a tool that another program could be put in the place of.
type Verifier interface {
	Tool
	// Verify says why what would run is not what the tool's definition
	// describes; nil where it is. It is asked just before each start.
	Verify(ctx context.Context) error
}

// GateTool is what the gate must know of a tool, whose definition has the given
// text.
func GateTool(t Tool, definition []byte) gate.Tool {
	spec := t.Spec()
	known := gate.Tool{
		Name: spec.Name, Source: events.ToolSource(spec.Source), Definition: definition, Schema: spec.Schema, Isolation: spec.Isolation,
		ReadOnly: spec.ReadOnly, Hindrance: spec.Hindrance,
	}
	if c, ok := t.(Changer); ok {
		known.Changes = changes{c}
	}
	if v, ok := t.(Verifier); ok {
		known.Verify = v.Verify
	}
	return known
}

// changes is a Changer as the gate asks for it.
type changes struct{ Changer }

// Change implements gate.Changer.
func (c changes) Change(ctx context.Context, arguments []byte, target events.Target) gate.Output {
	return outputOf(c.Changer.Change(ctx, arguments, target))
}

// outputOf is what a tool produced, as the gate records it.
func outputOf(out Output, err error) gate.Output {
	g := gate.Output{
		Content: out.Content, MediaType: out.MediaType, FullBytes: out.FullBytes, FullDigest: events.Digest(out.Digest),
		StoppedBy: out.StoppedBy,
	}
	if err != nil {
		g.Failed, g.Content, g.FullBytes = true, []byte(err.Error()), 0 // the text says what was cut
		g.Stale = errors.Is(err, ErrStale)
	}
	return g
}
