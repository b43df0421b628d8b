package projections

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
)

// PolicyNow is the policy that holds now, as far as the log tells, with its
// text.
type PolicyNow struct {
	Definition

	Text   []byte
	policy *policy.Policy
}

// PolicyNow returns the policy that holds now. ErrNotFound where the log has
// none, events.ErrNoPayload where its text was erased.
func (v *Views) PolicyNow(ctx context.Context) (PolicyNow, error) {
	d, err := v.policyNow(ctx)
	if err != nil {
		return PolicyNow{}, err
	}
	p := PolicyNow{Definition: d}
	if p.Text, err = v.Text(ctx, d.EventID, d.Content); err != nil {
		return p, err
	}
	if p.policy, err = policy.Read(p.Text); err != nil {
		return p, fmt.Errorf("the policy of record %s: %w", d.At, err)
	}
	return p, nil
}

// Judge says what the policy does to a tool by its name and source, by which
// rule and why. false where there is no policy that this build can read.
func (p PolicyNow) Judge(tool string, source events.ToolSource) (effect events.Effect, rule, why string, ok bool) {
	if p.policy == nil {
		return "", "", "", false
	}
	verdict := p.policy.Judge(judgedAs(tool, source))
	return verdict.Effect, verdict.Rule, verdict.Why, true
}
