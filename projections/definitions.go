package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// Definition is the text behind a digest, where the log first had it. Its text
// is a payload: Views.Text(ctx, d.EventID, d.Content).
type Definition struct {
	events.Definition

	At      events.Position
	EventID string
}

func (r folded) definition(e *events.Definition) error {
	content, err := doc(e.Content)
	if err != nil {
		return err
	}
	r.exec("INSERT INTO definitions (log_time, part, off, row, kind, name, digest, event, content) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		r.row, string(e.Kind), e.Name, string(e.Digest), r.Envelope.ID, content)
	return nil
}

const selectDefinitions = "SELECT d.log_time, d.part, d.off, d.kind, d.name, d.digest, d.event, d.content FROM definitions d"

func scanDefinition(scan func(...any) error) (Definition, error) {
	var d Definition
	var at place
	var content string
	if err := scan(append(at.dest(), &d.Kind, &d.Name, &d.Digest, &d.EventID, &content)...); err != nil {
		return d, err
	}
	d.At, d.Content = at.position(), &events.Ref{}
	return d, undoc(content, d.Content)
}

// Definitions returns what was defined under a name, the newest first, up to
// limit.
func (v *Views) Definitions(ctx context.Context, kind events.DefinitionKind, name string, limit int) ([]Definition, error) {
	return list(ctx, v.db, scanDefinition,
		selectDefinitions+" WHERE d.kind = ? AND d.name = ? ORDER BY d.row DESC LIMIT ?", string(kind), name, limit)
}

// DefinitionOf returns where the log first had a text; ErrNotFound if it has
// none of that digest.
func (v *Views) DefinitionOf(ctx context.Context, kind events.DefinitionKind, digest events.Digest) (Definition, error) {
	return first(ctx, v.db, scanDefinition,
		selectDefinitions+" WHERE d.kind = ? AND d.digest = ? ORDER BY d.row LIMIT 1", string(kind), string(digest))
}

// policyNow returns the definition of the policy that holds now, as far as the log
// tells: the one of the newest call, or one that was defined after it.
// ErrNotFound if there is none.
func (v *Views) policyNow(ctx context.Context) (Definition, error) {
	defined, err := first(ctx, v.db, scanDefinition,
		selectDefinitions+" WHERE d.kind = ? ORDER BY d.row DESC LIMIT 1", string(events.DefinePolicy))
	if err != nil {
		return defined, err
	}
	newest, err := v.History(ctx, Filter{Reader: Everything()}, "", 1)
	if err != nil || len(newest.Items) == 0 {
		return defined, err
	}
	call := newest.Items[0]
	if call.PolicyDigest == defined.Digest || call.At.Compare(defined.At) < 0 {
		return defined, nil
	}
	return v.DefinitionOf(ctx, events.DefinePolicy, call.PolicyDigest)
}
