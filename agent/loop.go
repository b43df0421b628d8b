package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// What callers must tell apart.
var (
	// ErrBusy: the conversation has an unfinished run.
	ErrBusy = errors.New("the conversation has an unfinished run")
	// ErrNoModel: no model has the name.
	ErrNoModel = errors.New("no such model")
	// ErrNothing: there is nothing to read or to cancel.
	ErrNothing = errors.New("nothing there")
)

// Options are what a loop is made of. Gate, Log, Models and Tools are required.
type Options struct {
	Gate   *gate.Gate
	Log    gate.Log
	Models []Model // the first is the default
	Tools  []Tool
	System string // the configured system prompt
	Boot   string // names this process in cursors
	// Limits of a run; 0 means 50 rounds, 200 calls, 65,536 bytes.
	MaxRounds, MaxToolCalls, MaxResultBytes int
	// MaxAttempts is how often a round is asked whose provider was not
	// available; 0 means 3.
	MaxAttempts int
	Logger      *slog.Logger
}

// Loop runs conversations. Run must be running.
type Loop struct {
	opt    Options
	gate   *gate.Gate
	tools  map[string]Tool
	digest events.Digest // of the tools offered
	logger *slog.Logger

	runs sync.WaitGroup // goroutines of runs; Run waits for them

	mu     sync.Mutex
	ctx    context.Context          //nolint:containedctx // of Run, for the runs that it owns; mu
	active map[string]*conversation // by session; mu
}

// conversation is a run in the hands of this process, or one that just ended
// and can still be read.
type conversation struct {
	run  string
	feed *Feed
	done chan struct{} // closed when the run's goroutine has returned
}

// NewLoop returns a loop.
func NewLoop(o Options) (*Loop, error) {
	o.MaxRounds = cmp.Or(o.MaxRounds, 50)
	o.MaxToolCalls = cmp.Or(o.MaxToolCalls, 200)
	o.MaxResultBytes = cmp.Or(o.MaxResultBytes, 64<<10)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, 3)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if len(o.Models) == 0 {
		return nil, fmt.Errorf("%w: configure at least one under models", ErrNoModel)
	}
	l := &Loop{opt: o, gate: o.Gate, tools: map[string]Tool{}, logger: o.Logger, active: map[string]*conversation{}}
	for _, t := range o.Tools {
		l.tools[t.Spec().Name] = t
	}
	l.digest = events.DigestOf(l.toolList())
	return l, nil
}

// toolList is the definition behind a run's tools_digest: the offered tools,
// in order.
func (l *Loop) toolList() []byte {
	b, err := json.Marshal(l.definitions())
	if err != nil {
		l.logger.Error("the list of tools cannot be encoded", "error", err)
	}
	return b
}

func (l *Loop) definitions() []ToolDefinition {
	defs := make([]ToolDefinition, 0, len(l.opt.Tools))
	for _, t := range l.opt.Tools {
		s := t.Spec()
		defs = append(defs, ToolDefinition{Name: s.Name, Description: s.Description, Schema: s.Schema})
	}
	return defs
}

// Definitions are the texts behind the digests that runs name. They are
// recorded before the first run.
func (l *Loop) Definitions() []gate.Definition {
	return []gate.Definition{
		{Kind: events.DefineTools, Name: "tools", Content: l.toolList()},
		{Kind: events.DefinePrompt, Name: "system", Content: []byte(l.opt.System)},
	}
}

// Run takes up the runs that were unfinished and serves until ctx ends; then it
// waits for the runs that it owns. They stay as they are in the log, and go on
// at the next start.
func (l *Loop) Run(ctx context.Context) error {
	l.mu.Lock()
	l.ctx = ctx
	l.mu.Unlock()
	defer l.runs.Wait()
	for _, session := range l.gate.Unfinished() {
		if err := l.takeUp(ctx, session); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

func (l *Loop) takeUp(ctx context.Context, session string) error {
	var run string
	err := l.gate.View(ctx, session, func(s *fold.Session) {
		if r := s.Run(); r != nil {
			run = r.ID
		}
	})
	if err != nil || run == "" {
		return err
	}
	l.launch(session, run)
	return nil
}

// launch starts the goroutine of a run, once.
func (l *Loop) launch(session, run string) *conversation {
	l.mu.Lock()
	defer l.mu.Unlock()
	if c := l.active[session]; c != nil && c.run == run {
		return c
	}
	n := l.narrator(session, run)
	c := &conversation{run: run, feed: n.feed, done: make(chan struct{})}
	l.active[session] = c
	ctx := l.ctx
	l.runs.Go(func() {
		defer close(c.done)
		l.drive(ctx, session, run, n)
		l.forget(session, c)
	})
	return c
}

// keepFeeds is how many feeds of finished runs stay in memory.
const keepFeeds = 64

// forget drops feeds of finished runs beyond a few. What is dropped is made
// anew from the log when somebody asks.
func (l *Loop) forget(session string, c *conversation) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.active) > keepFeeds && l.active[session] == c {
		delete(l.active, session)
	}
}

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
// the beginning. ErrBusy, ErrNoModel, gate.ErrUnknownSession where the
// conversation is another principal's.
func (l *Loop) Start(ctx context.Context, q Query) (string, *Reader, error) {
	m, err := l.model(q.Model)
	if err != nil {
		return "", nil, err
	}
	if q.Session == "" {
		q.Session = events.NewRequestID()
	}
	if err := l.owned(ctx, q.Session, q.Principal); err != nil && !errors.Is(err, gate.ErrUnknownSession) {
		return "", nil, err
	}
	if q.Supersede {
		if err := l.supersede(ctx, q); err != nil {
			return "", nil, err
		}
	}
	run := events.NewID()
	reason, err := l.gate.Begin(ctx, l.runDraft(q, m, run))
	switch {
	case err != nil:
		return "", nil, fmt.Errorf("begin the run: %w", err)
	case reason == fold.ReasonBusy:
		return q.Session, nil, ErrBusy
	case reason == fold.ReasonNotOwner:
		return "", nil, gate.ErrUnknownSession
	case reason != "":
		return "", nil, fmt.Errorf("begin the run: the log says %s", reason)
	}
	c := l.launch(q.Session, run)
	return q.Session, c.feed.from(""), nil
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
		PromptDigest: events.DigestOf([]byte(l.opt.System)), ToolsDigest: l.digest, PolicyDigest: events.Digest(l.gate.Policy().Digest()),
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
		return fmt.Errorf("%w: %.80q", gate.ErrUnknownSession, session)
	}
	return nil
}

// supersede ends the unfinished run and waits for its end.
func (l *Loop) supersede(ctx context.Context, q Query) error {
	found, err := l.gate.Cancel(ctx, q.Session, events.CauseSuperseded, q.Actor, "chat-api")
	if err != nil || !found {
		return err
	}
	return l.gate.Watch(ctx, q.Session, func(s *fold.Session) bool { return s.Run() == nil })
}

// Cancel ends the unfinished run of a conversation. ErrNothing where there is
// none.
func (l *Loop) Cancel(ctx context.Context, session, principal string, actor *events.Actor) error {
	if err := l.owned(ctx, session, principal); err != nil {
		return err
	}
	found, err := l.gate.Cancel(ctx, session, events.CauseCancelled, actor, "chat-api")
	if err == nil && !found {
		err = ErrNothing
	}
	return err
}

// Open returns a reader of the last run of a conversation for a client that
// has seen lastID.
func (l *Loop) Open(ctx context.Context, session, principal, lastID string) (*Reader, error) {
	if err := l.owned(ctx, session, principal); err != nil {
		return nil, err
	}
	feed, err := l.feedOf(ctx, session)
	if err != nil {
		return nil, err
	}
	return feed.from(lastID), nil
}

// feedOf returns the feed of a session's last run: the one in memory, or one
// told anew from the log.
func (l *Loop) feedOf(ctx context.Context, session string) (*Feed, error) {
	var run string
	err := l.gate.View(ctx, session, func(s *fold.Session) {
		if n := len(s.Runs); n > 0 {
			run = s.Runs[n-1].ID
		}
	})
	if err != nil {
		return nil, err
	}
	if run == "" {
		return nil, ErrNothing
	}
	l.mu.Lock()
	c := l.active[session]
	l.mu.Unlock()
	if c != nil && c.run == run {
		return c.feed, nil
	}
	n := l.narrator(session, run)
	if err := n.catchUp(ctx); err != nil {
		return nil, err
	}
	n.feed.end()
	return n.feed, nil
}

// Pending lists what a conversation waits for, for the 409 of a new query.
func (l *Loop) Pending(ctx context.Context, session string) ([]Pending, error) {
	var out []Pending
	err := l.gate.View(ctx, session, func(s *fold.Session) {
		for _, q := range s.Requests {
			if q.State == fold.Pending {
				out = append(out, Pending{RequestID: q.RequestID, ToolName: q.Tool, ToolCallID: s.Calls[q.CallKey].CallID, at: q.At})
			}
		}
	})
	slices.SortFunc(out, func(a, b Pending) int { return a.at.Compare(b.at) })
	return out, err
}

// Pending is one undecided request of a conversation.
type Pending struct {
	RequestID  string `json:"requestId"`
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	at         events.Position
}
