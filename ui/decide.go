package ui

import (
	"context"
	"net/http"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

const (
	maxForm    = 4 << 20 // bytes of a posted form: arguments, percent-encoded
	maxComment = 4000    // bytes
	// viewWithin is how long an answer waits for the views to show what the
	// gate has accepted, so that the next page tells it.
	viewWithin = 2 * time.Second
)

// posted is a decision form after strict reading.
type posted struct {
	verdict   events.Verdict
	digest    events.Digest
	render    string
	key       string
	comment   string
	arguments []byte
}

// readForm reads a form whose fields come once each. Browsers post line feeds
// as CR LF; what was typed is meant.
func readForm(w http.ResponseWriter, r *http.Request) (posted, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" {
		return posted{}, errForm
	}
	one := map[string]string{}
	for name, values := range r.PostForm {
		if len(values) != 1 || !utf8.ValidString(values[0]) {
			return posted{}, errForm
		}
		one[name] = strings.ReplaceAll(values[0], "\r\n", "\n")
	}
	p := posted{
		verdict: events.Verdict(one["verdict"]), digest: events.Digest(one["digest"]), render: one["render"], key: one["key"],
		comment: strings.TrimSpace(one["comment"]),
	}
	if p.digest == "" || p.key == "" || len(p.key) > events.MaxNameBytes || len(p.comment) > maxComment {
		return p, errForm
	}
	if text, ok := one["arguments"]; ok {
		p.arguments = []byte(visible.Escaped(text))
	}
	return p, nil
}

// decide hands a ruling to the gate, and leads back to the request's page,
// which tells what the log made of it.
func (c *Console) decide(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := readForm(w, r)
	if err != nil {
		return err
	}
	modify := p.verdict == events.VerdictModify
	if known := modify || p.verdict == events.VerdictApprove || p.verdict == events.VerdictDecline; !known || modify && len(p.arguments) == 0 {
		return errForm
	}
	if !modify {
		p.arguments = nil // the change field stands in the same form
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return err
	}
	answer, err := c.opt.Decider.Decide(r.Context(), Ruling{
		RequestID: q.RequestID, RequestDigest: p.digest, Verdict: p.verdict, Arguments: p.arguments, Comment: p.comment, Actor: id.Actor(),
		ActorName: id.Name, Seen: c.renders.redeem(p.render, id.Person, q.RequestID, p.digest), IdempotencyKey: p.key,
	})
	if err != nil {
		return err
	}
	if !answer.Accepted {
		return c.refused(w, r, id, q, p, answer.Reason)
	}
	c.await(r.Context(), viewWithin, q.RequestID, func(now projections.Request) bool { return moved(q, now) })
	http.Redirect(w, r, requestPath(q.RequestID), http.StatusSeeOther)
	return nil
}

// moved reports whether a request has changed since it was read.
func moved(was, now projections.Request) bool {
	return now.State != fold.Pending || len(now.Votes) != len(was.Votes) || now.Revision != was.Revision
}

// await returns when the views show a request as it should be, or do not in
// time.
func (c *Console) await(ctx context.Context, within time.Duration, request string, shows func(projections.Request) bool) (projections.Request, bool) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		_, changed := c.views.Changed()
		q, err := c.views.Request(ctx, request)
		if err == nil && shows(q) {
			return q, true
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return q, false
		}
	}
}

// refused answers a ruling that had no effect: with what had ended the request,
// or with the form again and what is wrong with it.
func (c *Console) refused(w http.ResponseWriter, r *http.Request, id auth.Identity, q projections.Request, p posted, reason string) error {
	// The gate is ahead of the views: what it refused for may come in a moment.
	if now, err := c.views.Request(r.Context(), q.RequestID); err == nil {
		q = now
	}
	if q.State == fold.Pending && p.verdict != events.VerdictModify {
		if now, ok := c.await(r.Context(), viewWithin/4, q.RequestID, func(now projections.Request) bool { return moved(q, now) || now.Digest != p.digest }); ok {
			q = now
		}
	}
	status := http.StatusConflict
	switch {
	case q.State == fold.Pending && p.verdict == events.VerdictModify:
		return c.changeAgain(w, r, id, q, p, reason)
	case q.End != nil && q.End.Cause == events.CauseTimeout, q.State == fold.Pending && c.now().After(q.Deadline):
		status = http.StatusGone
	}
	v := c.requestView(r.Context(), id, q)
	v.Said = "Your decision had no effect: " + visible.String(reason) + "."
	if v.Form != nil {
		v.Form.Comment = p.comment
	}
	return c.showRequest(w, r, id, status, v)
}
