package events

import (
	"errors"
	"fmt"
	"slices"
	"time"
)

// MaxIndex bounds the calls of one turn.
const MaxIndex = 1 << 16

// The checks below report what is wrong with one field, by its name on the
// wire, or return nil. first joins them into the check of a type.

// name takes a text that must be there, up to MaxNameBytes.
func name(field, s string) error {
	if s == "" {
		return fmt.Errorf("%s is missing", field)
	}
	return label(field, s)
}

// label takes a text that may be empty, up to MaxNameBytes.
func label(field, s string) error {
	if len(s) > MaxNameBytes {
		return fmt.Errorf("%s has %d bytes, the bound is %d", field, len(s), MaxNameBytes)
	}
	return nil
}

// names is name for pairs of field and text.
func names(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := name(pairs[i], pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

// labels is label for pairs of field and text.
func labels(pairs ...string) error {
	for i := 0; i+1 < len(pairs); i += 2 {
		if err := label(pairs[i], pairs[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func oneOf[T ~string](field string, v T, allowed []T) error {
	if !slices.Contains(allowed, v) {
		return fmt.Errorf("%s is %.40q, want one of %q", field, string(v), allowed)
	}
	return nil
}

func digest(field string, d Digest, optional bool) error {
	if optional && d == "" {
		return nil
	}
	if len(d) != 64 || !isHex(string(d)) {
		return fmt.Errorf("%s %.70q is not 64 lower-case hex digits", field, string(d))
	}
	return nil
}

// ref takes a reference that must be there; what it says is checked with all
// others of the event.
func ref(field string, r *Ref) error {
	if r == nil {
		return fmt.Errorf("%s is missing", field)
	}
	return nil
}

func notNegative(field string, n int64) error {
	if n < 0 {
		return fmt.Errorf("%s is %d, want 0 or more", field, n)
	}
	return nil
}

func first(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (k CallKey) check() error {
	if k.Index < 0 || k.Index >= MaxIndex {
		return fmt.Errorf("index is %d, want 0 to %d", k.Index, MaxIndex-1)
	}
	return name("batch_id", k.BatchID)
}

func (a *Actor) check() error {
	if a == nil {
		return nil
	}
	for _, s := range slices.Concat(a.Roles, a.Groups) {
		if err := name("actor: a role or group", s); err != nil {
			return err
		}
	}
	return first(names("actor.person", a.Person, "actor.method", a.Method),
		labels("actor.credential", a.Credential, "actor.asserted_by", a.AssertedBy))
}

func (a Agent) check() error { return first(name("agent.name", a.Name), label("agent.path", a.Path)) }

func (t Terms) check() error {
	if t.Quorum < 1 {
		return fmt.Errorf("quorum is %d, want 1 or more", t.Quorum)
	}
	if us := Duration(time.Microsecond); t.Timeout < us || t.StartWithin < us {
		return errors.New("timeout and start_within must be a microsecond or more")
	}
	for _, a := range t.Approvers {
		if err := name("approvers", a); err != nil {
			return err
		}
	}
	return first(name("rule", t.Rule), digest("policy_digest", t.PolicyDigest, false), label("why", t.Why))
}

func (t *Target) check() error {
	if t == nil {
		return nil
	}
	return first(name("target.path", t.Path), digest("target.digest", t.Digest, true))
}

func (w Warrant) check() error {
	if err := first(labels("warrant.decision", w.Decision, "warrant.rule", w.Rule, "warrant.id", w.ID),
		digest("warrant.policy_digest", w.PolicyDigest, true)); err != nil {
		return err
	}
	switch w.Kind {
	case WarrantDecision:
		return name("warrant.decision", w.Decision)
	case WarrantRule:
		return first(name("warrant.rule", w.Rule), digest("warrant.policy_digest", w.PolicyDigest, false))
	case WarrantBypass, WarrantStandingRule:
		return name("warrant.id", w.ID)
	default:
		return fmt.Errorf("warrant.kind is %.40q", string(w.Kind))
	}
}

func (h Head) check() error { return digest("root", h.Root, false) }

func heads(hs []Head) error {
	for _, h := range hs {
		if err := h.check(); err != nil {
			return err
		}
	}
	return nil
}

func (u Usage) check() error {
	return first(notNegative("usage.prompt", u.Prompt), notNegative("usage.completion", u.Completion), notNegative("usage.total", u.Total))
}

func effects() []Effect           { return []Effect{EffectAllow, EffectAsk, EffectDeny} }
func verdicts() []Verdict         { return []Verdict{VerdictApprove, VerdictModify, VerdictDecline} }
func enforcements() []Enforcement { return []Enforcement{Enforced, Cooperative, Observed} }
func toolSources() []ToolSource {
	return []ToolSource{SourceBuiltin, SourceSkill, SourceMCP, SourceCustom, SourceUnknown}
}

func causes() []Cause {
	return []Cause{
		CauseHuman, CausePolicy, CauseStandingRule, CauseBypass, CauseHandler, CauseTimeout, CauseCancelled,
		CauseSuperseded, CauseStale, CauseGateError, CauseExecutorLost, CauseDeliveryFailed,
	}
}

func statuses() []Status {
	return []Status{StatusOK, StatusError, StatusDeclined, StatusExpired, StatusCancelled, StatusStale, StatusAmbiguous}
}

func revisionOutcomes() []RevisionOutcome { return []RevisionOutcome{RevisionAsks, RevisionRefused} }

func roundOutcomes() []RoundOutcome { return []RoundOutcome{RoundCalls, RoundText, RoundFailed} }

func finishReasons() []FinishReason {
	return []FinishReason{
		FinishToolCalls, FinishStop, FinishLength, FinishReturnDirect, FinishCancelled, FinishLimit, FinishError,
	}
}

func definitionKinds() []DefinitionKind {
	return []DefinitionKind{DefinePolicy, DefineTool, DefineTools, DefinePrompt, DefineSubagent, DefineSkill, DefineConfiguration}
}
