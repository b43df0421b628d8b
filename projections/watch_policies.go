package projections

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/policy"
)

// maxJudged bounds the verdicts that are remembered.
const maxJudged = 4096

// policies are the policies that the log holds, by their digests, ready to judge
// again what was judged under them.
type policies struct {
	texts  map[events.Digest]policyText
	ready  map[events.Digest]*policy.Policy // nil: its text is erased, or not one that this build reads
	judged map[judgedCall]events.Effect
}

// policyText is where the text of a policy is.
type policyText struct {
	event   string // that carries it
	content *events.Ref
}

// judgedCall is what a verdict depends on.
type judgedCall struct {
	policy events.Digest
	tool   string
	source events.ToolSource
}

func loadPolicies(ctx context.Context, q querier) (*policies, error) {
	p := &policies{texts: map[events.Digest]policyText{}, ready: map[events.Digest]*policy.Policy{}, judged: map[judgedCall]events.Effect{}}
	type row struct {
		digest events.Digest
		policyText
	}
	rows, err := list(ctx, q, func(scan func(...any) error) (r row, err error) {
		var content string
		if err := scan(&r.digest, &r.event, &content); err != nil {
			return r, err
		}
		r.content = &events.Ref{}
		return r, undoc(content, r.content)
	}, "SELECT digest, event, content FROM policies")
	for _, r := range rows {
		p.texts[r.digest] = r.policyText
	}
	return p, err
}

// learn notes where the text of a policy is; false where that was known.
func (p *policies) learn(event string, e *events.Definition) bool {
	if _, known := p.texts[e.Digest]; known || e.Content == nil {
		return false
	}
	p.texts[e.Digest] = policyText{event: event, content: e.Content}
	return true
}

// rejudge says what the recorded policies of a call say of it: the one under
// which it was proposed and, where its request was revised, the one under which
// that was. A deny of either holds. false where one of them cannot be asked.
func (p *policies) rejudge(ctx context.Context, source Source, c *fold.Call) (events.Effect, bool, error) {
	effect, known, err := p.judge(ctx, source, &c.ToolCall)
	if err != nil || c.Request == nil || c.Request.PolicyDigest == c.PolicyDigest {
		return effect, known, err
	}
	revised := c.ToolCall
	revised.PolicyDigest = c.Request.PolicyDigest
	later, also, err := p.judge(ctx, source, &revised)
	if later == events.EffectDeny {
		effect = later
	}
	return effect, known && also, err
}

// judge says what the recorded policy of a call says of it; false where the log
// does not tell its text any more, or never did.
func (p *policies) judge(ctx context.Context, source Source, c *events.ToolCall) (events.Effect, bool, error) {
	key := judgedCall{c.PolicyDigest, c.Tool, c.ToolSource}
	if effect, known := p.judged[key]; known {
		return effect, true, nil
	}
	judge, err := p.policy(ctx, source, c.PolicyDigest)
	if err != nil || judge == nil {
		return "", false, err
	}
	if len(p.judged) >= maxJudged {
		clear(p.judged)
	}
	effect := judge.Judge(judgedAs(c.Tool, c.ToolSource)).Effect
	p.judged[key] = effect
	return effect, true, nil
}

// policy compiles the policy of a digest, once; nil where that cannot be done.
func (p *policies) policy(ctx context.Context, source Source, digest events.Digest) (*policy.Policy, error) {
	if ready, known := p.ready[digest]; known {
		return ready, nil
	}
	where, known := p.texts[digest]
	if !known {
		return nil, nil //nolint:nilnil // none is an answer
	}
	text, err := source.Payload(ctx, where.event, where.content)
	if err != nil && !errors.Is(err, events.ErrNoPayload) {
		return nil, fmt.Errorf("%w: the policy %.16s: %w", errSource, digest, err)
	}
	var ready *policy.Policy
	if err == nil && events.DigestOf(text) == digest {
		if ready, err = policy.Read(text); err != nil {
			ready = nil // of another build: it cannot be judged by it
		}
	}
	p.ready[digest] = ready
	return ready, nil
}

// judgedAs is a call as a policy judges it, by what the log tells of its tool. The
// record does not name the server of an MCP tool: of server__tool it is what
// stands before the first separator, which is how an entry of the policy is read
// as well.
func judgedAs(tool string, source events.ToolSource) policy.Call {
	c := policy.Call{Tool: tool, Source: string(source)}
	if source == events.SourceMCP {
		c.Server, _, _ = strings.Cut(strings.TrimPrefix(tool, "mcp__"), "__")
	}
	return c
}
