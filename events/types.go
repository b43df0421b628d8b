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

// Warrant names what permitted a start. Decision is the id of the decision
// that completed the approval; Rule and PolicyDigest are the recorded rule that
// allowed; ID is the bypass's run or the standing rule.
type Warrant struct {
	Kind         WarrantKind `json:"kind"`
	Decision     string      `json:"decision,omitzero"`
	Rule         string      `json:"rule,omitzero"`
	PolicyDigest Digest      `json:"policy_digest,omitzero"`
	ID           string      `json:"id,omitzero"`
}

// CallKey names a call within its session: the round (batch) that asked for it
// and its place in the model's order, from 0. Provider ids repeat; keys do not.
type CallKey struct {
	BatchID string `json:"batch_id"`
	Index   int    `json:"index"`
}

// Agent is who asks: its name and its path from the run's own agent.
type Agent struct {
	Name string `json:"name"`
	Path string `json:"path"` // "" is the run's own agent; "researcher/child" a subagent's
}

// Actor is the authenticated person or program behind an act, as the server
// knew it, never as a body said it.
type Actor struct {
	Person     string   `json:"person"`               // opaque id; a person event maps it to a name
	Credential string   `json:"credential"`           // the name of the token or session, never its secret
	Roles      []string `json:"roles"`                // in the order of the configuration
	Groups     []string `json:"groups"`               //
	Method     string   `json:"method"`               // "token", "session", "local-link"
	At         Time     `json:"at"`                   // when the credential was authenticated
	AssertedBy string   `json:"asserted_by,omitzero"` // the node that authenticated, where it is not the producer
}

// Target is what a call would change, before it does.
type Target struct {
	Path   string `json:"path"`
	Digest Digest `json:"digest,omitzero"` // "" where it does not exist
}

// Terms are the conditions under which a request may be approved.
type Terms struct {
	Rule         string   `json:"rule"`
	PolicyDigest Digest   `json:"policy_digest"`
	Why          string   `json:"why"`                // one sentence of ours for the reviewer
	Quorum       int      `json:"quorum"`             // people who must approve, 1 or more
	Approvers    []string `json:"approvers"`          // "group:sre", "person:ID"; empty: every reviewer
	FourEyes     bool     `json:"four_eyes,omitzero"` // the requester may not approve, nor a modification's author
	Handlers     bool     `json:"handlers,omitzero"`  // a program's approval handler may decide
	Timeout      Duration `json:"timeout"`            // from this record's log time
	StartWithin  Duration `json:"start_within"`       // from the log time of what completed the approval
}

// Usage counts tokens.
type Usage struct {
	Prompt     int64 `json:"prompt"`
	Completion int64 `json:"completion"`
	Total      int64 `json:"total"`
}

// ToolCall says that a model asked for a tool, and what policy says of it.
// Version 1. Minted by the loop, the API, the MCP gateway, a hook.
type ToolCall struct {
	CallKey
	RunID        string      `json:"run_id,omitzero"` // the run, where the loop is ours
	CallID       string      `json:"call_id"`         // the provider's, after repair; a label
	Tool         string      `json:"tool"`
	ToolSource   ToolSource  `json:"tool_source"`
	ToolDigest   Digest      `json:"tool_digest,omitzero"` // of the definition; "" for an unknown tool
	Arguments    *Ref        `json:"arguments"`            // the model's own text, to the byte
	Agent        Agent       `json:"agent"`
	Model        string      `json:"model"`
	Principal    string      `json:"principal"` // whose conversation it is, a person's id
	Enforcement  Enforcement `json:"enforcement"`
	Effect       Effect      `json:"effect"`
	Rule         string      `json:"rule"`
	PolicyDigest Digest      `json:"policy_digest"`
	Idempotency  string      `json:"idempotency,omitzero"` // hash of the caller's key
}

// ApprovalRequest says that a call waits for people. Version 1. Minted by the
// gate.
type ApprovalRequest struct {
	RequestID string `json:"request_id"` // UUIDv4
	CallKey
	Tool      string `json:"tool"`
	Arguments *Ref   `json:"arguments"`
	Requester string `json:"requester"` // the principal of the call
	Terms
	Target  *Target `json:"target,omitzero"`
	Preview *Ref    `json:"preview,omitzero"` // the true diff
}

// RevisionOutcome says what a modification became.
type RevisionOutcome string

// The revision outcomes.
const (
	RevisionAsks    RevisionOutcome = "asks"    // the new arguments stand under the new terms
	RevisionRefused RevisionOutcome = "refused" // schema or policy refuses them; the old ones stay
)

// Revision says what a modification became when schema and policy judged it
// again. Version 1. Minted by the gate; its causation id is the decision.
type Revision struct {
	RequestID string          `json:"request_id"`
	Number    int             `json:"number"` // 1 is the first
	Arguments *Ref            `json:"arguments"`
	By        string          `json:"by"` // the author's person id
	Outcome   RevisionOutcome `json:"outcome"`
	Terms
	Target  *Target `json:"target,omitzero"`
	Preview *Ref    `json:"preview,omitzero"`
}

// Seen says what the server delivered to the person before the decision.
type Seen struct {
	Render string `json:"render"` // the one-time id of the page
	Digest Digest `json:"digest"` // the request digest that it showed
}

// Decision is a verdict on a request. Version 1. Minted by console, API and
// gate. It has an effect only where the fold finds that it counts.
type Decision struct {
	RequestID     string  `json:"request_id"`
	RequestDigest Digest  `json:"request_digest"`
	Verdict       Verdict `json:"verdict"`
	Cause         Cause   `json:"cause"`
	Arguments     *Ref    `json:"arguments"` // as seen, or as modified
	Comment       *Ref    `json:"comment,omitzero"`
	Actor         *Actor  `json:"actor,omitzero"` // set if and only if cause is human or handler
	Via           string  `json:"via"`            // "console", "chat-api", "gate", ...
	Seen          *Seen   `json:"seen,omitzero"`
	Idempotency   string  `json:"idempotency,omitzero"`
}

// Revocation takes an approval back before the start. Version 1.
type Revocation struct {
	RequestID string `json:"request_id"`
	Decision  string `json:"decision"` // the id of the decision that completed the approval
	Actor     Actor  `json:"actor"`
	Comment   *Ref   `json:"comment,omitzero"`
}

// ToolStarted says that the executor will run a call. Nothing runs before it
// has come back through the log and counts. Version 1.
type ToolStarted struct {
	CallKey
	Tool          string      `json:"tool"`
	Warrant       Warrant     `json:"warrant"`
	RequestDigest Digest      `json:"request_digest"`
	Arguments     *Ref        `json:"arguments"`
	Executor      string      `json:"executor"` // boot id of the process that runs it
	Enforcement   Enforcement `json:"enforcement"`
	Isolation     string      `json:"isolation"` // "none", or how the tool is shut off
}

// ToolResult says how a call ended. Version 1.
type ToolResult struct {
	CallKey
	Tool       string `json:"tool"`
	Status     Status `json:"status"`
	Cause      Cause  `json:"cause"`
	Rule       string `json:"rule,omitzero"`
	Result     *Ref   `json:"result,omitzero"`
	DurationMS int64  `json:"duration_ms"`         // of the execution; 0 without a start
	StoppedBy  string `json:"stopped_by,omitzero"` // "timeout", "cancelled", "output-limit"
	Executor   string `json:"executor,omitzero"`   // that of the start; "" without one
}

// Bypass frees a run's calls from asking; it never beats a deny.
type Bypass struct {
	Reason *Ref  `json:"reason"`
	Until  Time  `json:"until"`
	Actor  Actor `json:"actor"`
}

// RunStarted opens a run of a conversation. Version 1.
type RunStarted struct {
	RunID        string  `json:"run_id"`
	Principal    string  `json:"principal"`
	Actor        *Actor  `json:"actor,omitzero"` // who asked
	Agent        Agent   `json:"agent"`
	Query        *Ref    `json:"query"`
	Model        string  `json:"model"` // the configured name
	PromptDigest Digest  `json:"prompt_digest,omitzero"`
	Prompt       *Ref    `json:"prompt,omitzero"` // the request's own prompt, where it is not the configured one
	ToolsDigest  Digest  `json:"tools_digest"`
	PolicyDigest Digest  `json:"policy_digest"`
	Bypass       *Bypass `json:"bypass,omitzero"`
}

// RunCancelled asks a run to end. Version 1.
type RunCancelled struct {
	RunID string `json:"run_id"`
	Cause Cause  `json:"cause"` // cancelled or superseded
	Actor *Actor `json:"actor,omitzero"`
	Via   string `json:"via"`
}

// FinishReason is how a run or round ended, as the chat protocol spells it.
type FinishReason string

// The finish reasons.
const (
	FinishToolCalls    FinishReason = "TOOL_CALLS"
	FinishStop         FinishReason = "STOP"
	FinishLength       FinishReason = "LENGTH"
	FinishReturnDirect FinishReason = "returnDirect"
	FinishCancelled    FinishReason = "CANCELLED"
	FinishLimit        FinishReason = "LIMIT"
	FinishError        FinishReason = "ERROR"
)

// RunFinished closes a run. Version 1.
type RunFinished struct {
	RunID  string       `json:"run_id"`
	Reason FinishReason `json:"reason"`
	Code   string       `json:"code,omitzero"`   // the class of error
	Detail *Ref         `json:"detail,omitzero"` // what happened, for people
	Rounds int          `json:"rounds"`
	Calls  int          `json:"calls"`
	Usage  Usage        `json:"usage"` // of all rounds
}

// RoundOutcome says what came of a model round.
type RoundOutcome string

// The round outcomes.
const (
	RoundCalls  RoundOutcome = "calls"  // the model asked for tools
	RoundText   RoundOutcome = "text"   // the model answered
	RoundFailed RoundOutcome = "failed" // the turn was cut, broken or refused: no tool starts
)

// Repair is a change that replaying a message needs, the only kind there is.
type Repair struct {
	Index int    `json:"index"` // of the call
	What  string `json:"what"`  // "id" or "arguments"
	Now   string `json:"now"`   // the minted id, or "{}"
}

// RoundFinished is one model round, and what the next request is rebuilt from.
// Version 1.
type RoundFinished struct {
	RunID        string       `json:"run_id"`
	BatchID      string       `json:"batch_id"` // of the calls that it asked for
	Round        int          `json:"round"`    // 1 is the first of the run
	Attempt      int          `json:"attempt"`  // 1 is the first of the round
	Agent        Agent        `json:"agent"`
	Dialect      string       `json:"dialect"`
	Outcome      RoundOutcome `json:"outcome"`
	FinishReason string       `json:"finish_reason"`      // the provider's word
	Message      *Ref         `json:"message,omitzero"`   // the provider's ordered blocks
	Calls        int          `json:"calls"`              // how many tools it asked for
	Repairs      []Repair     `json:"repairs,omitempty"`  //
	Code         string       `json:"code,omitzero"`      // the class of error of a failed round
	Detail       *Ref         `json:"detail,omitzero"`    // the provider's words on it
	Usage        Usage        `json:"usage"`              //
	Reasoning    *Ref         `json:"reasoning,omitzero"` // text shown as thinking, where message does not hold it
}

// SubagentStarted counts as the start of a Task call. Version 1.
type SubagentStarted struct {
	CallKey
	Name          string  `json:"name"`
	Path          string  `json:"path"`
	Warrant       Warrant `json:"warrant"`
	RequestDigest Digest  `json:"request_digest"`
	Arguments     *Ref    `json:"arguments"`
	ToolDigest    Digest  `json:"tool_digest,omitzero"`
}

// SubagentFinished closes a subagent. Version 1.
type SubagentFinished struct {
	CallKey
	Name   string       `json:"name"`
	Path   string       `json:"path"`
	Reason FinishReason `json:"reason"`
	Usage  Usage        `json:"usage"`
}

// DefinitionKind says what a definition defines.
type DefinitionKind string

// The kinds of definition.
const (
	DefinePolicy        DefinitionKind = "policy"
	DefineTool          DefinitionKind = "tool"
	DefineTools         DefinitionKind = "tools" // the list of tool digests of a run
	DefinePrompt        DefinitionKind = "prompt"
	DefineSubagent      DefinitionKind = "subagent"
	DefineSkill         DefinitionKind = "skill"
	DefineConfiguration DefinitionKind = "configuration"
)

// Definition is the content behind a digest, recorded before its first use.
// Version 1.
type Definition struct {
	Kind    DefinitionKind `json:"kind"`
	Name    string         `json:"name"`
	Digest  Digest         `json:"digest"` // SHA-256 of the content
	Content *Ref           `json:"content"`
}

// Person maps an opaque id to a name. Version 1.
type Person struct {
	Person string `json:"person"`
	Name   *Ref   `json:"name"`
}

// Head is the state of a partition's Merkle tree (RFC 6962).
type Head struct {
	Partition uint32 `json:"partition"`
	Size      uint64 `json:"size"` // records
	Root      Digest `json:"root"`
}

// Boot says that a process began to write. Version 1.
type Boot struct {
	BootID    string `json:"boot_id"`
	Node      string `json:"node"`
	Version   string `json:"version"`
	GoVersion string `json:"go_version"`
	Previous  []Head `json:"previous"`           // the log's head before this record
	LastBoot  string `json:"last_boot,omitzero"` // id of the boot before on this data directory
	Clean     bool   `json:"clean"`              // the last boot ended with a shutdown
	Clock     Time   `json:"clock"`              // the wall clock
	Isolation string `json:"isolation"`
	Bus       string `json:"bus"`
}

// Alive says that a process still runs. Version 1.
type Alive struct {
	BootID string `json:"boot_id"`
	Heads  []Head `json:"heads"`
}

// Shutdown says that a process ends as asked. Version 1.
type Shutdown struct {
	BootID string `json:"boot_id"`
	Reason string `json:"reason"`
	Heads  []Head `json:"heads"` // before this record
}

// ClockStep says that the wall clock jumped against the monotonic one. Version
// 1.
type ClockStep struct {
	BootID string `json:"boot_id"`
	Before Time   `json:"before"` // what the wall clock should have said
	After  Time   `json:"after"`  // what it said
}

// Recovered says what a process found open at its start and ended. Version 1.
type Recovered struct {
	BootID string    `json:"boot_id"`
	Calls  []CallKey `json:"calls"` // started by an executor that is gone; each gets an ambiguous result
	Run    string    `json:"run_id,omitzero"`
}

// Access is an act on the record itself: auditors are audited too. Version 1.
type Access struct {
	Action   string `json:"action"`  // "sign-in", "decide", "view", "export", ...
	Outcome  string `json:"outcome"` // "ok" or "refused"
	Actor    *Actor `json:"actor,omitzero"`
	Resource string `json:"resource,omitzero"` // a request, session or event id
	Reason   string `json:"reason,omitzero"`   // why it was refused, in our words
	Via      string `json:"via"`
}

// Checkpoint is a signed tree head (C2SP signed note). Version 1.
type Checkpoint struct {
	Origin string `json:"origin"`
	Heads  []Head `json:"heads"`
	Note   *Ref   `json:"note"`
}
