// Package agent is the tool loop: it asks a model, proposes the calls that the
// model wants, carries them through the gate, tells the model the results, and
// goes on until the model has answered.
//
// A run is a fold over its session's records (package fold). The loop keeps no
// state of its own that matters: it looks at the fold, does the one thing that
// comes next, and looks again. So a run goes on after a restart where it
// stood:
//
//	nothing yet, or all calls of the last round have results   ask the model
//	a round whose calls are not all recorded                   finish with an error
//	calls without results                                      carry them
//	an answer, a limit, a failure, a cancellation              finish
//
// A run that only waits for people may be parked: then no goroutine has it, and
// it goes on from the log when a decision, a time-out or a cancellation is in
// there. The runs that began to wait last stay in hand.
//
// Nothing runs a tool but the gate: the loop hands it a function, and the gate
// calls that after the start has come back through the log and counts.
//
// What clients see of a run is its Feed: frames made from the records in log
// order, and the model's text as it streams in between. The feed is a view;
// losing every reader of it changes nothing.
//
// A program around the loop can listen and can decide. A Listener is told of
// rounds, of turns as batches of calls, and of each call's start and end, in
// log order, and can hurt nothing. An ApprovalHandler is asked about the calls
// of a turn that must ask, once their requests are out; people can decide
// first, and without a handler they alone decide.
package agent
