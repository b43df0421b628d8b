package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

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
	// ErrStopping: the loop takes no new work, because the process stops.
	ErrStopping = errors.New("agentd is stopping")
)

// Options are what a loop is made of. Gate, Log, Models and Tools are required.
type Options struct {
	Gate   *gate.Gate
	Log    gate.Log
	Models []Model // the first is the default
	Tools  []Tool
	System string // the configured system prompt
	Boot   string // names this process in cursors; letters, digits and "-" alone
	// Limits of a run; 0 means 50 rounds, 200 calls, 65,536 bytes.
	MaxRounds, MaxToolCalls, MaxResultBytes int
	// MaxAttempts is how often a round is asked whose provider was not
	// available or broke off; 0 means 3. Rest is the pause before the second
	// attempt, twice that before the third; 0 means 250 ms.
	MaxAttempts int
	Rest        time.Duration
	// Listeners are told what happens; they change nothing.
	Listeners []Listener
	// MaxWaiting is how many runs that only wait for people stay in hand; of the
	// others nothing is kept but that they wait. 0 means 128, below it none stays.
	MaxWaiting int
	// Approvals decides protected calls beside the people; nil leaves them to
	// people alone.
	Approvals ApprovalHandler
	// Metrics is where the loop's instruments are exported; nil: nowhere.
	Metrics prometheus.Registerer
	Logger  *slog.Logger
}

// Loop runs conversations. Run must be running.
type Loop struct {
	opt      Options
	gate     *gate.Gate
	tools    map[string]Tool
	toolList []byte // the tools offered, in order: what tools_digest of a run is of
	metrics  *metrics
	logger   *slog.Logger
	audience *audience // the listeners; nil where there are none
	guests   *guests   // goroutines of listeners and of the handler

	feeds atomic.Uint64  // made so far
	ready chan struct{}  // closed when Run has taken up what was unfinished
	runs  sync.WaitGroup // goroutines of runs; Run waits for them

	mu       sync.Mutex
	ctx      context.Context    // of Run, for the runs that it owns; mu
	stopping bool               // no goroutine starts any more; mu
	active   map[string]*Feed   // by run: those that are driven or read, and some that have ended; mu
	parked   map[string]*parked // by run: those that wait for people, and that nobody drives; mu
	waiting  waiting            // drivers whose runs wait for people; mu
	finished []*Feed            // of active, those of runs that have ended, oldest first; mu
	kept     int                // what finished weighs, in bytes; mu
}

// NewLoop returns a loop. What is missing or wrong in the options is an error;
// ErrNoModel where there is no model.
func NewLoop(o Options) (*Loop, error) {
	o.MaxRounds = cmp.Or(o.MaxRounds, 50)
	o.MaxToolCalls = cmp.Or(o.MaxToolCalls, 200)
	o.MaxResultBytes = cmp.Or(o.MaxResultBytes, 64<<10)
	o.MaxAttempts = cmp.Or(o.MaxAttempts, 3)
	o.Rest = cmp.Or(o.Rest, 250*time.Millisecond)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if len(o.Models) == 0 {
		return nil, fmt.Errorf("%w: configure at least one under models", ErrNoModel)
	}
	if i := strings.IndexFunc(o.Boot, notInID); i >= 0 {
		return nil, fmt.Errorf("boot %q: only letters, digits and - can stand in cursors", o.Boot)
	}
	l := &Loop{
		opt: o, gate: o.Gate, tools: map[string]Tool{}, logger: o.Logger, ready: make(chan struct{}), active: map[string]*Feed{},
		parked: map[string]*parked{}, waiting: newWaiting(o.MaxWaiting), guests: newGuests(),
	}
	for _, t := range o.Tools {
		l.tools[t.Spec().Name] = t
	}
	err := checkHandler(o.Approvals)
	if err != nil {
		return nil, err
	}
	if l.audience, err = newAudience(l, o.Listeners); err != nil {
		return nil, err
	}
	if l.metrics, err = newMetrics(l, o.Metrics); err != nil {
		return nil, err
	}
	if l.toolList, err = json.Marshal(l.definitions()); err != nil {
		return nil, fmt.Errorf("list the tools, of which one has a schema that is not JSON: %w", err)
	}
	return l, nil
}

// notInID reports what ends or splits an id.
func notInID(r rune) bool {
	return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
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
		{Kind: events.DefineTools, Name: "tools", Content: l.toolList},
		{Kind: events.DefinePrompt, Name: "system", Content: []byte(l.opt.System)},
	}
}

// Run takes up the runs that were unfinished and serves until ctx ends; then it
// waits for the runs that it owns. They stay as they are in the log, and go on
// at the next start.
func (l *Loop) Run(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer l.stop(stop)
	l.mu.Lock()
	l.ctx = ctx
	l.mu.Unlock()
	l.audience.listen(l.guests)
	for _, session := range l.gate.Unfinished() {
		if err := l.takeUp(ctx, session); err != nil {
			return err
		}
	}
	close(l.ready)
	<-ctx.Done()
	return nil
}

func (l *Loop) stop(stop context.CancelFunc) {
	stop()
	l.mu.Lock()
	l.stopping = true
	l.mu.Unlock()
	l.runs.Wait()
	if l.audience != nil || l.opt.Approvals != nil {
		l.audience.close()
		l.guests.seeOff(l.logger)
	}
}

// Ready returns a channel that is closed when Run serves.
func (l *Loop) Ready() <-chan struct{} { return l.ready }

// serving waits until the loop is ready.
func (l *Loop) serving(ctx context.Context) error {
	select {
	case <-l.ready:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Loop) takeUp(ctx context.Context, session string) error {
	if waits, err := l.parkAtStart(ctx, session); err != nil || waits {
		return err
	}
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

// launch starts the goroutine of a run, once: no run is ever driven twice.
// While the process stops the run stays as it is in the log.
func (l *Loop) launch(session, run string) *Feed {
	l.mu.Lock()
	defer l.mu.Unlock()
	if feed := l.active[run]; feed != nil {
		return feed
	}
	if p := l.parked[run]; p != nil {
		return l.resume(p)
	}
	n := l.narrator(session, run)
	n.teller = l.teller(run)
	l.drives(session, run, n)
	return n.feed
}

// drives starts the goroutine of a run, unless the process stops. mu is held.
func (l *Loop) drives(session, run string, n *narrator) {
	l.active[run] = n.feed
	if l.stopping {
		return
	}
	ctx := l.ctx
	l.runs.Go(func() {
		if parked := l.drive(ctx, session, run, n); !parked {
			l.ended(n.feed)
		}
	})
}

// What stays in memory of runs that have ended: so many feeds, of so many bytes
// together.
const (
	keepFeeds = 64
	keepBytes = 32 << 20
)

// ended keeps the feed of a run that has ended, in the place of the oldest of
// many. What is dropped is told anew from the log when somebody asks.
func (l *Loop) ended(feed *Feed) {
	if !feed.hasEnded() {
		return // the process stops; the run goes on at its next start
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.finished, l.kept = append(l.finished, feed), l.kept+feed.size()
	for len(l.finished) > keepFeeds || l.kept > keepBytes {
		oldest := l.finished[0]
		delete(l.active, oldest.run)
		l.finished, l.kept = slices.Delete(l.finished, 0, 1), l.kept-oldest.size()
	}
}
