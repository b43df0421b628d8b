package events

// The events of a call: asked for, decided, started, ended.

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
	Bulk          string  `json:"bulk,omitzero"` // what decisions share that a person sent at once; each stands alone
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
	StoppedBy  string `json:"stopped_by,omitzero"` // "timeout", "cancelled", "shutdown", "output-limit"
	Executor   string `json:"executor,omitzero"`   // that of the start; "" without one
}
