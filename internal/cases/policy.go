package cases

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/policy"
)

// policyCall is a line of calls.jsonl.
type policyCall struct {
	Source    string `json:"source"`
	Server    string `json:"server"`
	Tool      string `json:"tool"`
	Effective string `json:"effective"`
	ToolName  string `json:"toolName"`
}

// judged is a line with what became of it.
type judgedLine struct {
	call    policy.Call
	verdict policy.Verdict
	known   bool
}

// judgePolicy compiles the case's policy and judges its calls.
func judgePolicy(_ context.Context, _ Options, f *folder) error {
	w := f.readWants("policy.json")
	config, known := readPolicy(w)
	if name := w.unknown(); name != "" {
		return fmt.Errorf("policy.json: the member %s is not understood", name)
	}
	p, err := policy.Compile(config)
	if err != nil {
		return fmt.Errorf("the policy does not compile: %w", err)
	}
	lines, err := judgeLines(f, p, known)
	if err != nil {
		return err
	}
	for name, holds := range lineRules() {
		var numbers []int
		if !f.expect.take(name, &numbers) {
			continue
		}
		for _, n := range numbers {
			if n < 1 || n > len(lines) {
				f.report.fail("%s: there is no line %d", name, n)
				continue
			}
			l := lines[n-1]
			f.report.check(name, holds(l), "line %d: the verdict on %q is %s by %s", n, l.call.Tool, l.verdict.Effect, l.verdict.Rule)
		}
	}
	judgeWarnings(f, p, lines)
	return nil
}

// readPolicy reads a policy as the cases write it.
func readPolicy(w *wants) (policy.Config, []string) {
	var c policy.Config
	c.RequiredSet = w.take("required_tools", &c.RequiredTools)
	for _, name := range []string{"allow", "allowed_tools"} {
		w.take(name, &c.AllowedTools)
	}
	for _, name := range []string{"deny", "denied_tools"} {
		w.take(name, &c.DeniedTools)
	}
	known := []string{"Read", "Write", "Edit", "Bash"}
	w.take("known_tools", &known)
	return c, known
}

func judgeLines(f *folder, p *policy.Policy, known []string) ([]judgedLine, error) {
	var lines []judgedLine
	for i, raw := range f.lines("calls.jsonl") {
		var c policyCall
		if err := json.Unmarshal(raw, &c); err != nil {
			return nil, fmt.Errorf("calls.jsonl line %d: %w", i+1, err)
		}
		call := callOf(c)
		lines = append(lines, judgedLine{
			call: call, verdict: p.Judge(call), known: call.Server != "" || slices.Contains(known, call.Tool),
		})
	}
	return lines, nil
}

// callOf is a call as the gate would put it to the policy.
func callOf(c policyCall) policy.Call {
	source := map[string]string{
		"": policy.SourceBuiltin, "builtin": policy.SourceBuiltin, "mcp": policy.SourceMCP, "skill": policy.SourceSkill,
		"custom": policy.SourceCustom,
	}[c.Source]
	if source == "" {
		source = c.Source
	}
	call := policy.Call{Tool: c.Tool + c.ToolName, Source: source, Server: c.Server}
	if c.Server != "" && !strings.Contains(call.Tool, "__") {
		call.Tool = c.Server + "__" + c.Tool
	}
	return call
}

// lineRules are the expectations on lines.
func lineRules() map[string]func(judgedLine) bool {
	gated := func(l judgedLine) bool { return l.verdict.Effect != policy.Allow }
	return map[string]func(judgedLine) bool{
		"gated_lines":            func(l judgedLine) bool { return l.verdict.Effect == policy.Ask },
		"asked_lines":            func(l judgedLine) bool { return l.verdict.Effect == policy.Ask },
		"denied_lines":           func(l judgedLine) bool { return l.verdict.Effect == policy.Deny },
		"gated_or_unknown_lines": func(l judgedLine) bool { return gated(l) || !l.known },
		"unknown_tool_lines":     func(l judgedLine) bool { return gated(l) || !l.known },
		"not_auto_allowed_lines": gated,
		"allowed_lines":          func(l judgedLine) bool { return l.verdict.Effect == policy.Allow },
		"not_gated_lines":        func(l judgedLine) bool { return l.verdict.Effect == policy.Allow },
		"not_blocked_lines":      func(l judgedLine) bool { return l.verdict.Effect != policy.Deny },
	}
}

// judgeWarnings judges that an entry meant for a line, and matching nothing,
// is said at start.
func judgeWarnings(f *folder, p *policy.Policy, lines []judgedLine) {
	var numbers []int
	if !f.expect.take("warn_lines", &numbers) {
		return
	}
	var calls []policy.Call
	for _, l := range lines {
		calls = append(calls, l.call)
	}
	warnings := p.Unmatched(calls)
	for _, n := range numbers {
		if n < 1 || n > len(lines) {
			f.report.fail("warn_lines: there is no line %d", n)
			continue
		}
		bare := lines[n-1].call.Tool[strings.LastIndex(lines[n-1].call.Tool, "__")+1:]
		bare = strings.TrimPrefix(bare, "_")
		said := slices.ContainsFunc(warnings, func(w string) bool { return strings.Contains(w, bare) })
		f.report.check("warn_lines", said, "line %d: no warning names %q: %q", n, bare, warnings)
	}
}
