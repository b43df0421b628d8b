// Package gate is the one door: nothing runs a tool but through it.
//
// A call lives like this, each step durable before the next:
//
//	Propose  tool_call, and for a protected one approval_request, in one commit
//	Decide   decision, answered when the fold has judged it; a modification
//	         becomes a revision
//	Handle   the same for a program's approval handler, where the request says
//	         that one may decide
//	Carry    waits until the call is decided, records tool_started, sees it come
//	         back through the log and count, runs the tool, records tool_result
//
// The gate holds no truth of its own. Run follows the log and folds it
// (package fold); every other method appends what should happen and waits for
// what the fold makes of it. So two gates over one log agree, and a restart is
// nothing but reading on: pending requests are still pending, a call that had
// started on a process that is gone becomes ambiguous.
//
// A turn with a protected call holds back all its calls but read-only ones until
// every protected call of the turn is decided; what it then lets go is carried
// one by one. There is no setting for that. A tool whose calls change one file
// (Changer) is asked beforehand: the request carries the file's digest and the
// diff, the file is looked at again before the start is recorded, and by the tool
// while it writes. A call whose file moved in between ends "stale", or in an
// error with that cause, and nothing is written. What a tool verifies (Verify) is
// checked at the same place.
//
// What a crash means at each step: before tool_call nothing happened; after
// it, Carry goes on from the fold; after tool_started the call may have run,
// and is never run again.
//
// Of the sessions only those are folded in memory that somebody uses, and a few
// that were used last. The others are folded anew when something happens to
// them, so thousands may wait for people.
//
// gate.db remembers which sessions were unfinished and where each request is,
// so that a start reads little. It is made from the log alone and may be
// deleted.
package gate
