package agent

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// Listener is somebody of the program around the loop who is told what happens:
// a user interface, a log, a side channel. At least one of ToolCalls,
// Executions and Rounds is set; one value may stand in several of them.
//
// A listener has a goroutine of its own and a bounded queue before it, so it
// can be slow, fail or panic, and nothing waits for it. It is told one thing
// after the other; what it is told of one session is in the order of the log,
// and stands there and counts, but for the start of a round, which is no record.
// What its queue has no room for is lost to it, and counted and logged: who
// must have everything reads the log. When the loop stops a listener is told
// what waits; its context ends a little later.
type Listener struct {
	Name       string // in logs
	ToolCalls  ToolCallListener
	Executions ToolExecutionListener
	Rounds     RoundObserver
	// Queue is how many things may wait to be told; 0 means 1,024.
	Queue int
}

// ToolCallListener is told of a turn's calls as a batch. An error is logged.
type ToolCallListener interface {
	// BeforeBatch is told once all calls of a turn are on record, none of them
	// with a result. Some may run already: nothing waits for a listener.
	BeforeBatch(ctx context.Context, b Batch) error
	// AfterBatch is told once every call of a turn has its result.
	AfterBatch(ctx context.Context, b Batch) error
}

// ToolExecutionListener is told of single calls. Every call has exactly one
// end, Succeeded or Failed. An error is logged.
type ToolExecutionListener interface {
	// Started is told of a start that counts.
	Started(ctx context.Context, c ObservedCall) error
	// Succeeded is told of the result of a tool that ran well.
	Succeeded(ctx context.Context, c ObservedCall) error
	// Failed is told of every other result: also of a call that was declined,
	// expired or was cancelled, and never started. Status and Cause say which.
	Failed(ctx context.Context, c ObservedCall) error
}

// RoundObserver is told of model rounds. An error is logged.
type RoundObserver interface {
	// RoundStarted is told before the model is asked. After a restart a round
	// that was not completed starts again.
	RoundStarted(ctx context.Context, r ObservedRound) error
	// RoundCompleted is told once the round is on record, also a failed one.
	RoundCompleted(ctx context.Context, r ObservedRound) error
}

// Origin says where something happened.
type Origin struct {
	Session string
	Run     string
	Agent   string // the path: "" is the run's own agent
	// Again is true for what the log held already when this process took up the
	// run: an earlier process may have told it.
	Again bool
}

// Batch is the calls of one turn, in the model's order.
type Batch struct {
	Origin
	ID    string // the batch id of the calls
	Calls []ObservedCall
}

// ObservedCall is a call as it stood when it was told of.
type ObservedCall struct {
	Origin
	Key       events.CallKey // unique in the session
	ID        string         // the provider's, after repairs: unique in its turn
	Name      string         // of the tool
	Source    events.ToolSource
	Arguments string // what runs: as the model wrote them, or as they were changed
	// Result, Status and Cause are set once it has ended. Result is what the
	// model is told.
	Result string
	Status events.Status
	Cause  events.Cause
}

// ObservedRound is one attempt at a model round.
type ObservedRound struct {
	Origin
	Model   string // the configured name
	Round   int    // 1 is the first of the run
	Attempt int    // 1 is the first of the round
	// Outcome, Code, Calls and Usage are set once it is completed. Code is the
	// class of error of a failed one.
	Outcome events.RoundOutcome
	Code    string
	Calls   int
	Usage   Usage
}
