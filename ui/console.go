package ui

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/seats"
	"github.com/countersign-dev/countersign/projections"
)

// Decider is the gate, as the console needs it.
type Decider interface {
	// Decide records a ruling and returns what the log's fold made of it.
	Decide(ctx context.Context, r Ruling) (Answer, error)
}

// Ruling is what a person says of a request.
type Ruling struct {
	RequestID     string
	RequestDigest events.Digest // of the text that the page showed
	Verdict       events.Verdict
	Arguments     []byte // the changed ones, with VerdictModify alone
	Comment       string
	Actor         *events.Actor
	ActorName     string       // to be recorded behind the actor's id
	Seen          *events.Seen // what the server delivered; nil where it does not know
	// IdempotencyKey makes a form that is posted twice get the first answer
	// again.
	IdempotencyKey string
	// Bulk is what the rulings share that a person sent at once; "" for none.
	Bulk string
}

// Checker says what the gate would say of changed arguments.
type Checker interface {
	// Check returns nil where the arguments could run, else why not, in words
	// for people. Nothing is recorded.
	Check(ctx context.Context, tool string, arguments []byte) error
}

// Answer is what became of a ruling.
type Answer struct {
	Accepted bool
	Reason   string // why not, in words for people
	Needed   int    // how many more people must approve
}

// Recorder keeps acts on the record: sign-ins, refusals, views of payloads.
type Recorder interface {
	Record(ctx context.Context, a *events.Access, session string) error
}

// Auth says who sends a request, and begins and ends console sessions. It is
// auth.Store.
type Auth interface {
	FromRequest(r *http.Request) (auth.Identity, error)
	Redeem(ctx context.Context, secret string) (cookie string, who auth.Identity, err error)
	SignInWithToken(ctx context.Context, token string) (cookie string, who auth.Identity, err error)
	SignOut(ctx context.Context, cookie string) error
}

// Options are what a console is made of. Views, Decider, Recorder, Auth and
// Declined are required.
type Options struct {
	Views    *projections.Views
	Decider  Decider
	Revoker  Revoker // nil: approvals are not taken back here
	Checker  Checker // nil: changed arguments are first checked when they are approved
	Recorder Recorder
	Auth     Auth
	Site     auth.Site
	// Isolation is how tools are shut off from this process; with "none" every
	// page says so.
	Isolation string
	Version   string
	// ReadOnly says why nothing can be put on the log, in words; "" where it can.
	// Every page says it, and nothing is decided.
	ReadOnly string
	// Policy says in one line what asks, for people: "Write, Edit and Bash ask".
	Policy func() string
	// Policies is the policy that judges, for its page; nil: it has none.
	Policies Policies
	// Declined writes what the model is told when a call is declined: by whom,
	// with which comment. It is the gate's own wording, so that pages promise
	// what comes.
	Declined func(name, comment string) string
	// Room is how many bytes the disk of the log has free, and in all; nil, or
	// false, where that is not known.
	Room func() (free, total uint64, ok bool)
	// MaxStreams bounds the live streams; 0 means 2000. One person may have a
	// quarter of them, or 16 where that is more.
	MaxStreams int
	// Heartbeat is the time between signs of life on an idle stream; 0 means
	// 15 s.
	Heartbeat time.Duration
	Live      Live
	// Metrics is where the console's instruments are exported; nil: nowhere.
	Metrics prometheus.Registerer
	Logger  *slog.Logger     // nil: none
	Clock   func() time.Time // the log's, in which deadlines stand; nil: time.Now
}

// Console is the web console.
type Console struct {
	opt      Options
	views    *projections.Views
	assets   *assets
	handler  http.Handler
	logger   *slog.Logger
	now      func() time.Time
	renders  *renders
	viewed   *viewed
	refusals *refusals
	streams  *seats.Seats
	exports  *seats.Seats // who exports now
	offers   offers
	tail     *tail
	metrics  *metrics
	runbooks []runbook
	stopped  chan struct{} // closed by Stop
	stop     func()
}

// New returns a console.
func New(o Options) (*Console, error) {
	if o.Views == nil || o.Decider == nil || o.Recorder == nil || o.Auth == nil || o.Declined == nil {
		return nil, errors.New("console: views, decider, recorder, auth and declined are required")
	}
	files, err := loadAssets()
	if err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	o = o.withDefaults()
	stopped := make(chan struct{})
	c := &Console{
		opt: o, views: o.Views, assets: files, logger: o.Logger, now: o.Clock, renders: newRenders(o.Clock), viewed: newViewed(), refusals: newRefusals(),
		streams: seats.New(o.MaxStreams), exports: seats.New(maxExports), tail: newTail(o.Views, o.Live.Window, o.Clock, o.Logger),
		stopped: stopped, stop: sync.OnceFunc(func() { close(stopped) }),
	}
	if c.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if c.runbooks, err = loadRunbooks(); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	if c.handler, err = o.Site.Protect(headers(c.routes())); err != nil {
		return nil, fmt.Errorf("console: %w", err)
	}
	return c, nil
}

func (o Options) withDefaults() Options {
	o.MaxStreams = cmp.Or(o.MaxStreams, 2000)
	o.Heartbeat = cmp.Or(o.Heartbeat, 15*time.Second)
	o.Live = o.Live.withDefaults()
	if o.Policy == nil {
		o.Policy = func() string { return "" }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// Handler serves the console.
func (c *Console) Handler() http.Handler { return c.handler }

// Stop ends the live streams, and lets no more begin: what a graceful stop of
// the server would otherwise wait for.
func (c *Console) Stop() { c.stop() }
