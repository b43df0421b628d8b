package ui

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// changeView is the page between changing arguments and approving them.
type changeView struct {
	Request   requestView // facts and form; its arguments are the current ones
	Arguments argumentsView
	Diff      comparison
	Wrong     string // why it cannot be approved like this
	Refused   string // what the gate said
	Posted    string // the text, for the form
}

// change shows what would be approved instead. Nothing is decided here.
func (c *Console) change(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := readForm(w, r)
	if err != nil {
		return err
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return err
	}
	if q.State != fold.Pending || q.Digest != p.digest {
		v := c.requestView(r.Context(), id, q)
		v.Said = "The request is not as you saw it any more. Nothing was decided."
		return c.showRequest(w, r, id, http.StatusConflict, v)
	}
	return c.changePage(w, r, id, http.StatusOK, q, p, "")
}

// changeAgain shows the same page after the gate has refused the text.
func (c *Console) changeAgain(w http.ResponseWriter, r *http.Request, id auth.Identity, q projections.Request, p posted, reason string) error {
	return c.changePage(w, r, id, http.StatusUnprocessableEntity, q, p, visible.String(reason))
}

func (c *Console) changePage(w http.ResponseWriter, r *http.Request, id auth.Identity, status int, q projections.Request, p posted, refused string) error {
	v := changeView{Request: c.requestView(r.Context(), id, q), Refused: refused, Posted: string(p.arguments)}
	if v.Request.Form == nil {
		return c.showRequest(w, r, id, http.StatusConflict, v.Request)
	}
	v.Request.Form.Key, v.Request.Form.Comment = uuid.NewString(), p.comment
	v.Arguments = arguments(p.arguments, "", "")
	v.Wrong = c.wrong(r.Context(), q, p.arguments, v.Arguments)
	if v.Wrong != "" && status == http.StatusOK {
		status = http.StatusUnprocessableEntity
	}
	was, err := c.payload(r.Context(), q.Carrier, q.Arguments)
	if err != nil {
		return err
	}
	v.Diff = compare(was, p.arguments)
	queue, err := c.queueFor(r.Context(), id, q.RequestID)
	if err != nil {
		return err
	}
	return c.page(w, r, status, c.shell(id, "Approve with changes", "/inbox"), changePage(queue, v))
}

// wrong says why a text could not run: by the one decoder, then by the gate, of
// which nothing is asked that it would not judge again.
func (c *Console) wrong(ctx context.Context, q projections.Request, text []byte, v argumentsView) string {
	if v.Invalid != "" || c.opt.Checker == nil {
		return v.Invalid
	}
	if err := c.opt.Checker.Check(ctx, q.Tool, text); err != nil {
		return visible.String(err.Error())
	}
	return ""
}

// The verdicts as the forms post them.
const (
	postApprove = string(events.VerdictApprove)
	postModify  = string(events.VerdictModify)
	postDecline = string(events.VerdictDecline)
)
