package agent

import (
	"context"
	"fmt"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
)

// ApprovalHandler decides protected calls in the place of people, who still can
// decide first: its requests are recorded, and shown, before it is asked.
//
// Its decisions are recorded under its name with the cause "handler", never as
// a person's, and the fold judges them. A rule that names who may decide, or
// asks for four eyes, is for people alone: the handler is not asked.
type ApprovalHandler interface {
	// Name is how its decisions are recorded, as "handler:NAME". It never
	// changes; at most 200 bytes.
	Name() string
	// Approve returns a decision for each call of the batch, by call id. The
	// call is declined by the gate, with the cause "gate_error", for which
	// there is none, or an unusable one; all are, after an error or a panic.
	//
	// ctx ends when nothing of the batch waits any more: it was decided or
	// cancelled, or ran out of time; and when the process stops. What Approve
	// returns then has no effect. What stays pending is asked about again after
	// a restart. It may be called from several goroutines.
	Approve(ctx context.Context, b ApprovalBatch) (map[string]Approval, error)
}

// ApprovalBatch is the calls of one turn that wait for a decision, in the
// model's order.
type ApprovalBatch struct {
	Session   string // the conversation
	Run       string
	Agent     string // the path: "" is the run's own agent
	Principal string // who asked the agent
	ID        string // the batch id of the calls
	// Deadline is when the last of the calls runs out of time.
	Deadline time.Time
	Calls    []ApprovalCall
}

// ApprovalCall is a call that waits for a decision.
type ApprovalCall struct {
	ID        string // the provider's, after repairs: unique in its turn
	RequestID string
	Name      string // of the tool
	Arguments string // the exact text that would run
	Rule      string // that asks
	Why       string // it asks, in a sentence
	Deadline  time.Time

	digest events.Digest // of the text that the decision is about
}

// Approval is what a handler decides of a call.
type Approval struct {
	Verdict events.Verdict
	// Arguments are the changed ones, with VerdictModify alone: a JSON object
	// that fits the tool's schema.
	Arguments []byte
	// Comment is told to the model where the call is declined.
	Comment string
}

// maxHandlerName leaves room for what goes before it.
const maxHandlerName = 200

func checkHandler(h ApprovalHandler) error {
	if h == nil {
		return nil
	}
	if n := h.Name(); n == "" || len(n) > maxHandlerName || !utf8.ValidString(n) {
		return fmt.Errorf("the approval handler is named %.80q: want 1 to %d bytes of UTF-8", n, maxHandlerName)
	}
	return nil
}
