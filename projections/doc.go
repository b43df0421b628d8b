// Package projections turns the log into what pages and counters read.
//
// A projection is a function of (state, record) with a position of its own. The
// rows of a batch and the position commit together, so a crash at any place
// leaves both before or both after, and a record that comes twice changes
// nothing. All of it is disposable: views.db from another version, another log,
// or damaged, is deleted and made anew from the log.
//
//	views, err := projections.Open(ctx, projections.Options{Path: path, Source: bus})
//	group.Go(func() error { return views.Run(ctx) })
//	pending, err := views.Pending(ctx, reader, 50) // the oldest that the reader may see
//
// Today there is one projection, the audit views: calls, approval requests,
// decisions, sessions, runs, access. What counts is decided by package fold
// alone; a view stores the fold's own state beside its verdict on each record,
// so that a page never disagrees with the gate about the same prefix.
//
// Views hold references to texts, not texts: a page fetches those that it shows
// (Views.Text), and what was erased from the log is gone here too.
//
// A record that cannot be read or stored is set aside with its place, the
// reason and its bytes, counted, and does not stand in the way of the next.
package projections
