package events

import "errors"

// Entry is a record as one node's journal holds it. Row is local to the node:
// it orders, and is never shown.
type Entry struct {
	Row    int64
	Record Record
}

// Appended is what an append made durable: the events in order, and the row of
// the last one.
type Appended struct {
	Events []Minted
	Row    int64
}

// What a log answers besides success. Anything else is a failure of the log
// itself, with nothing appended.
var (
	// ErrRefused: the share of queue or disk for what begins work is full;
	// nothing was appended. What to do is in the wrapping message.
	ErrRefused = errors.New("the log takes no new work now")
	// ErrLogStopped: the log takes nothing any more until the process is
	// started again.
	ErrLogStopped = errors.New("the log has stopped")
	// ErrNoPayload: there is no such payload, or it was erased.
	ErrNoPayload = errors.New("no such payload")
)

// Begins reports whether events of the type begin work (admission refuses them
// at once when room is short) or end it (room is kept, and they wait for it).
func (t Type) Begins() bool {
	switch t {
	case TypeToolCall, TypeApprovalRequest, TypeToolStarted, TypeRunStarted, TypeAccess:
		return true
	default:
		return false
	}
}
