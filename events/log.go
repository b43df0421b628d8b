package events

import (
	"errors"
	"fmt"
	"slices"
)

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
	// ErrReadOnly: nothing is appended to this log; why is in the wrapping
	// message. It is an ErrLogStopped.
	ErrReadOnly = fmt.Errorf("%w: it is open for reading only", ErrLogStopped)
	// ErrUnrecordable: what was to be appended can never be recorded as it is,
	// because it is malformed or beyond a bound. Nothing was appended, and to try
	// again is of no use.
	ErrUnrecordable = errors.New("this cannot be recorded")
	// ErrNoPayload: there is no such payload, or it was erased.
	ErrNoPayload = errors.New("no such payload")
)

// Begins reports whether an append begins work: whether any of its drafts does.
// One with From counts as those beside it, since it answers what is minted in
// the same append. The start of a call that people approved begins nothing: what
// they were told is granted is carried out, in the room that is kept for what
// ends work.
func Begins(drafts ...Draft) bool {
	return slices.ContainsFunc(drafts, func(d Draft) bool {
		if d.Data == nil || d.From != nil {
			return false
		}
		if start, ok := d.Data.(*ToolStarted); ok && start.Warrant.Kind == WarrantDecision {
			return false
		}
		return d.Data.Type().Begins()
	})
}

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
