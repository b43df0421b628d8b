package gate

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Definition is a text whose digest events name.
type Definition struct {
	Kind    events.DefinitionKind
	Name    string
	Content []byte
}

// Digest is the SHA-256 of the content, as events name it.
func (d Definition) Digest() events.Digest { return events.DigestOf(d.Content) }

// mediaType is what the content is: prompts and files are prose, all else is
// JSON.
func (d Definition) mediaType() string {
	switch d.Kind {
	case events.DefinePrompt, events.DefineSubagent, events.DefineSkill:
		return events.MediaText
	case events.DefinePolicy, events.DefineTool, events.DefineTools, events.DefineConfiguration:
		return events.MediaJSON
	}
	return events.MediaBin
}

// Define records definitions that the log does not have yet. It is called
// before their first use.
func (g *Gate) Define(ctx context.Context, definitions ...Definition) error {
	var drafts []events.Draft
	for _, d := range definitions {
		if !g.isNew(d) {
			continue
		}
		drafts = append(drafts, d.draft())
	}
	if len(drafts) == 0 {
		return nil
	}
	if _, err := g.log.Append(ctx, drafts...); err != nil {
		return fmt.Errorf("record definitions: %w", err)
	}
	return nil
}

func (d Definition) draft() events.Draft {
	p := events.NewPayload(d.Content)
	return events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: d.Kind, Name: d.Name, Digest: d.Digest(), Content: p.Ref(d.mediaType()),
	}}
}

// isNew reports whether the log must have a definition yet. A policy that holds
// again after another did is defined again, so that the newest is the one that
// holds.
func (g *Gate) isNew(d Definition) bool {
	if d.Kind == events.DefinePolicy {
		return g.newestPolicy() != d.Digest()
	}
	return !g.knows(definedAs(d.Kind, d.Digest()), d.Digest())
}

// DefineAll records the definitions that the gate itself stands on: its policy
// and its tools.
func (g *Gate) DefineAll(ctx context.Context) error {
	all := []Definition{policyDefinition(g.Policy())}
	for _, name := range slices.Sorted(maps.Keys(g.tools)) {
		all = append(all, Definition{Kind: events.DefineTool, Name: name, Content: g.tools[name].Definition})
	}
	return g.Define(ctx, all...)
}

func definedAs(kind events.DefinitionKind, d events.Digest) string {
	return string(kind) + "/" + string(d)
}

func (g *Gate) knows(name string, digest events.Digest) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.known[name] == digest
}

// learn notes what the log has a definition for. mu is held.
func (g *Gate) learn(r fold.Record) {
	if e, ok := r.Event.(*events.Definition); ok {
		g.note(definedAs(e.Kind, e.Digest), e.Digest)
	}
}

// note keeps what the log has under a name, for gate.db as well. mu is held.
func (g *Gate) note(name string, digest events.Digest) {
	g.known[name] = digest
	g.newlyKnown[name] = digest
}

// forgetName makes the next decision of a person carry the name again: the log
// did not take it.
func (g *Gate) forgetName(person string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.named, person)
}

// personDraft drafts the name behind a person's id, once a boot and name: what
// the log has is a payload, which may be erased, so it is not relied on. mu is
// held.
func (g *Gate) personDraft(person, name string) []events.Draft {
	want := events.DigestOf([]byte(name))
	if g.named[person] == want {
		return nil
	}
	g.named[person] = want
	p := events.NewPayload([]byte(name))
	return []events.Draft{{Payloads: []events.Payload{p}, Data: &events.Person{Person: person, Name: p.Ref(events.MediaText)}}}
}
