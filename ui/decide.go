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
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

const (
	maxPosted  = 4 << 20 // bytes of a posted form: arguments, percent-encoded
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

// readFields reads a form of at most so many bytes whose fields come once each,
// but for one that is a list. Browsers post line feeds as CR LF; what was typed
// is meant.
func readFields(w http.ResponseWriter, r *http.Request, most int64, list string) (map[string]string, error) {
	r.Body = http.MaxBytesReader(w, r.Body, most)
	if err := r.ParseForm(); err != nil || r.URL.RawQuery != "" {
		return nil, errForm
	}
	one := map[string]string{}
	for name, values := range r.PostForm {
		if list != "" && name == list {
			continue
		}
		if len(values) != 1 || !utf8.ValidString(values[0]) {
			return nil, errForm
		}
		one[name] = strings.ReplaceAll(values[0], "\r\n", "\n")
	}
	return one, nil
}

// readForm reads the form about one request.
func readForm(w http.ResponseWriter, r *http.Request) (posted, error) {
	one, err := readFields(w, r, maxPosted, "")
	if err != nil {
		return posted{}, err
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
	if name, ok := one["member"]; ok {
		text, found := spliced(p.arguments, name, one["text"])
		if !found {
			return p, errForm
		}
		p.arguments = []byte(visible.Escaped(string(text)))
	}
	return p, nil
}

// decide hands a ruling to the gate, and leads back to the request's page,
// which tells what the log made of it.
func (c *Console) decide(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := readRuling(w, r)
	if err != nil {
		return c.submitted(err)
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err != nil {
		return c.submitted(err)
	}
	answer, err := c.opt.Decider.Decide(r.Context(), Ruling{
		RequestID: q.RequestID, RequestDigest: p.digest, Verdict: p.verdict, Arguments: p.arguments, Comment: p.comment, Actor: id.Actor(),
		ActorName: id.Name, Seen: c.renders.redeem(p.render, id.Person, q.RequestID, p.digest), IdempotencyKey: p.key,
	})
	if err != nil {
		return c.submitted(err)
	}
	if !answer.Accepted {
		return c.refused(w, r, id, q, p, answer.Reason)
	}
	c.submission(instruments.SubmitAccepted)
	c.await(r.Context(), viewWithin, q.RequestID, func(now projections.Request) bool { return moved(q, now) })
	http.Redirect(w, r, requestPath(q.RequestID)+"?decided=1", http.StatusSeeOther)
	return nil
}

// readRuling reads the form of one decision.
func readRuling(w http.ResponseWriter, r *http.Request) (posted, error) {
	p, err := readForm(w, r)
	if err != nil {
		return p, err
	}
	switch p.verdict {
	case events.VerdictModify:
		if len(p.arguments) == 0 {
			return p, errForm
		}
	case events.VerdictApprove, events.VerdictDecline:
		p.arguments = nil // the change field stands in the same form
	default:
		return p, errForm
	}
	return p, nil
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
	q = c.newest(r.Context(), q, p)
	c.submission(whyRefused(id, q, p, c.now()))
	if q.State == fold.Pending && p.verdict == events.VerdictModify && !c.now().After(q.Deadline) {
		return c.changeAgain(w, r, id, q, p, reason)
	}
	status := http.StatusConflict
	if tooLate(q, c.now()) {
		status = http.StatusGone
	}
	v := c.requestView(r.Context(), id, q)
	v.Said = "Your decision had no effect: " + visible.String(reason) + "."
	if v.Form != nil {
		v.Form.Comment = p.comment
	}
	return c.showRequest(w, r, id, status, v)
}

// newest is a request as the views have it now. The gate is ahead of them: what
// it refused for may come in a moment.
func (c *Console) newest(ctx context.Context, q projections.Request, p posted) projections.Request {
	if now, err := c.views.Request(ctx, q.RequestID); err == nil {
		q = now
	}
	if q.State != fold.Pending || p.verdict == events.VerdictModify {
		return q
	}
	if now, ok := c.await(ctx, viewWithin/4, q.RequestID, func(now projections.Request) bool { return moved(q, now) || now.Digest != p.digest }); ok {
		return now
	}
	return q
}

// tooLate reports whether time ended a request, or has run out.
func tooLate(q projections.Request, now time.Time) bool {
	if q.State == fold.Pending {
		return now.After(q.Deadline)
	}
	return q.End != nil && q.End.Cause == events.CauseTimeout
}
