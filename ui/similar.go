package ui

import (
	"context"
	"strings"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// similarView compares a request with the last call of the same tool and agent
// that a person approved.
type similarView struct {
	Words   string // when that was, and who approved it
	Href    string
	Diff    comparison
	Missing string
}

// similar finds what a request is compared with; nil where there is nothing.
// Only what the reader may open is compared.
func (c *Console) similar(ctx context.Context, id auth.Identity, n *names, q projections.Request) *similarView {
	call, err := c.views.Call(ctx, q.Session, q.CallKey)
	if err != nil {
		return nil
	}
	last, err := c.views.Similar(ctx, call)
	if err != nil || c.mayReadSession(ctx, id, last.Session) != nil {
		return nil
	}
	v := &similarView{Words: clockDate(at(last.At)) + " UTC, approved by " + decidedBy(ctx, n, last), Href: callPath(last.Session, last.CallKey)}
	if last.Request != nil && last.Request.Author != "" {
		v.Words += " with changes"
	}
	ref, carrier := last.Current()
	was, err := c.views.Text(ctx, carrier, ref)
	if err != nil {
		v.Missing = missing(err)
		return v
	}
	now, err := c.views.Text(ctx, q.Carrier, q.Arguments)
	if err != nil {
		v.Missing = missing(err)
		return v
	}
	c.note(ctx, id, clip("call "+last.Key().String()), last.Session)
	v.Diff = compare(was, now)
	return v
}

// toldView is what the model is told when a call is declined.
type toldView struct {
	Plain string // without a comment
	// Before and After stand around a comment, for the script that shows it
	// while it is typed.
	Before, After string
}

// commentMark stands for a comment until there is one: no text of people has it.
const commentMark = "\x00"

// told is the gate's own wording for a decline by a person.
func (c *Console) told(id auth.Identity) *toldView {
	name := visible.String(id.Name)
	v := &toldView{Plain: c.opt.Declined(name, "")}
	v.Before, v.After, _ = strings.Cut(c.opt.Declined(name, commentMark), commentMark)
	return v
}
