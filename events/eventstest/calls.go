package eventstest

import "github.com/countersign-dev/countersign/events"

// data returns the sample of a type, or nil.
func (b *builder) data(typ events.Type) events.Event {
	for _, find := range []func(events.Type) events.Event{b.call, b.run, b.process} {
		if e := find(typ); e != nil {
			return e
		}
	}
	return nil
}

// call has the types about one call: from the model's wish to its result.
func (b *builder) call(typ events.Type) events.Event {
	switch typ {
	case events.TypeToolCall:
		return &events.ToolCall{
			CallKey: key(), RunID: RunID, CallID: "call_Zx81", Tool: "Write", ToolSource: events.SourceBuiltin, ToolDigest: digest("tool"),
			Arguments: b.own(writeArguments, events.MediaJSON), Agent: agent(), Model: "default", Principal: Alice,
			Enforcement: events.Enforced, Effect: events.EffectAsk, Rule: "required-tools", PolicyDigest: digest("policy"), Idempotency: "key-1",
		}
	case events.TypeApprovalRequest:
		return &events.ApprovalRequest{
			RequestID: RequestID, CallKey: key(), Tool: "Write", Arguments: carried(writeArguments), Requester: Alice,
			Terms: terms(), Target: target(), Preview: b.own("-old\n+hello\n", events.MediaText),
		}
	case events.TypeRevision:
		return &events.Revision{
			RequestID: RequestID, Number: 1, Arguments: carried(`{"path":"other.txt","content":"hello\n"}`), By: Alice,
			Outcome: events.RevisionAsks, Terms: terms(), Target: target(), Preview: b.own("+hello\n", events.MediaText),
		}
	case events.TypeDecision:
		return &events.Decision{
			RequestID: RequestID, RequestDigest: digest("request"), Verdict: events.VerdictModify, Cause: events.CauseHuman,
			Arguments: b.own(`{"path":"other.txt","content":"hello\n"}`, events.MediaJSON), Comment: b.own("not over the old notes", events.MediaText),
			Actor: someone(), Via: "console", Seen: &events.Seen{Render: "render-1", Digest: digest("request")}, Idempotency: "key-2", Bulk: "bulk-1",
		}
	case events.TypeRevocation:
		return &events.Revocation{
			RequestID: RequestID, Decision: Decision, Actor: actor(), Comment: b.own("wrong file after all", events.MediaText),
		}
	case events.TypeToolStarted:
		return &events.ToolStarted{
			CallKey: key(), Tool: "Write", Warrant: warrant(), RequestDigest: digest("request"),
			Arguments: carried(writeArguments), Executor: BootID, Enforcement: events.Enforced, Isolation: "none",
		}
	case events.TypeToolResult:
		return &events.ToolResult{
			CallKey: key(), Tool: "Write", Status: events.StatusError, Cause: events.CauseHuman, Rule: "required-tools",
			Result: b.truncated("wrote 6 bytes"), DurationMS: 17, StoppedBy: "output-limit", Executor: BootID,
		}
	default:
		return nil
	}
}
