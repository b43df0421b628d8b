package api

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/seats"
)

// Gate takes decisions. It is gate.Gate.
type Gate interface {
	// Decide records a ruling and returns what the log's fold made of it.
	Decide(ctx context.Context, r gate.Ruling) (gate.Answer, error)
	// Ready is closed when the gate has caught up with the log.
	Ready() <-chan struct{}
}

// Auth says who sends a request. It is auth.Store.
type Auth interface {
	FromRequest(r *http.Request) (auth.Identity, error)
}

// Recorder keeps acts on the record: here, what was refused.
type Recorder interface {
	Record(ctx context.Context, a *events.Access, session string) error
}

// Options are what an API is made of. Loop, Gate, Auth and Recorder are
// required.
type Options struct {
	Loop     *agent.Loop
	Gate     Gate
	Auth     Auth
	Recorder Recorder
	Site     auth.Site
	// AllowedOrigins are browser front ends elsewhere that may call /chat with
	// a bearer token: scheme://host[:port].
	AllowedOrigins []string
	// Parts are how the parts of agentd are now; nil: nobody can say. /readyz
	// tells them, and is no 200 where one does not work that is needed.
	Parts func() []Part
	// ReadOnly says why nothing can be put on the log, nil where it can. Then nobody
	// chats or decides, and /readyz says why.
	ReadOnly error
	// Notes are what an operator should know though agentd does its work, in
	// sentences; nil tells nothing. /readyz tells them.
	Notes func() []string
	// HeartbeatInterval is how long a stream is silent before a heartbeat; 0
	// means 15 s.
	HeartbeatInterval time.Duration
	// WriteWithin is how long a client may take to read what is written to it
	// before its stream is cut; 0 means 30 s.
	WriteWithin time.Duration
	// MaxBody bounds bodies in bytes; 0 means 1 MiB.
	MaxBody int64
	// MaxStreams bounds the open streams; 0 means 2000. One person may have a
	// quarter of them, or 16 where that is more.
	MaxStreams int
	// Metrics is where the API's instruments are exported; nil: nowhere.
	Metrics prometheus.Registerer
	Logger  *slog.Logger     // nil: none
	Clock   func() time.Time // nil: time.Now
}

// API serves programs. Nothing of it runs by itself.
type API struct {
	opt     Options
	loop    *agent.Loop
	gate    Gate
	handler http.Handler
	logger  *slog.Logger
	strange *meter  // of records about requests without credentials
	refused *meters // of records about what known people may not do
	streams *seats.Seats
	metrics *metrics
	life    context.Context
	stop    context.CancelCauseFunc
}

// New returns an API. An origin that cannot be one is an error.
func New(o Options) (*API, error) {
	if o.Loop == nil || o.Gate == nil || o.Auth == nil || o.Recorder == nil {
		return nil, errors.New("api: loop, gate, auth and recorder are required")
	}
	o = o.withDefaults()
	a := &API{
		opt: o, loop: o.Loop, gate: o.Gate, logger: o.Logger, strange: newMeter(o.Clock), refused: newMeters(o.Clock), streams: seats.New(o.MaxStreams),
	}
	a.life, a.stop = context.WithCancelCause(context.Background())
	var err error
	if a.metrics, err = newMetrics(o.Metrics); err != nil {
		return nil, err
	}
	if a.handler, err = a.guarded(); err != nil {
		return nil, err
	}
	return a, nil
}

func (o Options) withDefaults() Options {
	o.HeartbeatInterval = cmp.Or(o.HeartbeatInterval, 15*time.Second)
	o.WriteWithin = cmp.Or(o.WriteWithin, 30*time.Second)
	o.MaxBody = cmp.Or(o.MaxBody, 1<<20)
	o.MaxStreams = cmp.Or(o.MaxStreams, 2000)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Parts == nil {
		o.Parts = func() []Part { return nil }
	}
	if o.Notes == nil {
		o.Notes = func() []string { return nil }
	}
	return o
}

// Handler serves /chat, /schemas, /healthz and /readyz, and says 404 to all
// else.
func (a *API) Handler() http.Handler { return a.handler }

// Stop ends the open streams, and lets no more begin: what a graceful stop of
// the server would otherwise wait for. Clients resume at the next start.
func (a *API) Stop() { a.stop(agent.ErrStopping) }
