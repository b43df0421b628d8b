package ui

import "github.com/countersign-dev/countersign/events"

// callRow is a call as it is exported. Members are added, never renamed.
type callRow struct {
	Position    events.Position `json:"position"` // of its tool_call record
	Time        events.Time     `json:"time"`     // log time of that record
	Session     string          `json:"session"`
	BatchID     string          `json:"batch_id"`
	Index       int             `json:"index"`
	EventID     string          `json:"event_id"`
	Digest      events.Digest   `json:"digest"` // of the tool_call's envelope
	CallID      string          `json:"call_id"`
	Tool        string          `json:"tool"`
	ToolSource  string          `json:"tool_source"`
	ToolDigest  events.Digest   `json:"tool_digest"`
	Agent       events.Agent    `json:"agent"`
	Model       string          `json:"model"`
	AskedBy     exportPerson    `json:"asked_by"`
	Enforcement string          `json:"enforcement"`
	Effect      string          `json:"effect"`
	Rule        string          `json:"rule"`
	Policy      events.Digest   `json:"policy_digest"`
	State       string          `json:"state"`
	Outcome     string          `json:"outcome"` // the state in the words of the console
	DecidedBy   string          `json:"decided_by"`
	Arguments   *exportText     `json:"arguments"` // as the model wrote them
	Changed     *exportText     `json:"changed"`   // as a reviewer changed them; null where nobody did
	Request     *requestRow     `json:"request"`
	Start       *startRow       `json:"start"`
	Result      *resultRow      `json:"result"`
}

// exportPerson is a person, by id and by the name that the log last told.
type exportPerson struct {
	Person string `json:"person"`
	Name   string `json:"name"`
}

// exportText is a reference to a text, and the text where the row holds it: as
// text where it is UTF-8, else in base64.
type exportText struct {
	events.Ref

	Carrier string  `json:"carrier"` // id of the event that carries it
	Text    *string `json:"text,omitempty"`
	Base64  []byte  `json:"base64,omitempty"`
	Erased  bool    `json:"erased,omitempty"`
}

type requestRow struct {
	RequestID string          `json:"request_id"`
	EventID   string          `json:"event_id"`
	Position  events.Position `json:"position"`
	State     string          `json:"state"`
	Rule      string          `json:"rule"`
	Quorum    int             `json:"quorum"`
	Deadline  events.Time     `json:"deadline"`
	WaitedMS  *int64          `json:"waited_ms"` // from the request to its end; null while it waits
	Decisions []decisionRow   `json:"decisions"` // that counted, in log order
}

type decisionRow struct {
	EventID  string          `json:"event_id"`
	Position events.Position `json:"position"`
	Verdict  string          `json:"verdict"`
	Cause    string          `json:"cause"`
	By       *exportPerson   `json:"by"`      // null where no person decided
	Digest   events.Digest   `json:"digest"`  // of the request that it names
	Comment  *events.Ref     `json:"comment"` // null where none was given
	Seen     *events.Seen    `json:"seen"`    // what the page had shown; null where the server does not know
}

type startRow struct {
	EventID   string          `json:"event_id"`
	Position  events.Position `json:"position"`
	Warrant   events.Warrant  `json:"warrant"`
	Executor  string          `json:"executor"`
	Isolation string          `json:"isolation"`
}

type resultRow struct {
	EventID    string          `json:"event_id"`
	Position   events.Position `json:"position"`
	Status     string          `json:"status"`
	Cause      string          `json:"cause"`
	Rule       string          `json:"rule"`
	DurationMS int64           `json:"duration_ms"`
	StoppedBy  string          `json:"stopped_by"`
	Result     *events.Ref     `json:"result"`
}
