package agent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// narrator tells the records of a session to the feed of one run. It belongs
// to one goroutine.
type narrator struct {
	loop    *Loop
	session *fold.Session // its own fold, to know what counts
	row     int64         // told so far
	feed    *Feed
	caught  bool // catchUp has succeeded once
	// What a run that was parked had told before: to the feed, if that was kept,
	// and to the listeners, up to these rows.
	fed, heard int64
	// streamed says that the text of the round under way went to the feed as
	// it came.
	streamed bool
	teller   *teller    // of the listeners; nil where none are told of the run
	turn     *turnStory // the turn whose calls are not all told yet
}

// turnStory gathers a turn's calls: they are told together, before anything
// that follows from them.
type turnStory struct {
	batch string
	need  int
	usage events.Usage
	calls []EventCall
	// What follows from the calls: the requests go before any result, also of
	// a call that was refused in the same commit.
	requests, results []Event
}

func (l *Loop) narrator(session, run string) *narrator {
	return &narrator{loop: l, session: fold.NewSession(session), feed: newFeed(run, fmt.Sprintf("%s-%d", l.opt.Boot, l.feeds.Add(1)))}
}

// tellAtOnce is how many records are read at a time.
const tellAtOnce = 256

// catchUp tells what the log holds now.
func (n *narrator) catchUp(ctx context.Context) error {
	for {
		entries, err := n.loop.opt.Log.Session(ctx, n.session.ID, n.row, tellAtOnce)
		if err != nil {
			return fmt.Errorf("read session %.80q: %w", n.session.ID, err)
		}
		for _, e := range entries {
			n.tell(ctx, e.Row, fold.Decode(e.Record))
			n.row = e.Row
		}
		if len(entries) < tellAtOnce {
			break
		}
	}
	if !n.caught {
		n.caught = true
		close(n.feed.told)
	}
	return nil
}

// tell tells one record, where it was not told before.
func (n *narrator) tell(ctx context.Context, row int64, r fold.Record) {
	if r.Envelope.SessionID != n.session.ID || !n.session.Apply(r).Counts {
		return
	}
	if n.teller != nil && row > n.heard {
		n.teller.hear(ctx, n.session, r, !n.caught && n.heard == 0)
	}
	if row > n.fed {
		n.show(ctx, r)
	}
}

// show adds the frames of one record. Payloads that cannot be read are said to
// be so; the feed goes on.
func (n *narrator) show(ctx context.Context, r fold.Record) {
	switch e := r.Event.(type) { //nolint:gochecksumtype // of the others clients see nothing
	case *events.RoundFinished:
		if e.RunID == n.feed.run {
			n.round(ctx, r, e)
		}
	case *events.ToolCall:
		if e.RunID == n.feed.run {
			n.call(ctx, r, e)
		}
	case *events.ApprovalRequest:
		if c := n.session.Calls[e.CallKey]; c.RunID == n.feed.run {
			n.after(n.approval(ctx, r, c))
		}
	case *events.ToolResult:
		if c := n.session.Calls[e.CallKey]; c.RunID == n.feed.run {
			n.after(n.result(ctx, c))
		}
	case *events.RunFinished:
		if e.RunID == n.feed.run {
			n.finished(ctx, r, e)
		}
	}
}

func (n *narrator) payload(ctx context.Context, carrier string, ref *events.Ref) []byte {
	if ref == nil {
		return nil
	}
	b, err := n.loop.opt.Log.Payload(ctx, carrier, ref)
	if err != nil {
		n.loop.logger.WarnContext(ctx, "a payload could not be read for a client", "event", carrier, "error", err)
		return []byte("(this text is no longer kept)")
	}
	return b
}

// round tells the text of a round, where it was not streamed, and that it has
// finished.
func (n *narrator) round(ctx context.Context, r fold.Record, e *events.RoundFinished) {
	if !n.streamed && e.Outcome != events.RoundFailed && e.Message != nil {
		text, reasoning := n.loop.texts(e.Dialect, n.payload(ctx, r.Envelope.ID, e.Message))
		n.say(EventReasoning, reasoning)
		n.say(EventToken, text)
	}
	n.streamed = false
	switch e.Outcome {
	case events.RoundCalls:
		n.turn = &turnStory{batch: e.BatchID, need: e.Calls, usage: e.Usage}
	case events.RoundText:
		n.feed.lasting(finish(events.FinishStop, e.Usage))
	case events.RoundFailed:
	}
}

func (n *narrator) say(kind, text string) {
	if text != "" {
		n.feed.piece(kind, text)
	}
}

func finish(reason events.FinishReason, u events.Usage) Event {
	return Event{Type: EventFinish, Reason: string(reason), Usage: &Usage{u.Prompt, u.Completion, u.Total}}
}

func (n *narrator) call(ctx context.Context, r fold.Record, e *events.ToolCall) {
	source := string(e.ToolSource)
	if e.ToolSource == events.SourceUnknown {
		source = ""
	}
	c := EventCall{ID: e.CallID, Name: e.Tool, Arguments: shown(n.payload(ctx, r.Envelope.ID, e.Arguments)), Source: source}
	t := n.turn
	if t == nil || t.batch != e.BatchID {
		return
	}
	t.calls = append(t.calls, c)
	if len(t.calls) < t.need {
		return
	}
	n.turn = nil
	n.feed.lasting(Event{Type: EventToolCall, ToolCalls: t.calls})
	n.feed.lasting(finish(events.FinishToolCalls, t.usage))
	for _, e := range slices.Concat(t.requests, t.results) {
		n.feed.lasting(e)
	}
}

// after tells an event of a turn, once the turn's calls are told.
func (n *narrator) after(e Event) {
	switch t := n.turn; {
	case t == nil:
		n.feed.lasting(e)
	case e.Type == EventApproval:
		t.requests = append(t.requests, e)
	default:
		t.results = append(t.results, e)
	}
}

// shown is arguments as clients see them: the text that would run.
func shown(arguments []byte) string {
	if a, err := events.DecodeArguments(arguments); err == nil {
		return string(a.Text)
	}
	return validText(arguments)
}

func (n *narrator) approval(ctx context.Context, r fold.Record, c *fold.Call) Event {
	q := c.Request
	text := shown(n.payload(ctx, c.EventID, c.Arguments))
	expires := time.UnixMicro(r.LogTime).Add(time.Duration(q.Timeout)).UTC()
	return Event{
		Type: EventApproval, RequestID: q.RequestID, ToolCallID: c.CallID, ToolName: c.Tool, Arguments: text,
		ArgumentsDigest: "sha256:" + string(events.DigestOf([]byte(text))), Rule: q.Rule, ExpiresAt: expires.Format(time.RFC3339),
	}
}

func (n *narrator) result(ctx context.Context, c *fold.Call) Event {
	return Event{Type: EventToolResult, ToolResults: []EventResult{{
		ID: c.CallID, Name: c.Tool, Result: n.loop.resultText(ctx, c), Status: string(c.Result.Status), Cause: string(c.Result.Cause),
	}}}
}

func (n *narrator) finished(ctx context.Context, r fold.Record, e *events.RunFinished) {
	defer n.feed.end()
	switch e.Reason {
	case events.FinishStop, events.FinishToolCalls:
		return // the round has said it
	case events.FinishReturnDirect:
		n.feed.lasting(Event{Type: EventToken, Data: n.direct(ctx)})
	case events.FinishLength, events.FinishCancelled, events.FinishLimit, events.FinishError:
	}
	n.feed.lasting(finish(e.Reason, e.Usage))
	if e.Reason == events.FinishError {
		n.feed.lasting(Event{Type: EventError, Code: e.Code, Message: validText(n.payload(ctx, r.Envelope.ID, e.Detail))})
	}
}

// direct is the answer of a run that a return-direct tool ended.
func (n *narrator) direct(ctx context.Context) string {
	run := n.session.Runs[len(n.session.Runs)-1]
	for _, c := range n.session.Turn(run.Last()) {
		if c != nil && n.loop.returnsDirect(c) {
			return n.loop.resultText(ctx, c)
		}
	}
	return ""
}

// texts asks the dialect of a message what it says.
func (l *Loop) texts(dialect string, message json.RawMessage) (text, reasoning string) {
	for _, m := range l.opt.Models {
		if m.Dialect() == dialect {
			return m.Text(message)
		}
	}
	return "", ""
}
