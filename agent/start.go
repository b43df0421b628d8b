package agent

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// Query is what a client asks.
type Query struct {
	Session   string // "" mints one
	Text      string
	Model     string // "" is the default
	System    string // "" is the configured prompt
	Principal string
	Actor     *events.Actor
	// Supersede ends an unfinished run first, declining what is pending.
	Supersede bool
}

// Start begins a run and returns its session, and a reader of its feed from
// the beginning, to be closed. ErrBusy, ErrNoModel, gate.ErrUnknownSession where the
// conversation is another principal's: then nothing of it is touched.
func (l *Loop) Start(ctx context.Context, q Query) (string, *Reader, error) {
	m, err := l.model(q.Model)
	if err != nil {
		return "", nil, err
	}
	if err := l.serving(ctx); err != nil {
		return "", nil, err
	}
	if q.Session == "" {
		q.Session = events.NewRequestID()
	}
	if err := l.admits(ctx, q); err != nil {
		return "", nil, err
	}
	if q.Supersede {
		if err := l.supersede(ctx, q); err != nil {
			return "", nil, err
		}
	}
	feed, err := l.begin(ctx, q, m)
	if err == nil && !feed.attach() {
		feed, err = l.attached(ctx, q.Session, feed.run)
	}
	if err != nil {
		return q.Session, nil, err
	}
	r := feed.read()
	r.left = l.forgetFeed
	return q.Session, r, nil
}

// admits reports, as an error, what forbids a run and is known before anything
// is appended: ErrBusy, and gate.ErrUnknownSession for another's conversation.
// What comes in between, the log decides, by the same rules.
func (l *Loop) admits(ctx context.Context, q Query) error {
	var owner string
	var busy bool
	err := l.gate.View(ctx, q.Session, func(s *fold.Session) { owner, busy = s.Principal, s.Run() != nil })
	switch {
	case errors.Is(err, gate.ErrUnknownSession):
		return nil // it begins with this run
	case err != nil:
		return err
	case owner != "" && owner != q.Principal:
		return unknown(q.Session)
	case busy && !q.Supersede:
		return ErrBusy
	}
	return nil
}

// unknown is what others are told of a conversation, and everybody of one that
// was never begun.
func unknown(session string) error { return fmt.Errorf("%w: %.80q", gate.ErrUnknownSession, session) }

// begin records the start of a run and drives it. A client that goes away
// meanwhile changes nothing: what stands in the log is driven.
func (l *Loop) begin(ctx context.Context, q Query, m Model) (*Feed, error) {
	if l.isStopping() {
		return nil, ErrStopping
	}
	run := events.NewID()
	reason, err := l.gate.Begin(context.WithoutCancel(ctx), l.runDraft(q, m, run))
	switch {
	case errors.Is(err, gate.ErrNotBack):
		l.adopt(q.Session, run)
		return nil, fmt.Errorf("begin the run: %w", err)
	case err != nil:
		return nil, fmt.Errorf("begin the run: %w", err)
	case reason == fold.ReasonBusy:
		return nil, ErrBusy
	case reason == fold.ReasonNotOwner:
		return nil, unknown(q.Session)
	case reason != "":
		return nil, fmt.Errorf("begin the run: the log says %s", reason)
	}
	return l.launch(q.Session, run), nil
}

func (l *Loop) isStopping() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stopping
}

// adopt drives a run whose start is in the log, but did not come back in time,
// once it has.
func (l *Loop) adopt(session, run string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.stopping {
		return
	}
	ctx := l.ctx
	l.runs.Go(func() {
		var counts bool
		err := l.gate.Watch(ctx, session, func(s *fold.Session) bool {
			counts = s.Run() != nil && s.Run().ID == run
			return counts
		})
		if err == nil && counts {
			l.launch(session, run)
		}
	})
}

func (l *Loop) model(name string) (Model, error) {
	if name == "" {
		return l.opt.Models[0], nil
	}
	i := slices.IndexFunc(l.opt.Models, func(m Model) bool { return m.Name() == name })
	if i < 0 {
		return nil, fmt.Errorf("%w: %.80q", ErrNoModel, name)
	}
	return l.opt.Models[i], nil
}

func (l *Loop) runDraft(q Query, m Model, run string) events.Draft {
	query := events.NewPayload([]byte(q.Text))
	e := &events.RunStarted{
		RunID: run, Principal: q.Principal, Actor: q.Actor, Agent: mainAgent(), Query: query.Ref(events.MediaText), Model: m.Name(),
		PromptDigest: events.DigestOf([]byte(l.opt.System)), ToolsDigest: events.DigestOf(l.toolList), PolicyDigest: events.Digest(l.gate.Policy().Digest()),
	}
	d := events.Draft{Session: q.Session, Data: e, Payloads: []events.Payload{query}}
	if q.System != "" {
		p := events.NewPayload([]byte(q.System))
		e.Prompt, e.PromptDigest = p.Ref(events.MediaText), events.DigestOf([]byte(q.System))
		d.Payloads = append(d.Payloads, p)
	}
	return d
}

func mainAgent() events.Agent { return events.Agent{Name: "main"} }

// owned reports, as an error, that the conversation is unknown or another
// principal's: to the latter it does not exist.
func (l *Loop) owned(ctx context.Context, session, principal string) error {
	var owner string
	if err := l.gate.View(ctx, session, func(s *fold.Session) { owner = s.Principal }); err != nil {
		return err
	}
	if owner != principal {
		return unknown(session)
	}
	return nil
}

// via is how events name the way in by which a run is ended: all clients of the
// loop come by the chat protocol.
const via = "chat-api"

// supersede ends the unfinished run and waits for its end.
func (l *Loop) supersede(ctx context.Context, q Query) error {
	found, err := l.gate.Cancel(ctx, q.Session, q.Principal, events.CauseSuperseded, q.Actor, via)
	if err != nil || !found {
		return err
	}
	return l.gate.Watch(ctx, q.Session, func(s *fold.Session) bool { return s.Run() == nil })
}
