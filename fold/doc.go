// Package fold says what the log means. Its functions are pure: they read
// records in log order and nothing else, no payload, clock, configuration or
// policy engine. Gate, projections, verifier and tests share them, so two
// readers of the same prefix have the same state.
//
//	s := fold.NewSession(id)
//	for rec := range records {
//		outcome := s.Apply(fold.Decode(rec)) // did it count, and if not, why
//	}
//	s.Calls[key].Start // the start that counts, or nil
//
// A record either counts, and moves the state, or does not, and is evidence of
// an attempt. Which of the two is decided at its place in the log and never
// changes. The rules:
//
//   - A decision counts if its request is pending, it names the current
//     digest, and its cause allows it here (decision.go).
//   - A revision counts if it is the next answer to a modification that
//     counted (decision.go).
//   - A start counts if it is the call's first, before any result, and its
//     warrant stands (start.go).
//   - A result counts if it is the call's first and, after a start, comes from
//     the executor that started or is ambiguous (start.go).
//   - A recovered counts if it tells of a rollback and each call that it names is
//     open: those start no more, and end as ambiguous (start.go).
//   - A run counts if its session has no unfinished one (run.go).
//
// Which definitions of tools are accepted is a fold over the records of all
// sessions: [Definitions] (definitions.go).
//
// The gate judges with schema and policy and records what it judged; folds
// compare recorded values.
package fold
