package ui

import (
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// known finds the requests and calls that records are about, once each for a
// page.
type known struct {
	views    *projections.Views
	session  string
	requests map[string]*projections.Request
	calls    map[events.CallKey]*projections.Call
}

// request returns a request of the session, nil where it has none of that id.
func (k *known) request(ctx context.Context, id string) *projections.Request {
	if q, ok := k.requests[id]; ok {
		return q
	}
	var found *projections.Request
	if q, err := k.views.Request(ctx, id); err == nil && q.Session == k.session {
		found = &q
	}
	k.requests[id] = found
	return found
}

// call returns a call of the session, nil where it has none of that key.
func (k *known) call(ctx context.Context, key events.CallKey) *projections.Call {
	if c, ok := k.calls[key]; ok {
		return c
	}
	var found *projections.Call
	if c, err := k.views.Call(ctx, k.session, key); err == nil {
		found = &c
	}
	k.calls[key] = found
	return found
}
