package gate

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
)

// The rules of the gate itself, named where no policy could be asked.
const (
	ruleToolExists = "tool-exists"
	ruleArguments  = "arguments"
	ruleSize       = "arguments-size"
	rulePending    = "pending-cap"
	rulePolicy     = "policy-failed"
	ruleTarget     = "target"    // the tool would refuse what it is to change
	ruleIsolation  = "isolation" // the machine cannot shut the tool off from agentd
)

// MaxArguments bounds the arguments of a call in bytes, so that the event that
// carries them fits every bus.
const MaxArguments = 768 << 10

// judgement is what schema and policy say of a call.
type judgement struct {
	tool   *judgedTool // nil where it does not exist
	effect events.Effect
	rule   string
	why    string // for the reviewer, or for the model where the call is refused
	policy policy.Verdict
	by     *policy.Policy // that was asked; nil where none was
	// refused marks what never reached the policy: the call ends as an error.
	refused bool
}

// judge asks, in this order: does the tool exist, are the arguments valid, do
// they fit its schema, what does the policy say, can it run on this machine.
func (g *Gate) judge(tool string, arguments []byte) judgement {
	t := g.tools[tool]
	if t == nil {
		return refuse(nil, ruleToolExists, g.unknownTool(tool))
	}
	if len(arguments) > MaxArguments {
		return refuse(t, ruleSize, fmt.Sprintf("The arguments have %d bytes; at most %d can be recorded, so the tool was not run.", len(arguments), MaxArguments))
	}
	if err := g.fits(t, arguments); err != nil {
		return refuse(t, ruleArguments, unfitPrefix+clipTo(err.Error(), maxWhy)+".")
	}
	p := g.Policy()
	v := g.verdict(p, t)
	if t.Hindrance != "" && v.Effect != policy.Deny {
		return refuse(t, ruleIsolation, unfitPrefix+t.Hindrance)
	}
	return judgement{tool: t, effect: v.Effect, rule: v.Rule, why: v.Why, policy: v, by: p}
}

// verdict asks the policy, and denies where that panics. What it frees asks all
// the same while nobody has accepted the tool's definition.
func (g *Gate) verdict(p *policy.Policy, t *judgedTool) (v policy.Verdict) {
	defer func() {
		if r := recover(); r != nil {
			g.logger.Error("the policy panicked", "tool", t.Name, "panic", fmt.Sprint(r))
			v = policy.Verdict{Effect: policy.Deny, Rule: rulePolicy, Why: "the policy could not be asked"}
		}
	}()
	return g.changedAsks(p, t, p.Judge(t.asked()))
}

func refuse(t *judgedTool, rule, why string) judgement {
	return judgement{tool: t, effect: events.EffectDeny, rule: rule, why: why, refused: true}
}

func (g *Gate) unknownTool(name string) string {
	names := slices.Sorted(maps.Keys(g.tools))
	return fmt.Sprintf("The tool %.80q is unknown and was not run. Tools that exist: %s.", name, strings.Join(names, ", "))
}

// terms are the conditions of a request under the verdict that asks. Where a
// rule names who may decide, or asks for four eyes, no handler does; nor does one
// accept a definition.
func (g *Gate) terms(j judgement, handlers bool) events.Terms {
	return events.Terms{
		Rule: j.rule, PolicyDigest: g.judgedBy(j), Why: clip(j.why), Quorum: max(1, j.policy.Quorum),
		Approvers: slices.Clone(j.policy.Approvers), FourEyes: j.policy.FourEyes,
		Handlers: handlers && len(j.policy.Approvers) == 0 && !j.policy.FourEyes && j.rule != ruleChanged,
		Timeout:  events.Duration(j.policy.Timeout), StartWithin: events.Duration(j.policy.StartWithin),
	}
}

// judgedBy names the policy of a judgement. It may have been swapped since.
func (g *Gate) judgedBy(j judgement) events.Digest {
	return events.Digest(cmp.Or(j.by, g.Policy()).Digest())
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

// unfitPrefix begins what the model is told of arguments that do not fit.
const unfitPrefix = "The tool was not run: "

// cannotRun says the same to whoever changed the arguments.
func cannotRun(why string) string {
	return "the changed arguments cannot run: " + strings.TrimSuffix(strings.TrimPrefix(why, unfitPrefix), ".")
}
