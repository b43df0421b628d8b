package events

// Type is the bare name of an event type, the CloudEvents attribute "type".
type Type string

// The event types.
const (
	TypeToolCall         Type = "tool_call"
	TypeApprovalRequest  Type = "approval_request"
	TypeRevision         Type = "revision"
	TypeDecision         Type = "decision"
	TypeRevocation       Type = "revocation"
	TypeToolStarted      Type = "tool_started"
	TypeToolResult       Type = "tool_result"
	TypeRunStarted       Type = "run_started"
	TypeRunCancelled     Type = "run_cancelled"
	TypeRunFinished      Type = "run_finished"
	TypeRoundFinished    Type = "round_finished"
	TypeSubagentStarted  Type = "subagent_started"
	TypeSubagentFinished Type = "subagent_finished"
	TypeDefinition       Type = "definition"
	TypePerson           Type = "person"
	TypeBoot             Type = "boot"
	TypeAlive            Type = "alive"
	TypeShutdown         Type = "shutdown"
	TypeClockStep        Type = "clock_step"
	TypeRecovered        Type = "recovered"
	TypeAccess           Type = "access"
	TypeCheckpoint       Type = "checkpoint"
)

// Event is the data of one event: the sealed sum of all types that this build
// knows.
//
//sumtype:decl
type Event interface {
	// Type is the wire name.
	Type() Type
	// refs returns the payload references, in the order of the fields.
	refs() []*Ref
	// check reports the first thing that the schema does not allow.
	check() error
}

// Effect is what a policy says of a call.
type Effect string

// The effects, from weakest to strongest.
const (
	EffectAllow Effect = "allow"
	EffectAsk   Effect = "ask"
	EffectDeny  Effect = "deny"
)

// Verdict is what a decision says.
type Verdict string

// The verdicts. Whatever is not one of the first two does not permit.
const (
	VerdictApprove Verdict = "approve"
	VerdictModify  Verdict = "approve_and_modify"
	VerdictDecline Verdict = "decline"
)

// Cause says who or what was behind a decision or an outcome. Only CauseHuman
// carries a human actor.
type Cause string

// The causes.
const (
	CauseHuman          Cause = "human"
	CausePolicy         Cause = "policy"
	CauseStandingRule   Cause = "standing_rule"
	CauseBypass         Cause = "bypass"
	CauseHandler        Cause = "handler"
	CauseTimeout        Cause = "timeout"
	CauseCancelled      Cause = "cancelled"
	CauseSuperseded     Cause = "superseded"
	CauseStale          Cause = "stale"
	CauseGateError      Cause = "gate_error"
	CauseExecutorLost   Cause = "executor_lost"
	CauseDeliveryFailed Cause = "delivery_failed"
)

// Status is how a call ended. After an effective start only ok, error and
// ambiguous are true.
type Status string

// The statuses.
const (
	StatusOK        Status = "ok"
	StatusError     Status = "error"
	StatusDeclined  Status = "declined"
	StatusExpired   Status = "expired"
	StatusCancelled Status = "cancelled"
	StatusStale     Status = "stale"
	StatusAmbiguous Status = "ambiguous"
)

// Enforcement says whose word the record takes for the execution of a call.
// The gate's promises about starts are made for enforced calls alone.
type Enforcement string

// The enforcements.
const (
	Enforced    Enforcement = "enforced"    // our executor ran it
	Cooperative Enforcement = "cooperative" // the caller says so
	Observed    Enforcement = "observed"    // seen from outside
)

// ToolSource says where a tool comes from.
type ToolSource string

// The tool sources, as the chat protocol spells them.
const (
	SourceBuiltin ToolSource = "builtin-tools"
	SourceSkill   ToolSource = "skill"
	SourceMCP     ToolSource = "mcp"
	SourceCustom  ToolSource = "customer-json-schema"
	SourceUnknown ToolSource = "unknown" // no tool of that name exists
)

// WarrantKind says what permitted a start.
type WarrantKind string

// The kinds of warrant.
const (
	WarrantDecision     WarrantKind = "decision"
	WarrantRule         WarrantKind = "rule"
	WarrantBypass       WarrantKind = "bypass"
	WarrantStandingRule WarrantKind = "standing_rule"
)
