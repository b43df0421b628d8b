package events

import "fmt"

// The methods of the sealed sum, a block a type: its wire name, its payload
// references, and what its schema asks for.

// Type implements Event.
func (*ToolCall) Type() Type     { return TypeToolCall }
func (e *ToolCall) refs() []*Ref { return []*Ref{e.Arguments} }
func (e *ToolCall) check() error {
	return first(e.CallKey.check(), e.Agent.check(), ref("arguments", e.Arguments),
		names("tool", e.Tool, "principal", e.Principal, "rule", e.Rule),
		labels("run_id", e.RunID, "call_id", e.CallID, "model", e.Model, "idempotency", e.Idempotency),
		oneOf("tool_source", e.ToolSource, toolSources()), oneOf("enforcement", e.Enforcement, enforcements()),
		oneOf("effect", e.Effect, effects()), digest("tool_digest", e.ToolDigest, true), digest("policy_digest", e.PolicyDigest, false))
}

// Type implements Event.
func (*ApprovalRequest) Type() Type     { return TypeApprovalRequest }
func (e *ApprovalRequest) refs() []*Ref { return []*Ref{e.Arguments, e.Preview} }
func (e *ApprovalRequest) check() error {
	return first(e.CallKey.check(), e.Terms.check(), e.Target.check(), ref("arguments", e.Arguments),
		names("request_id", e.RequestID, "tool", e.Tool, "requester", e.Requester))
}

// Type implements Event.
func (*Revision) Type() Type     { return TypeRevision }
func (e *Revision) refs() []*Ref { return []*Ref{e.Arguments, e.Preview} }
func (e *Revision) check() error {
	if e.Number < 1 {
		return fmt.Errorf("number is %d, want 1 or more", e.Number)
	}
	return first(e.Terms.check(), e.Target.check(), ref("arguments", e.Arguments),
		names("request_id", e.RequestID, "by", e.By), oneOf("outcome", e.Outcome, revisionOutcomes()))
}

// Type implements Event.
func (*Decision) Type() Type     { return TypeDecision }
func (e *Decision) refs() []*Ref { return []*Ref{e.Arguments, e.Comment} }
func (e *Decision) check() error {
	if acted := e.Cause == CauseHuman || e.Cause == CauseHandler; acted != (e.Actor != nil) {
		return fmt.Errorf("cause %q and actor do not go together: human and handler decisions alone have one", string(e.Cause))
	}
	return first(e.Actor.check(), ref("arguments", e.Arguments), names("request_id", e.RequestID, "via", e.Via),
		digest("request_digest", e.RequestDigest, false), labels("idempotency", e.Idempotency, "bulk", e.Bulk), e.Seen.check(),
		oneOf("verdict", e.Verdict, verdicts()), oneOf("cause", e.Cause, causes()))
}

func (s *Seen) check() error {
	if s == nil {
		return nil
	}
	return first(name("seen.render", s.Render), digest("seen.digest", s.Digest, false))
}

// Type implements Event.
func (*Revocation) Type() Type     { return TypeRevocation }
func (e *Revocation) refs() []*Ref { return []*Ref{e.Comment} }
func (e *Revocation) check() error {
	return first(e.Actor.check(), names("request_id", e.RequestID, "decision", e.Decision))
}

// Type implements Event.
func (*ToolStarted) Type() Type     { return TypeToolStarted }
func (e *ToolStarted) refs() []*Ref { return []*Ref{e.Arguments} }
func (e *ToolStarted) check() error {
	return first(e.CallKey.check(), e.Warrant.check(), ref("arguments", e.Arguments),
		names("tool", e.Tool, "executor", e.Executor, "isolation", e.Isolation),
		digest("request_digest", e.RequestDigest, false), oneOf("enforcement", e.Enforcement, enforcements()))
}

// Type implements Event.
func (*ToolResult) Type() Type     { return TypeToolResult }
func (e *ToolResult) refs() []*Ref { return []*Ref{e.Result} }
func (e *ToolResult) check() error {
	return first(e.CallKey.check(), name("tool", e.Tool), labels("rule", e.Rule, "stopped_by", e.StoppedBy, "executor", e.Executor),
		oneOf("status", e.Status, statuses()), oneOf("cause", e.Cause, causes()), notNegative("duration_ms", e.DurationMS))
}

// Type implements Event.
func (*RunStarted) Type() Type { return TypeRunStarted }

func (e *RunStarted) refs() []*Ref {
	if e.Bypass != nil {
		return []*Ref{e.Query, e.Prompt, e.Bypass.Reason}
	}
	return []*Ref{e.Query, e.Prompt}
}

func (e *RunStarted) check() error {
	if e.Bypass != nil {
		if err := first(e.Bypass.Actor.check(), ref("bypass.reason", e.Bypass.Reason)); err != nil {
			return err
		}
	}
	return first(e.Actor.check(), e.Agent.check(), ref("query", e.Query), names("run_id", e.RunID, "principal", e.Principal, "model", e.Model),
		digest("prompt_digest", e.PromptDigest, true), digest("tools_digest", e.ToolsDigest, false), digest("policy_digest", e.PolicyDigest, false))
}

// Type implements Event.
func (*RunCancelled) Type() Type     { return TypeRunCancelled }
func (e *RunCancelled) refs() []*Ref { return nil }
func (e *RunCancelled) check() error {
	return first(e.Actor.check(), names("run_id", e.RunID, "via", e.Via),
		oneOf("cause", e.Cause, []Cause{CauseCancelled, CauseSuperseded}))
}

// Type implements Event.
func (*RunFinished) Type() Type     { return TypeRunFinished }
func (e *RunFinished) refs() []*Ref { return []*Ref{e.Detail} }
func (e *RunFinished) check() error {
	return first(name("run_id", e.RunID), label("code", e.Code), oneOf("reason", e.Reason, finishReasons()), e.Usage.check(),
		notNegative("rounds", int64(e.Rounds)), notNegative("calls", int64(e.Calls)))
}

// Type implements Event.
func (*RoundFinished) Type() Type     { return TypeRoundFinished }
func (e *RoundFinished) refs() []*Ref { return []*Ref{e.Message, e.Detail, e.Reasoning} }
func (e *RoundFinished) check() error {
	if e.Round < 1 || e.Attempt < 1 || e.Calls < 0 || e.Calls > MaxIndex {
		return fmt.Errorf("round %d, attempt %d or calls %d is out of bounds", e.Round, e.Attempt, e.Calls)
	}
	for _, r := range e.Repairs {
		if err := r.check(); err != nil {
			return err
		}
	}
	return first(e.Agent.check(), e.Usage.check(), names("run_id", e.RunID, "batch_id", e.BatchID, "dialect", e.Dialect),
		labels("finish_reason", e.FinishReason, "code", e.Code), oneOf("outcome", e.Outcome, roundOutcomes()))
}

func (r Repair) check() error {
	if r.Index < 0 || r.Index >= MaxIndex {
		return fmt.Errorf("repairs.index is %d, want 0 to %d", r.Index, MaxIndex-1)
	}
	return first(oneOf("repairs.what", r.What, []string{RepairID, RepairArguments}), label("repairs.now", r.Now))
}

// Type implements Event.
func (*SubagentStarted) Type() Type     { return TypeSubagentStarted }
func (e *SubagentStarted) refs() []*Ref { return []*Ref{e.Arguments} }
func (e *SubagentStarted) check() error {
	return first(e.CallKey.check(), e.Warrant.check(), ref("arguments", e.Arguments), names("name", e.Name, "path", e.Path),
		digest("request_digest", e.RequestDigest, false), digest("tool_digest", e.ToolDigest, true))
}

// Type implements Event.
func (*SubagentFinished) Type() Type     { return TypeSubagentFinished }
func (e *SubagentFinished) refs() []*Ref { return nil }
func (e *SubagentFinished) check() error {
	return first(e.CallKey.check(), names("name", e.Name, "path", e.Path), oneOf("reason", e.Reason, finishReasons()), e.Usage.check())
}

// Type implements Event.
func (*Definition) Type() Type     { return TypeDefinition }
func (e *Definition) refs() []*Ref { return []*Ref{e.Content} }
func (e *Definition) check() error {
	return first(ref("content", e.Content), name("name", e.Name), oneOf("kind", e.Kind, definitionKinds()), digest("digest", e.Digest, false))
}

// Type implements Event.
func (*Person) Type() Type     { return TypePerson }
func (e *Person) refs() []*Ref { return []*Ref{e.Name} }
func (e *Person) check() error { return first(name("person", e.Person), ref("name", e.Name)) }

// Type implements Event.
func (*Boot) Type() Type     { return TypeBoot }
func (e *Boot) refs() []*Ref { return nil }
func (e *Boot) check() error {
	return first(heads(e.Previous), labels("last_boot", e.LastBoot, "beside", e.Beside),
		names("boot_id", e.BootID, "node", e.Node, "version", e.Version, "go_version", e.GoVersion, "isolation", e.Isolation, "bus", e.Bus))
}

// Type implements Event.
func (*Alive) Type() Type     { return TypeAlive }
func (e *Alive) refs() []*Ref { return nil }
func (e *Alive) check() error { return first(name("boot_id", e.BootID), heads(e.Heads)) }

// Type implements Event.
func (*Shutdown) Type() Type     { return TypeShutdown }
func (e *Shutdown) refs() []*Ref { return nil }
func (e *Shutdown) check() error {
	return first(names("boot_id", e.BootID, "reason", e.Reason), heads(e.Heads))
}

// Type implements Event.
func (*ClockStep) Type() Type     { return TypeClockStep }
func (e *ClockStep) refs() []*Ref { return nil }
func (e *ClockStep) check() error { return name("boot_id", e.BootID) }

// Type implements Event.
func (*Recovered) Type() Type     { return TypeRecovered }
func (e *Recovered) refs() []*Ref { return nil }
func (e *Recovered) check() error {
	for _, k := range e.Calls {
		if err := k.check(); err != nil {
			return err
		}
	}
	return first(name("boot_id", e.BootID), label("run_id", e.Run), e.Rollback.check())
}

func (e *Recovered) version() int {
	if e.Rollback != nil {
		return 2
	}
	return 1
}

func (r *Rollback) check() error {
	if r == nil {
		return nil
	}
	return first(oneOf("rollback.kind", r.Kind, []RollbackKind{RollbackShorter, RollbackRewritten, RollbackOther}),
		oneOf("rollback.by", r.By, []string{NotedByHeadFile, NotedByGate}), digest("rollback.log", r.Log, true),
		label("rollback.boot", r.Boot), heads(r.Noted), heads(r.Found))
}

// Type implements Event.
func (*Access) Type() Type     { return TypeAccess }
func (e *Access) refs() []*Ref { return nil }
func (e *Access) check() error {
	return first(e.Actor.check(), names("action", e.Action, "via", e.Via), labels("resource", e.Resource, "reason", e.Reason),
		oneOf("outcome", e.Outcome, []string{AccessOK, AccessRefused}))
}

// Type implements Event.
func (*Checkpoint) Type() Type     { return TypeCheckpoint }
func (e *Checkpoint) refs() []*Ref { return []*Ref{e.Note} }
func (e *Checkpoint) check() error {
	return first(name("origin", e.Origin), heads(e.Heads), ref("note", e.Note))
}
