package fold_test

import (
	"github.com/countersign-dev/countersign/events"
)

// The drafts of which tests are made. Each has what is right by default, and
// takes changes to it.

var agent = events.Agent{Name: "main"}

func change[T any](e *T, changes []func(*T)) *T {
	for _, c := range changes {
		c(e)
	}
	return e
}

func call(changes ...func(*events.ToolCall)) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: change(&events.ToolCall{
			CallKey: key, Tool: "Bash", ToolSource: events.SourceBuiltin, Arguments: text(`{"command":"ls"}`), Agent: agent, Principal: "carla",
			Enforcement: events.Enforced, Effect: events.EffectAsk, Rule: "required-tools", PolicyDigest: rule,
		}, changes)}
	}
}

// free is a call that the policy allows.
func free(changes ...func(*events.ToolCall)) draft {
	return call(append([]func(*events.ToolCall){func(e *events.ToolCall) { e.Effect, e.Rule = events.EffectAllow, "default" }}, changes...)...)
}

func terms() events.Terms {
	return events.Terms{
		Rule: "required-tools", PolicyDigest: rule, Quorum: 1, Approvers: []string{}, Timeout: events.Duration(timeout), StartWithin: events.Duration(within),
	}
}

func ask(changes ...func(*events.ApprovalRequest)) draft {
	return func(b *book) events.Draft {
		return events.Draft{Data: change(&events.ApprovalRequest{
			RequestID: request, CallKey: key, Tool: "Bash", Arguments: b.args, Requester: "carla", Terms: terms(),
		}, changes)}
	}
}

func quorum(n int) func(*events.ApprovalRequest) {
	return func(e *events.ApprovalRequest) { e.Quorum = n }
}

func fourEyes(e *events.ApprovalRequest) { e.FourEyes = true }

func decide(verdict events.Verdict, cause events.Cause, actor *events.Actor, changes ...func(*events.Decision)) draft {
	return func(b *book) events.Draft {
		return events.Draft{Data: change(&events.Decision{
			RequestID: request, RequestDigest: b.current, Verdict: verdict, Cause: cause, Arguments: b.args, Actor: actor, Via: "test",
		}, changes)}
	}
}

func approve(who *events.Actor, changes ...func(*events.Decision)) draft {
	return decide(events.VerdictApprove, events.CauseHuman, who, changes...)
}

func decline(who *events.Actor, changes ...func(*events.Decision)) draft {
	return decide(events.VerdictDecline, events.CauseHuman, who, changes...)
}

// modify wants another text to run.
func modify(who *events.Actor, to string) draft {
	return decide(events.VerdictModify, events.CauseHuman, who, func(e *events.Decision) { e.Arguments = text(to) })
}

// says is the gate's own decline.
func says(cause events.Cause) draft { return decide(events.VerdictDecline, cause, nil) }

// revise answers the last decision.
func revise(number int, by, to string, changes ...func(*events.Revision)) draft {
	return func(b *book) events.Draft {
		decision := b.last[events.TypeDecision].ID
		return events.Draft{Causation: decision, Data: change(&events.Revision{
			RequestID: request, Number: number, Arguments: text(to).CarriedBy(decision), By: by, Outcome: events.RevisionAsks, Terms: terms(),
		}, changes)}
	}
}

func refused(e *events.Revision) { e.Outcome = events.RevisionRefused }

func revoke(who *events.Actor, changes ...func(*events.Revocation)) draft {
	return func(b *book) events.Draft {
		return events.Draft{Data: change(&events.Revocation{RequestID: request, Decision: b.approval, Actor: *who}, changes)}
	}
}

// start is the start of a call that was approved.
func start(changes ...func(*events.ToolStarted)) draft {
	return func(b *book) events.Draft {
		return events.Draft{Data: change(&events.ToolStarted{
			CallKey: key, Tool: "Bash", Warrant: events.Warrant{Kind: events.WarrantDecision, Decision: b.approval}, RequestDigest: b.current,
			Arguments: b.args, Executor: me, Enforcement: events.Enforced, Isolation: "none",
		}, changes)}
	}
}

// byRule is the start of a call that the policy allowed.
func byRule(changes ...func(*events.ToolStarted)) draft {
	w := events.Warrant{Kind: events.WarrantRule, Rule: "default", PolicyDigest: rule}
	return start(append([]func(*events.ToolStarted){warrant(w)}, changes...)...)
}

func warrant(w events.Warrant) func(*events.ToolStarted) {
	return func(e *events.ToolStarted) { e.Warrant = w }
}

// ends is the result of a call without a start.
func ends(status events.Status, cause events.Cause) draft { return tells(status, cause, "") }

// tells is a result as an executor tells it.
func tells(status events.Status, cause events.Cause, executor string) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: &events.ToolResult{CallKey: key, Tool: "Bash", Status: status, Cause: cause, Executor: executor}}
	}
}

func runs(id, principal string, changes ...func(*events.RunStarted)) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: change(&events.RunStarted{
			RunID: id, Principal: principal, Agent: agent, Query: text("do it"), Model: "m", ToolsDigest: rule, PolicyDigest: rule,
		}, changes)}
	}
}

// inRun puts a call into a run.
func inRun(id string) func(*events.ToolCall) { return func(e *events.ToolCall) { e.RunID = id } }

func cancels(id string) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: &events.RunCancelled{RunID: id, Cause: events.CauseCancelled, Via: "test"}}
	}
}

func finishes(id string) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: &events.RunFinished{RunID: id, Reason: events.FinishStop}}
	}
}

func round(run, batch string, number, attempt int, outcome events.RoundOutcome) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: &events.RoundFinished{
			RunID: run, BatchID: batch, Round: number, Attempt: attempt, Agent: agent, Dialect: "script", Outcome: outcome,
			Usage: events.Usage{Prompt: 2, Completion: 1, Total: 3},
		}}
	}
}

// loses names calls that a rollback may have lost the start of.
func loses(keys ...events.CallKey) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: &events.Recovered{BootID: "b2", Calls: keys, Rollback: &events.Rollback{
			Kind: events.RollbackShorter, By: events.NotedByHeadFile, Records: 9, Noted: []events.Head{}, At: events.At(epoch), Found: []events.Head{},
		}}}
	}
}

// recovers names calls whose process was lost.
func recovers(keys ...events.CallKey) draft {
	return func(*book) events.Draft { return events.Draft{Data: &events.Recovered{BootID: "b2", Calls: keys}} }
}
