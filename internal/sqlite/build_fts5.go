//go:build !sqlite_fts5

package sqlite

// The driver leaves full-text search out unless a build tag asks for it. The
// build must fail here, with a name that says what to do, and not when the
// first search runs.
var _ = build_with_tags_sqlite_fts5
