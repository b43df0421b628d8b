// Package projections turns the log into what pages and counters read.
//
// A projection is a function of (state, record) with a position of its own. The
// rows of a batch and the position commit together, so a crash at any place
// leaves both before or both after, and a record that comes twice changes
// nothing. All of it is disposable: views.db from another version, another log,
// or damaged, is made anew from the log.
//
//	views, err := projections.Open(ctx, projections.Options{Path: path, Source: bus})
//	group.Go(func() error { return views.Run(ctx) })
//	pending, err := views.Pending(ctx, reader, 50) // the oldest that the reader may see
//	page, err := views.History(ctx, projections.Filter{Query: "rm -rf", Reader: reader}, "", 50)
//
// The audit views are calls, approval requests, decisions, sessions, runs and
// access. Beside them, in the same file and transaction, stand the totals that
// metrics and insights are made of, and what the watch found when it held the
// log against what the gate promises. What counts is decided by package fold
// alone; a view stores the fold's own state beside its verdict on each record,
// so that a page never disagrees with the gate about the same prefix.
//
// # From records to rows
//
// A batch is folded first and written then. Folding needs no table: sessions
// that were used last are in memory, any other is read again from the log. It
// comes to changes, a list of statements in which a call that ten records moved
// stands once, as it is in the end. While views follow the log, one goroutine
// does all of it; in a rebuild one reads and folds, one works out what of the
// texts is indexed, and one writes, many batches in a transaction.
//
// A record that cannot be read or stored is set aside with its place, the reason
// and its bytes, counted, and does not stand in the way of the next. Where the
// tables refuse a batch, the record to blame is found by halves.
//
// # Rebuild
//
// Views that are missing, damaged or far behind are built in a file beside the
// old one, which serves and follows meanwhile if it can: tables without indexes,
// then the indexes, then what the log got meanwhile; then the file takes the
// name of the old one, between two queries. Whatever dies at whatever point
// leaves a file that is right or one that the next start makes anew.
//
// A file that is damaged, gone, or holds a row that cannot be read is given up:
// queries find nothing until there is a new one. Whoever answers people asks
// Status.Behind first: what is not found may be in the log, and what is counted is
// not all of it. What deciding needs (Request, Pending, MayRead) comes from the
// gate's knowledge and the log meanwhile. Rebuilds leave the room that the log
// keeps for deciding, and come ever more seldom where they do not help.
//
// # Search
//
// Views hold references to texts, not texts: a page fetches those that it shows
// (Views.Text), and what was erased from the log is gone here too. An index
// tells which texts may have a term; each is then read from the log and looked
// at, which also says where the term stands. Search text is data: no sign in it
// has a meaning. Work for one page is bounded: where a page ends before it is
// full, Page.Reached says how far back it looked, and Page.Next goes on.
package projections
