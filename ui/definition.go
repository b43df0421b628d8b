package ui

import (
	"cmp"
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
)

// definitionView is the definition of a request's tool, against the last one that
// was accepted before.
type definitionView struct {
	Words   string // when the old one was accepted, and how
	Waits   bool   // the request waits: approving it accepts the new one
	Href    string // of the tool
	Diff    comparison
	Missing string // why there is nothing to compare
}

// changedDefinition compares the definition under which a request was made with the
// last that was accepted before it; nil where that is the same.
func (c *Console) changedDefinition(ctx context.Context, n *names, q projections.Request) *definitionView {
	all, err := c.views.Accepted(ctx)
	if err != nil {
		c.logger.ErrorContext(ctx, "the accepted definitions could not be read", "error", err.Error())
		return nil
	}
	tool := all.Tools[q.Tool]
	last, how := lastAccepted(tool, q.Call.At)
	if last == "" || acceptedBefore(tool.Accepted[q.Call.ToolDigest], q.Call.At) {
		return nil
	}
	v := &definitionView{Words: acceptedWords(ctx, n, how), Waits: q.State == fold.Pending, Href: toolPath(q.Tool)}
	was, err := c.definitionText(ctx, last)
	if err == nil {
		var is []byte
		if is, err = c.definitionText(ctx, q.Call.ToolDigest); err == nil {
			v.Diff = compare(was, is)
		}
	}
	if err != nil {
		v.Missing = missing(err)
	}
	return v
}

func (c *Console) definitionText(ctx context.Context, digest events.Digest) ([]byte, error) {
	d, err := c.views.DefinitionOf(ctx, events.DefineTool, digest)
	if err != nil {
		return nil, err
	}
	return c.views.Text(ctx, d.EventID, d.Content)
}

// acceptedBefore reports whether a definition was accepted at a place.
func acceptedBefore(a fold.Acceptance, at events.Position) bool {
	return a.How != "" && a.At.Compare(at) < 0
}

// lastAccepted is the definition that was accepted last before a place; "" where
// none was.
func lastAccepted(t fold.ToolDefinitions, at events.Position) (last events.Digest, how fold.Acceptance) {
	for digest, a := range t.Accepted {
		if acceptedBefore(a, at) && (last == "" || a.At.Compare(how.At) > 0) {
			last, how = digest, a
		}
	}
	return last, how
}

// acceptedWords says when and how a definition was accepted.
func acceptedWords(ctx context.Context, n *names, a fold.Acceptance) string {
	when := clockDate(at(a.At)) + " UTC"
	switch a.How {
	case fold.AcceptedApproved:
		return "by " + n.of(ctx, a.Person) + ", " + when
	case fold.AcceptedBefore:
		return "it ran before the gate asked about changes, " + when
	case fold.AcceptedFirst:
	}
	return "the first that the log has, " + when
}

// standing says of a tool's newest definition whether it is accepted.
func standing(t fold.ToolDefinitions) (c chip, changed bool) {
	if _, ok := t.Accepted[t.Now]; ok || t.Now == "" || len(t.Accepted) == 0 {
		return chip{}, false
	}
	return chip{"wait", "warn", "Changed, not accepted"}, true
}

// acceptance adds to the definitions of a tool how each came to be accepted.
func acceptance(ctx context.Context, n *names, rows []definitionRow, t fold.ToolDefinitions) {
	for i, row := range rows {
		if a, ok := t.Accepted[events.Digest(row.Digest)]; ok {
			rows[i].Accepted = acceptedWords(ctx, n, a)
			if a.Request != "" {
				rows[i].Href = requestPath(a.Request)
			}
		}
	}
}

// declinedView is how often people declined calls like a request's.
type declinedView struct {
	Words string
	Last  []declinedCallView
}

// declinedCallView is one of them.
type declinedCallView struct {
	Words   string // when, and by whom
	Href    string // "" where the reader may not see it
	Comment *textView
	Diff    comparison
	Missing string // why it is not compared
}

// shownDeclines is how many earlier declines a page shows.
const shownDeclines = 3

// declinedBefore finds what people declined of the like before; nil where there is
// nothing.
func (c *Console) declinedBefore(ctx context.Context, id projections.Reader, n *names, q projections.Request, viewed func(projections.Call)) *declinedView {
	call, err := c.views.Call(ctx, q.Session, q.CallKey)
	if err != nil {
		return nil
	}
	found, err := c.views.DeclinedBefore(ctx, call, id, shownDeclines)
	if err != nil || found.Count == 0 {
		if err != nil {
			c.logger.ErrorContext(ctx, "earlier declines could not be read", "error", err.Error())
		}
		return nil
	}
	times := count(found.Count, "time", "times")
	if found.More {
		times = "more than " + times
	}
	v := &declinedView{Words: "People declined calls of this tool by this agent, for the same person, " + times + " in the 30 days before."}
	now, err := c.views.Text(ctx, q.Carrier, q.Arguments)
	for _, d := range found.Last {
		v.Last = append(v.Last, c.declinedCall(ctx, n, d, now, err))
		if d.Readable {
			viewed(d.Call)
		}
	}
	return v
}

func (c *Console) declinedCall(ctx context.Context, n *names, d projections.DeclinedCall, now []byte, unread error) declinedCallView {
	end := d.Request.End
	v := declinedCallView{Words: clockDate(at(end.At)) + " UTC, declined by " + n.of(ctx, end.Actor.Person)}
	if !d.Readable {
		v.Missing = "It is of a conversation that is not yours to see."
		return v
	}
	v.Href = callPath(d.Session, d.CallKey)
	if end.Comment != nil {
		t := c.text(ctx, end.EventID, end.Comment, theirsBudget)
		v.Comment = &t
	}
	ref, carrier := d.Current()
	was, err := c.views.Text(ctx, carrier, ref)
	if err = cmp.Or(err, unread); err != nil {
		v.Missing = missing(err)
		return v
	}
	v.Diff = compare(was, now)
	return v
}
