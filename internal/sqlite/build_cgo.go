//go:build !cgo

package sqlite

// The driver is C. Without cgo the build must fail here, with a name that says
// what to do, and not when the first database is opened.
var _ = build_with_CGO_ENABLED_1_and_a_C_compiler
