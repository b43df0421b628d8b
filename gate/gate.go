package gate

import (
	"container/list"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/policy"
)

// What callers must tell apart.
var (
	// ErrUnknownSession: no record names the session.
	ErrUnknownSession = errors.New("unknown conversation")
	// ErrNotBack: what was appended is durable, but has not come back through
	// the log in time; what it did is not known yet.
	ErrNotBack = errors.New("appended, but not yet judged")
	// ErrNotTaken: the log found no room for it in time. It may be stored all
	// the same: its id in the log, or the same again, tells.
	ErrNotTaken = errors.New("not recorded yet: the log did not take it in time")
	// ErrStopped: Run has ended, so nothing is judged any more.
	ErrStopped = errors.New("the gate has stopped")
	// ErrNotCounted: the log holds what was appended, and the fold found that
	// it does not count.
	ErrNotCounted = errors.New("recorded, but it does not count")
)

// Log is what the gate needs of the bus.
type Log interface {
	// Append mints the drafts and makes them durable in one commit, in order.
	// ErrRefused and ErrLogStopped of package events are told apart.
	Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error)
	// Read returns up to limit entries after a row, in order, none if there
	// are none.
	Read(ctx context.Context, after int64, limit int) ([]events.Entry, error)
	// Wait returns when there is an entry after the row, or ctx ends.
	Wait(ctx context.Context, after int64) error
	// Session returns up to limit entries of one session after a row.
	Session(ctx context.Context, session string, after int64, limit int) ([]events.Entry, error)
	// Payload returns the bytes that a reference names; carrier is the id of
	// the event that the reference stands in.
	Payload(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error)
}

// Options are what a gate is made of. Log, Policy, Node and Boot are required.
type Options struct {
	Log    Log
	Policy *policy.Policy
	Tools  []Tool
	// Path is where gate.db is; "" keeps it in memory.
	Path string
	// Keep leaves a gate.db of another log as it is. Such a gate must not run.
	Keep bool
	// Node and Boot name this process; starts carry them as "NODE/BOOT".
	Node, Boot string
	// MaxPending caps the undecided requests of one session and of one
	// principal; 0 means 256 and 20,000.
	MaxPending, MaxPendingPrincipal int
	// KeepLoaded is how many sessions stay folded in memory that nobody uses; 0
	// means 64, below it none.
	KeepLoaded int
	// JudgedWithin is how long a poster waits for room in the log, and for the
	// fold; 0 means 10 s.
	JudgedWithin time.Duration
	// Names gives the name behind a person's id, for the text that a model
	// reads; nil shows ids.
	Names func(person string) string
	// Metrics is where the gate's instruments are exported; nil: nowhere.
	Metrics prometheus.Registerer
	Logger  *slog.Logger
	Clock   func() time.Time
}

// Gate holds protected calls until they are decided. Its methods may be called
// from any goroutine while Run runs.
type Gate struct {
	log      Log
	policy   atomic.Pointer[policy.Policy] // swap alone changes it
	offers   offers
	accepted acceptance
	tools    map[string]*judgedTool // by name; never changes
	store    *store
	executor string // "NODE/BOOT"
	node     string
	opt      Options
	metrics  *metrics
	logger   *slog.Logger
	now      func() time.Time
	due      *deadlines
	lapses   *deadlines    // of approvals that have not led to a start
	revise   chan struct{} // told when modifications has grown
	ready    chan struct{} // closed when Run has caught up and recovered
	stopped  chan struct{} // closed when Run has ended

	foreign bool  // gate.db was of another log; owned by New
	ahead   ahead // what gate.db knows of this log and the log has not; owned by New

	saved int64 // row up to which gate.db is written; owned by catchUp, then by persist

	mu            sync.Mutex
	sessions      map[string]*session      // loaded ones; mu
	idle          *list.List               // of sessions, those that nobody uses, the last used at the end; mu
	unfinished    map[string]unfinished    // sessions that have something unfinished, loaded or not; mu
	once          map[string]func()        // what is to be called when a session moves; mu
	applied       place                    // up to which loaded sessions are folded; mu
	logTime       int64                    // the latest of what was applied, microseconds; mu
	awaited       map[string]*fold.Outcome // what became of events that somebody waits for, by id; mu
	modifications []modification           // that counted and wait for their revision; mu
	carrying      map[callID]struct{}      // calls that a Carry of this process has in hand; mu
	runs          map[callID]runningCall   // calls that run, or are about to; mu
	begun         map[string][]byte        // arguments by starts that were minted and whose tool has not run; mu
	pending       map[string]int           // undecided requests by principal; mu
	known         map[string]events.Digest // definitions that the log has; mu
	named         map[string]events.Digest // people's names that this boot has recorded; mu

	// What gate.db does not know yet: sessions that moved, requests to their
	// session, definitions; and the requests that are being written. mu.
	dirty      map[string]bool
	newest     map[string]string
	newlyKnown map[string]events.Digest
	saving     map[string]string
}

// place is a row of the log, with the digest of its envelope by which another
// log is told from ours.
type place struct {
	row    int64
	digest events.Digest
}

// session is a loaded session.
type session struct {
	*fold.Session
	changed chan struct{} // closed and replaced when the state moved
	pins    int           // users that need it to stay loaded
	idle    *list.Element // its place among those that nobody uses, or nil
}

type callID struct {
	session string
	key     events.CallKey
}

type runningCall struct {
	run  string
	stop context.CancelCauseFunc
}

// New returns a gate. It reads gate.db, and makes it anew where it cannot.
func New(ctx context.Context, o Options) (*Gate, error) {
	o = o.withDefaults()
	tools, err := judgedTools(o.Tools)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, o.Path, o.Logger)
	if err != nil {
		return nil, err
	}
	g := &Gate{
		log: o.Log, tools: tools, store: st, executor: o.Node + "/" + o.Boot, node: o.Node, opt: o,
		logger: o.Logger, now: o.Clock, due: newDeadlines(), lapses: newDeadlines(), revise: make(chan struct{}, 1), ready: make(chan struct{}),
		stopped:  make(chan struct{}),
		sessions: map[string]*session{}, idle: list.New(), unfinished: map[string]unfinished{}, once: map[string]func(){},
		awaited: map[string]*fold.Outcome{}, carrying: map[callID]struct{}{},
		runs: map[callID]runningCall{}, begun: map[string][]byte{}, pending: map[string]int{}, known: map[string]events.Digest{},
		named: map[string]events.Digest{}, dirty: map[string]bool{}, newest: map[string]string{}, newlyKnown: map[string]events.Digest{},
	}
	g.policy.Store(o.Policy)
	if err := g.restoreOrRemake(ctx); err != nil {
		return nil, errors.Join(err, g.store.close())
	}
	if g.metrics, err = newMetrics(g, o.Metrics); err != nil {
		return nil, errors.Join(err, g.store.close())
	}
	return g, nil
}

func (o Options) withDefaults() Options {
	if o.MaxPending == 0 {
		o.MaxPending = 256
	}
	if o.MaxPendingPrincipal == 0 {
		o.MaxPendingPrincipal = 20_000
	}
	if o.KeepLoaded == 0 {
		o.KeepLoaded = 64
	}
	if o.JudgedWithin == 0 {
		o.JudgedWithin = 10 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Names == nil {
		o.Names = func(person string) string { return person }
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

// Run follows the log until ctx ends or the log fails. It catches up, ends
// what a process of this node left started, and then serves.
func (g *Gate) Run(ctx context.Context) error {
	defer close(g.stopped)
	err := g.catchUp(ctx)
	if err == nil {
		g.scheduleAll()
		err = g.serve(ctx)
	}
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	return errors.Join(err, g.Close())
}

// Close closes gate.db. Run does so at its end; it is for a gate that was never
// run.
func (g *Gate) Close() error { return g.store.close() }

func (g *Gate) serve(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return g.follow(ctx) })
	group.Go(func() error { return g.expire(ctx) })
	group.Go(func() error { return g.lapse(ctx) })
	group.Go(func() error { return g.reviseAll(ctx) })
	group.Go(func() error { return g.persist(ctx) })
	group.Go(func() error {
		if err := g.recover(ctx); err != nil {
			return err
		}
		close(g.ready)
		return nil
	})
	return group.Wait()
}

// Ready returns a channel that is closed when Run has caught up with the log.
func (g *Gate) Ready() <-chan struct{} { return g.ready }

// Executor names this process in starts and results.
func (g *Gate) Executor() string { return g.executor }

// OfAnotherLog reports whether gate.db was found to belong to another log, or to
// one that was longer, and was made anew.
func (g *Gate) OfAnotherLog() bool { return g.foreign }

// gone reports whether an executor is an earlier boot of this node.
func (g *Gate) gone(executor string) bool {
	return executor != g.executor && strings.HasPrefix(executor, g.node+"/")
}
