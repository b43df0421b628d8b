package ui

import (
	"context"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// Revoker takes approvals back. It is the gate.
type Revoker interface {
	// Revoke records a revocation and returns what the log's fold made of it.
	Revoke(ctx context.Context, r Revocation) (Answer, error)
}

// Revocation takes an approval back whose call has not started.
type Revocation struct {
	RequestID string
	Comment   string
	Actor     *events.Actor
	ActorName string // to be recorded behind the actor's id
}

// revokeView is the form by which an approval is taken back.
type revokeView struct {
	Action string
	By     string // until when the call starts
}

// revokeFor is the form for somebody who may take an approval back, or nil.
func (c *Console) revokeFor(id auth.Identity, q *fold.Request, call *fold.Call) *revokeView {
	if c.opt.Revoker == nil || c.opt.ReadOnly != "" || !unstarted(q, call) || !id.Can(auth.Decide) || q.MayDecide(id.Actor()) != "" {
		return nil
	}
	return &revokeView{Action: requestPath(q.RequestID) + "/revoke", By: clock(q.StartBy())}
}

// unstarted reports whether an approval stands that has not led to a start.
func unstarted(q *fold.Request, call *fold.Call) bool {
	return q.State == fold.Approved && !q.Revoked && call.Start == nil && call.Result == nil
}

// revoke hands a revocation to the gate, and leads back to the request's page,
// which tells what the log made of it.
func (c *Console) revoke(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	form, err := readFields(w, r, maxPosted, "")
	if err != nil {
		return err
	}
	comment := strings.TrimSpace(form["comment"])
	if len(comment) > maxComment || c.opt.Revoker == nil {
		return errForm
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return err
	}
	answer, err := c.opt.Revoker.Revoke(r.Context(), Revocation{RequestID: q.RequestID, Comment: comment, Actor: id.Actor(), ActorName: id.Name})
	if err != nil {
		return err
	}
	if !answer.Accepted {
		return c.notRevoked(w, r, id, q, answer.Reason)
	}
	c.await(r.Context(), viewWithin, q.RequestID, func(now projections.Request) bool { return now.Revoked })
	http.Redirect(w, r, requestPath(q.RequestID), http.StatusSeeOther)
	return nil
}

// notRevoked answers a revocation that had no effect with how things stand.
func (c *Console) notRevoked(w http.ResponseWriter, r *http.Request, id auth.Identity, q projections.Request, reason string) error {
	if now, err := c.views.Request(r.Context(), q.RequestID); err == nil {
		q = now
	}
	v := c.requestView(r.Context(), id, q)
	v.Said = "The approval was not taken back: " + visible.String(reason) + "."
	return c.showRequest(w, r, id, http.StatusConflict, v)
}
