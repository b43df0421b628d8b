package events

// The events of runs and of the node.

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

// CodeRolledBack is the code of a run that ended because a part of the log was
// lost.
const CodeRolledBack = "rolled_back"

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

// What a Repair changes.
const (
	RepairID        = "id"
	RepairArguments = "arguments"
)

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
	Beside    string `json:"beside,omitzero"` // files of another log that were found beside this one
	// AsksChanged says that this process's gate asks about tools whose definition
	// changed. Absent: it is of a build that did not.
	AsksChanged bool `json:"asks_changed,omitzero"`
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

// Recovered says what a process found open at its start and ended. Version 1: the
// calls had started. Version 2 has a rollback and moves folds: a call that it
// names may have been started by what is lost of the log, so it starts no more,
// and may end as ambiguous though no start stands in the log.
type Recovered struct {
	BootID   string    `json:"boot_id"`
	Calls    []CallKey `json:"calls"` // started by an executor that is gone; each gets an ambiguous result
	Run      string    `json:"run_id,omitzero"`
	Rollback *Rollback `json:"rollback,omitzero"` // version 2: what a person accepted
}

// Rollback says how a log is found to be not the one that was there before, or
// not all of it.
type Rollback struct {
	Kind    RollbackKind `json:"kind"`
	By      string       `json:"by"`            // what remembers more: "head-file" or "gate.db"
	Log     Digest       `json:"log,omitzero"`  // leaf hash of the first record of the log that was noted
	Records uint64       `json:"records"`       // that were noted
	Noted   []Head       `json:"noted"`         // the head that was noted; empty where that is not known
	Boot    string       `json:"boot,omitzero"` // the process that noted it
	At      Time         `json:"at"`            // when it was noted; by gate.db, when it was found
	Found   []Head       `json:"found"`         // the log's head as it was found
}

// What noted more than the log has: Rollback.By.
const (
	NotedByHeadFile = "head-file"
	NotedByGate     = "gate.db"
)

// RollbackKind is how a log differs from what was noted of it.
type RollbackKind string

// The kinds.
const (
	RollbackShorter   RollbackKind = "shorter"   // it ends before the noted place
	RollbackRewritten RollbackKind = "rewritten" // it has other records up to there
	RollbackOther     RollbackKind = "other"     // it begins with another record
)

// Access is an act on the record itself: auditors are audited too. Version 1.
type Access struct {
	Action   string `json:"action"`  // "sign-in", "decide", "view", "export", ...
	Outcome  string `json:"outcome"` // "ok" or "refused"
	Actor    *Actor `json:"actor,omitzero"`
	Resource string `json:"resource,omitzero"` // a request, session or event id
	Reason   string `json:"reason,omitzero"`   // why it was refused, in our words
	Via      string `json:"via"`
}

// The outcomes of an Access.
const (
	AccessOK      = "ok"
	AccessRefused = "refused"
)

// Checkpoint is a signed tree head (C2SP signed note). Version 1.
type Checkpoint struct {
	Origin string `json:"origin"`
	Heads  []Head `json:"heads"`
	Note   *Ref   `json:"note"`
}
