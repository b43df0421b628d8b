package generate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/tools"
)

// definition is a text whose digest events name.
type definition struct {
	kind    events.DefinitionKind
	name    string
	media   string
	content []byte
}

// kind is a tool with what policy says of it.
type kind struct {
	name    string
	source  events.ToolSource
	digest  events.Digest
	verdict policy.Verdict
	common  int  // how often it is asked for
	grave   bool // it sometimes needs two people
	writes  bool
	args    func(*telling) []byte
}

// trade is what the agents work with.
type trade struct {
	policy, tools, prompt events.Digest

	definitions []definition
	kinds       []kind // each as often as it is common
	unknown     kind
}

// ruleToolExists is the gate's own rule for a tool that does not exist.
const ruleToolExists = "tool-exists"

func newTrade() (*trade, error) {
	p, err := policy.Compile(policy.Config{
		RequiredTools: []string{"Write", "Edit", "Bash", "Deploy", "Migrate", "SendMail"},
		DeniedTools:   []string{"DropTable"}, Timeout: 10 * time.Minute, StartWithin: 30 * time.Minute,
	})
	if err != nil {
		return nil, err
	}
	tr := &trade{policy: events.Digest(p.Digest())}
	tr.define(events.DefinePolicy, "policy", events.MediaJSON, p.Document())
	digests := map[string]events.Digest{}
	all, err := definedTools()
	if err != nil {
		return nil, err
	}
	for _, def := range all {
		digests[def.name] = tr.define(events.DefineTool, def.name, events.MediaJSON, def.content)
	}
	for _, k := range kinds() {
		server, _, _ := strings.Cut(k.name, "__")
		call := policy.Call{Tool: k.name, Source: string(k.source)}
		if k.source == events.SourceMCP {
			call.Server = server
		}
		k.digest, k.verdict = digests[k.name], p.Judge(call)
		for range k.common {
			tr.kinds = append(tr.kinds, k)
		}
	}
	tr.unknown = kind{
		name: "WebSearch", source: events.SourceUnknown, args: searchArgs,
		verdict: policy.Verdict{Effect: policy.Deny, Rule: ruleToolExists, Why: `The tool "WebSearch" is unknown and was not run.`},
	}
	tr.prompt = tr.define(events.DefinePrompt, "system", events.MediaText, []byte("You work on the tickets of a small company. Say what you do before you do it."))
	tr.tools, err = tr.defineList(all)
	return tr, err
}

func (tr *trade) define(kind events.DefinitionKind, name, media string, content []byte) events.Digest {
	tr.definitions = append(tr.definitions, definition{kind, name, media, content})
	return events.DigestOf(content)
}

// defineList defines the list that runs name.
func (tr *trade) defineList(all []definition) (events.Digest, error) {
	list := make([]json.RawMessage, len(all))
	for i, d := range all {
		list[i] = d.content
	}
	content, err := json.Marshal(list)
	return tr.define(events.DefineTools, "tools", events.MediaJSON, content), err
}

// definedTools are the definitions of the built-in tools, as agentd records
// them, and of those that a configuration and MCP servers added.
func definedTools() (defs []definition, err error) {
	dir, err := os.MkdirTemp("", "countersign-generate-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	all, err := tools.New(tools.Options{Workspace: dir, Builtin: []string{"Read", "Write", "Edit", "Bash"}})
	if err != nil {
		return nil, fmt.Errorf("make the built-in tools: %w", err)
	}
	for _, s := range addedTools() {
		all = append(all, described{s})
	}
	for _, t := range all {
		content, err := tools.Definition(t)
		if err != nil {
			return nil, err
		}
		defs = append(defs, definition{name: t.Spec().Name, content: content})
	}
	return defs, nil
}

// described is a tool that exists as a description alone.
type described struct{ spec agent.ToolSpec }

// Spec implements agent.Tool.
func (t described) Spec() agent.ToolSpec { return t.spec }

// Run implements agent.Tool.
func (t described) Run(context.Context, []byte) (agent.Output, error) {
	return agent.Output{}, fmt.Errorf("tool %q is made up", t.spec.Name)
}

// addedTools describes the tools that are not built in.
func addedTools() []agent.ToolSpec {
	var specs []agent.ToolSpec
	for _, t := range []struct{ name, source, description, properties string }{
		{"Search", "customer-json-schema", "Search the code base.", "query limit"},
		{"Deploy", "customer-json-schema", "Put a version of a service into an environment.", "service version environment"},
		{"Migrate", "customer-json-schema", "Run a statement against a database.", "database statement"},
		{"SendMail", "customer-json-schema", "Send a mail to a customer.", "to subject body"},
		{"DropTable", "customer-json-schema", "Drop a table.", "database table"},
		{"files__write_file", "mcp", "Write a file of the shared drive.", "path content"},
		{"github__create_pull_request", "mcp", "Open a pull request.", "title body head base"},
		{"slack__post_message", "mcp", "Post a message to a channel.", "channel text"},
	} {
		var properties []string
		for name := range strings.FieldsSeq(t.properties) {
			properties = append(properties, fmt.Sprintf(`%q:{"type":"string"}`, name))
		}
		specs = append(specs, agent.ToolSpec{
			Name: t.name, Description: t.description, Source: t.source, ReadOnly: t.name == "Search", Isolation: "none",
			Schema: json.RawMessage(`{"type":"object","additionalProperties":false,"properties":{` + strings.Join(properties, ",") + `}}`),
		})
	}
	return specs
}
