package eventstest

import (
	"time"

	"github.com/countersign-dev/countersign/events"
)

// run has the types about a run, its rounds and its subagents.
func (b *builder) run(typ events.Type) events.Event {
	switch typ {
	case events.TypeRunStarted:
		return &events.RunStarted{
			RunID: RunID, Principal: Alice, Actor: someone(), Agent: agent(), Query: b.own("write my notes down", events.MediaText), Model: "default",
			PromptDigest: digest("prompt"), Prompt: b.own("prompt", events.MediaText), ToolsDigest: digest("tools"), PolicyDigest: digest("policy"),
			Bypass: &events.Bypass{Reason: b.own("a drill", events.MediaText), Until: events.At(Now().Add(time.Hour)), Actor: actor()},
		}
	case events.TypeRunCancelled:
		return &events.RunCancelled{RunID: RunID, Cause: events.CauseCancelled, Actor: someone(), Via: "chat-api"}
	case events.TypeRunFinished:
		return &events.RunFinished{
			RunID: RunID, Reason: events.FinishError, Code: "provider", Detail: b.own("the stream was cut", events.MediaText),
			Rounds: 3, Calls: 4, Usage: usage(),
		}
	case events.TypeRoundFinished:
		return &events.RoundFinished{
			RunID: RunID, BatchID: BatchID, Round: 1, Attempt: 2, Agent: agent(), Dialect: "openai", Outcome: events.RoundCalls,
			FinishReason: "tool_calls", Message: b.own(`{"role":"assistant","tool_calls":[]}`, events.MediaJSON), Calls: 2,
			Repairs: []events.Repair{{Index: 1, What: events.RepairID, Now: "call_Zx81-1"}}, Code: "cut",
			Detail: fullReference(), Usage: usage(), Reasoning: b.own("the user wants notes", events.MediaText),
		}
	case events.TypeSubagentStarted:
		return &events.SubagentStarted{
			CallKey: key(), Name: "researcher", Path: "researcher", Warrant: warrant(), RequestDigest: digest("request"),
			Arguments: carried(`{"task":"look it up"}`), ToolDigest: digest("Task"),
		}
	case events.TypeSubagentFinished:
		return &events.SubagentFinished{CallKey: key(), Name: "researcher", Path: "researcher", Reason: events.FinishStop, Usage: usage()}
	default:
		return nil
	}
}

// fullReference has every member: a cut that an earlier event carries.
func fullReference() *events.Ref {
	cut := (&builder{}).truncated("the provider's page on errors")
	return cut.CarriedBy(CallID)
}
