package projections

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const selectRequests = `SELECT q.session, q.doc, c.doc FROM requests q
	JOIN calls c ON c.row = q.call`

// Pending returns undecided requests that a reader may see, the oldest first,
// up to limit. How many there are of all is in Status.
func (v *Views) Pending(ctx context.Context, reader Reader, limit int) ([]Request, error) {
	if v.stands() {
		all, err := v.standIn.pending(ctx, reader)
		return all[:min(len(all), limit)], err
	}
	where, args := reader.where("q.session")
	return list(ctx, v.db, scanRequest,
		selectRequests+" WHERE q.state = 'pending'"+where+" ORDER BY q.log_time, q.part, q.off LIMIT ?", append(args, limit)...)
}

// Request returns a request, pending or ended; ErrNotFound if the log has none
// of that id.
func (v *Views) Request(ctx context.Context, id string) (Request, error) {
	stored := func() (Request, error) {
		return first(ctx, v.db, scanRequest, selectRequests+" WHERE q.id = ? ORDER BY q.row", id)
	}
	if v.stands() {
		return known(func() (Request, error) { return v.standIn.request(ctx, id) }, stored)
	}
	q, err := stored()
	if errors.Is(err, ErrNotFound) && v.standIn != nil {
		return v.standIn.request(ctx, id) // it may have been asked a moment ago
	}
	return q, err
}

func scanRequest(scan func(...any) error) (Request, error) {
	var r Request
	var text, call string
	if err := scan(&r.Session, &text, &call); err != nil {
		return r, err
	}
	if err := undoc(text, &r.Request); err != nil {
		return r, err
	}
	return r, undoc(call, &r.Call)
}

// Decisions returns what was said about a request, in log order, what did not
// count as well: up to limit.
func (v *Views) Decisions(ctx context.Context, request string, limit int) ([]Decision, error) {
	return list(ctx, v.db, scanDecision, selectDecisions+" WHERE request = ? ORDER BY row LIMIT ?", request, limit)
}

const selectDecisions = "SELECT log_time, part, off, event, session, request, type, reason, doc FROM decisions"

func scanDecision(scan func(...any) error) (Decision, error) {
	var d Decision
	var at place
	var typ, reason, text string
	if err := scan(append(at.dest(), &d.EventID, &d.Session, &d.Request, &typ, &reason, &text)...); err != nil {
		return d, err
	}
	d.At, d.Reason = at.position(), fold.Reason(reason)
	switch events.Type(typ) {
	case events.TypeRevision:
		d.Event = &events.Revision{}
	case events.TypeRevocation:
		d.Event = &events.Revocation{}
	default:
		d.Event = &events.Decision{}
	}
	return d, undoc(text, d.Event)
}
