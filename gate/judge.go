package gate

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
)

// Tool is what the gate knows of a tool.
type Tool struct {
	Name   string
	Source events.ToolSource
	// Server is the MCP server of the tool, "" for others.
	Server string
	// Definition is the text whose digest stands in every call; it is recorded
	// before its first use.
	Definition []byte
	// Schema is the JSON Schema (2020-12) of the arguments.
	Schema []byte
	// Isolation is how the tool is kept from agentd: "none", or its means.
	Isolation string
}

type judgedTool struct {
	Tool
	digest events.Digest
	schema *jsonschema.Schema
}

// The rules of the gate itself, named where no policy could be asked.
const (
	ruleToolExists = "tool-exists"
	ruleArguments  = "arguments"
	ruleSize       = "arguments-size"
	rulePending    = "pending-cap"
)

// MaxArguments bounds the arguments of a call in bytes, so that the event that
// carries them fits every bus.
const MaxArguments = 768 << 10

func judgedTools(tools []Tool) (map[string]*judgedTool, error) {
	byName := make(map[string]*judgedTool, len(tools))
	for _, t := range tools {
		if byName[t.Name] != nil {
			return nil, fmt.Errorf("two tools are named %q; names must differ", t.Name)
		}
		schema, err := compileSchema(t.Name, t.Schema)
		if err != nil {
			return nil, err
		}
		byName[t.Name] = &judgedTool{Tool: t, digest: events.DigestOf(t.Definition), schema: schema}
	}
	return byName, nil
}

func compileSchema(name string, text []byte) (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, fmt.Errorf("tool %q: its schema is not JSON: %w", name, err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	url := "tool:schema"
	if err := c.AddResource(url, doc); err != nil {
		return nil, fmt.Errorf("tool %q: its schema: %w", name, err)
	}
	schema, err := c.Compile(url)
	if err != nil {
		return nil, fmt.Errorf("tool %q: its schema: %w", name, err)
	}
	return schema, nil
}

// judgement is what schema and policy say of a call.
type judgement struct {
	tool   *judgedTool // nil where it does not exist
	effect events.Effect
	rule   string
	why    string // for the reviewer, or for the model where the call is refused
	policy policy.Verdict
	// refused marks what never reached the policy: the call ends as an error.
	refused bool
}

// judge asks, in this order: does the tool exist, are the arguments valid, do
// they fit its schema, what does the policy say.
func (g *Gate) judge(tool string, arguments []byte) judgement {
	t := g.tools[tool]
	if t == nil {
		return refuse(nil, ruleToolExists, g.unknownTool(tool))
	}
	if len(arguments) > MaxArguments {
		return refuse(t, ruleSize, fmt.Sprintf("The arguments have %d bytes; at most %d can be recorded, so the tool was not run.", len(arguments), MaxArguments))
	}
	if err := t.fits(arguments); err != nil {
		return refuse(t, ruleArguments, "The tool was not run: "+clipTo(err.Error(), maxWhy)+".")
	}
	v := g.policy.Judge(policy.Call{Tool: t.Name, Source: string(t.Source), Server: t.Server})
	return judgement{tool: t, effect: events.Effect(v.Effect), rule: v.Rule, why: v.Why, policy: v}
}

func refuse(t *judgedTool, rule, why string) judgement {
	return judgement{tool: t, effect: events.EffectDeny, rule: rule, why: why, refused: true}
}

func (g *Gate) unknownTool(name string) string {
	names := make([]string, 0, len(g.tools))
	for n := range g.tools {
		names = append(names, n)
	}
	slices.Sort(names)
	return fmt.Sprintf("The tool %.80q is unknown and was not run. Tools that exist: %s.", name, strings.Join(names, ", "))
}

// fits reports why arguments cannot be given to the tool.
func (t *judgedTool) fits(arguments []byte) error {
	args, err := events.DecodeArguments(arguments)
	if err != nil {
		return err
	}
	err = t.schema.Validate(args.Value)
	if invalid, ok := errors.AsType[*jsonschema.ValidationError](err); ok {
		return fmt.Errorf("the arguments do not fit its schema: %s", explain(invalid))
	}
	return err
}

// explain names the first few places where arguments do not fit.
func explain(e *jsonschema.ValidationError) string {
	printer := message.NewPrinter(language.English)
	var lines []string
	var walk func(*jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 && len(lines) < 3 {
			lines = append(lines, fmt.Sprintf("at %q: %s", "/"+strings.Join(e.InstanceLocation, "/"), e.ErrorKind.LocalizedString(printer)))
		}
		for _, c := range e.Causes {
			walk(c)
		}
	}
	walk(e)
	return strings.Join(lines, "; ")
}

// terms are the conditions of a request under the verdict that asks.
func (g *Gate) terms(j judgement) events.Terms {
	return events.Terms{
		Rule: j.rule, PolicyDigest: events.Digest(g.policy.Digest()), Why: clip(j.why), Quorum: max(1, j.policy.Quorum),
		Approvers: append([]string{}, j.policy.Approvers...), FourEyes: j.policy.FourEyes,
		Timeout: events.Duration(j.policy.Timeout), StartWithin: events.Duration(j.policy.StartWithin),
	}
}

// maxWhy bounds what a model reads of why its arguments are refused: they may
// hold names of any length.
const maxWhy = 2 << 10

// clip shortens a text to what a name may have.
func clip(s string) string { return clipTo(s, events.MaxNameBytes) }

// clipTo shortens a text to some bytes, visibly, on a character's edge.
func clipTo(s string, most int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	const mark = "…"
	if len(s) <= most {
		return s
	}
	cut := most - len(mark)
	for cut > 0 && s[cut]&0xC0 == 0x80 {
		cut--
	}
	return s[:cut] + mark
}
