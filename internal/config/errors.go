package config

import "errors"

// ErrNotInVersion is in the chain of errors about keys and values that are
// documented but whose part this version does not have.
var ErrNotInVersion = errors.New("not in this version")

// Error is wrong configuration: what Load and Blame return. A command that ends
// with one exits with code 2.
type Error struct {
	// Where is the place: "agentd.yaml:7: key chat.hitl.timeout",
	// "environment COUNTERSIGN_ADDR", "flag -addr" or "default of addr".
	Where string
	// Problem says what was expected and what to do.
	Problem string

	cause error
}

// Error returns one line.
func (e *Error) Error() string { return e.Where + ": " + e.Problem }

// Unwrap returns the cause, or nil.
func (e *Error) Unwrap() error { return e.cause }

// problem makes an Error at a place out of what a parser said.
func problem(where string, err error) error {
	return &Error{Where: where, Problem: oneLine(err.Error()), cause: err}
}
