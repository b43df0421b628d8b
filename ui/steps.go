package ui

import (
	"context"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// saidLine is how much of what others said a timeline shows.
const saidLine = 240

// stepView is a record in plain words: Words, Thing and After are one sentence.
type stepView struct {
	Time, Stamp, Place string
	Record             string // the path of the record itself
	Icon, Class        string
	Words              string         // ours
	Thing              []visible.Span // a name of theirs in it
	After              string         // ours
	Theirs             []visible.Span // what they said, in one line
	NotCounted         string
	Href               string
	Folded             []stepView // the records of which this is the sum
	viewer             string     // the id of who viewed something, where the record is that
}

// steps puts records of a session into plain words, one a record. Views by
// people that follow each other are folded into one.
func (c *Console) steps(ctx context.Context, n *names, session string, list []projections.Step) []stepView {
	k := &known{views: c.views, session: session, requests: map[string]*projections.Request{}, calls: map[events.CallKey]*projections.Call{}}
	out := make([]stepView, 0, len(list))
	for _, s := range list {
		out = append(out, c.step(ctx, n, k, s))
	}
	return foldViews(out)
}

// foldViews folds views that follow each other.
func foldViews(steps []stepView) []stepView {
	var out []stepView
	for i := 0; i < len(steps); {
		end := i
		for end < len(steps) && steps[end].viewer != "" {
			end++
		}
		if end-i < 2 {
			out = append(out, steps[i])
			i++
			continue
		}
		out = append(out, folded(steps[i:end]))
		i = end
	}
	return out
}

func folded(views []stepView) stepView {
	people := map[string]bool{}
	for _, v := range views {
		people[v.viewer] = true
	}
	sum := views[0]
	sum.Words = "Viewed " + group(len(views)) + " times by " + count(len(people), "person", "people")
	sum.Thing, sum.After, sum.Theirs, sum.Href, sum.Folded = nil, "", nil, "", views
	return sum
}

// step puts a record of a session into plain words.
func (c *Console) step(ctx context.Context, n *names, k *known, s projections.Step) stepView {
	v := stepView{Time: clock(at(s.Position)), Stamp: stamp(at(s.Position)), Place: place(s.Position), Record: placePath(s.Position), Icon: "dot"}
	if s.Reason != "" && s.Reason != fold.ReasonNotFolded {
		v.NotCounted = reasonWords(s.Reason)
	}
	if s.Event == nil {
		v.Icon, v.Words = "warn", "A record of type "+visible.String(string(s.Envelope.Type))+" that this build cannot read"
		return v
	}
	t := teller{c: c, ctx: ctx, n: n, known: k, event: s.Envelope.ID, session: s.Envelope.SessionID, void: v.NotCounted != "", v: &v}
	switch e := s.Event.(type) {
	case *events.RunStarted, *events.RoundFinished, *events.RunCancelled, *events.RunFinished:
		t.run(e)
	case *events.ToolCall, *events.ToolStarted, *events.ToolResult, *events.SubagentStarted, *events.SubagentFinished:
		t.call(e)
	case *events.ApprovalRequest, *events.Decision, *events.Revision, *events.Revocation:
		t.decision(e)
	case *events.Access:
		t.access(e)
	case *events.Definition, *events.Person, *events.Boot, *events.Alive, *events.Shutdown, *events.ClockStep, *events.Recovered,
		*events.Checkpoint:
		t.process(e)
	}
	if leadsNowhere(s) {
		v.Href = ""
	}
	return v
}

// leadsNowhere reports whether a record is about something that the session
// does not have, so that there is no page to lead to.
func leadsNowhere(s projections.Step) bool {
	switch s.Reason {
	case fold.ReasonUnknownCall, fold.ReasonUnknownRequest, fold.ReasonUnreadable:
		return true
	case "", fold.ReasonNotFolded:
		return false
	default:
		return s.Envelope.Type == events.TypeToolCall || s.Envelope.Type == events.TypeApprovalRequest
	}
}

// teller puts one event into words.
type teller struct {
	c              *Console
	ctx            context.Context
	n              *names
	known          *known
	event, session string
	void           bool // the record did not count
	v              *stepView
}

// say fetches what others said, in one line.
func (t teller) say(ref *events.Ref) {
	if ref == nil {
		return
	}
	b, err := t.c.views.Text(t.ctx, t.event, ref)
	if err != nil {
		b = []byte(missing(err))
	}
	t.v.Theirs = visible.Line(string(b), saidLine)
}

// access tells what somebody did to the record.
func (t teller) access(e *events.Access) {
	v, who, id := t.v, "Somebody", "nobody who signed in"
	if e.Actor != nil {
		who, id = t.n.of(t.ctx, e.Actor.Person), e.Actor.Person
	}
	if e.Reason != "" {
		v.Theirs = visible.Line(e.Reason, saidLine)
	}
	refused := e.Outcome == events.AccessRefused
	switch {
	case e.Action == "view" && !refused:
		v.Words, v.viewer = who+" viewed", id
		v.Thing = visible.Line(t.resource(e.Resource), 80)
		return
	case e.Action == "decide" && refused:
		v.Icon, v.Class, v.Words, v.After = "cross", "gone", who+" tried to decide", ", which was refused"
	case refused:
		v.Words, v.After = who+": "+visible.String(e.Action), ", which was refused"
	default:
		v.Words = who + ": " + visible.String(e.Action)
	}
	v.Thing = visible.Line(t.resource(e.Resource), 80)
}

// resource names what an act was on.
func (t teller) resource(name string) string {
	switch {
	case name == "session "+t.session, name == t.session:
		return "this session"
	case strings.HasPrefix(name, "call "):
		return name
	}
	if q := t.known.request(t.ctx, name); q != nil {
		return "the request for " + q.Tool
	}
	return name
}
