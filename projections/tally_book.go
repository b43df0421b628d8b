package projections

import (
	"context"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// The bounds of labels: what an agent or a log from elsewhere names beyond them
// is counted as other.
const (
	maxTools = 100
	maxRules = 20
	other    = "_other"
)

// The kinds of names that may be labels.
const (
	kindTool = "tool"
	kindRule = "rule"
)

// book is what counting remembers from batch to batch. It is the audit's: one
// goroutine owns it, and after a failed batch it is read back.
type book struct {
	names       map[string]map[string]bool // by kind: names that are labels
	tools       map[string]events.Digest   // the newest definition of each tool that is a label
	policies    *policies
	definitions fold.Definitions
	reviews     reviews
	types       map[events.Type]bool // that this build knows
}

func loadBook(ctx context.Context, q querier) (*book, error) {
	b := &book{
		names: map[string]map[string]bool{kindTool: {}, kindRule: {}}, tools: map[string]events.Digest{}, types: map[events.Type]bool{},
	}
	for _, t := range events.AllTypes() {
		b.types[t] = true
	}
	pair := func(scan func(...any) error) (p [2]string, err error) { return p, scan(&p[0], &p[1]) }
	names, err := list(ctx, q, pair, "SELECT kind, name FROM labels")
	if err != nil {
		return nil, err
	}
	for _, n := range names {
		b.names[n[0]][n[1]] = true
	}
	tools, err := list(ctx, q, pair, "SELECT tool, definition FROM tool_marks WHERE definition <> ''")
	if err != nil {
		return nil, err
	}
	for _, t := range tools {
		b.tools[t[0]] = events.Digest(t[1])
	}
	if b.reviews, err = loadReviews(ctx, q); err != nil {
		return nil, err
	}
	if b.definitions, err = loadAccepted(ctx, q); err != nil {
		return nil, err
	}
	b.policies, err = loadPolicies(ctx, q)
	return b, err
}

// label returns the label for a name: itself where it is one already or, if new
// names of the kind may still become one, from here on.
func (d *delta) label(kind, name string, most int, may bool) string {
	name = strings.ToValidUTF8(name, "\uFFFD")
	known := d.book.names[kind]
	if known[name] {
		return name
	}
	if !may || len(known) >= most {
		return other
	}
	known[name] = true
	d.names = append(d.names, [2]string{kind, name})
	return name
}

// tool returns the label of a tool: its name, where a definition gave it.
func (d *delta) tool(name string) string { return d.label(kindTool, name, maxTools, false) }

// rule returns the label of a rule: its name, if it is one of the first.
func (d *delta) rule(name string) string { return d.label(kindRule, name, maxRules, true) }

// define makes a tool's name a label, and notes when its definition became
// another.
func (d *delta) define(logTime int64, e *events.Definition) {
	tool := d.label(kindTool, e.Name, maxTools, true)
	if tool == other || d.book.tools[tool] == e.Digest {
		return
	}
	d.book.tools[tool] = e.Digest
	m := d.tools[tool]
	m.changed, m.definition = logTime, e.Digest
	d.tools[tool] = m
}

// called notes when a tool was last called.
func (d *delta) called(logTime int64, tool string) {
	m := d.tools[tool]
	m.called = max(m.called, logTime)
	d.tools[tool] = m
}

// toolMark is what a batch says of a tool; zero where it says nothing.
type toolMark struct {
	called, changed int64 // log times
	definition      events.Digest
}
