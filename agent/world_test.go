package agent_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/policy"
)

// patience is how long a test waits for what must come, on a busy machine.
const patience = 20 * time.Second

const carla = "p-carla"

func reviewer(person string) *events.Actor {
	return &events.Actor{Person: person, Credential: "t", Roles: []string{"reviewer"}, Groups: []string{}, Method: "token"}
}

// world is a log that outlives the processes which boot over it.
type world struct {
	t       *testing.T
	journal *journal.Journal
	boots   int
}

func newWorld(t *testing.T) *world {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{Memory: true})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- j.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, j.Close())
	})
	return &world{t: t, journal: j}
}

// setup is what a process is made of besides the log.
type setup struct {
	timeout time.Duration // of requests; 0 is a minute
	judged  time.Duration // gate.Options.JudgedWithin
	change  func(*agent.Options)
}

// process is a gate and a loop over the world's log.
type process struct {
	*agent.Loop
	t    *testing.T
	gate *gate.Gate
	log  *faultyLog
	stop func() // as a process that is told to end
}

// boot starts a process of the one node.
func (w *world) boot(m agent.Model, s setup) *process {
	w.t.Helper()
	w.boots++
	boot := "boot" + string(rune('0'+w.boots))
	log := &faultyLog{Log: bus.NewProducer(bus.ProducerOptions{Journal: w.journal, Source: "agentd/n/" + boot})}
	g, err := gate.New(w.t.Context(), gate.Options{
		Log: log, Policy: rules(w.t, s.timeout), Tools: known(), Node: "n", Boot: boot, JudgedWithin: s.judged,
		Names: func(string) string { return "Alice" },
	})
	require.NoError(w.t, err)
	o := agent.Options{Gate: g, Log: log, Models: []agent.Model{m}, Tools: tools(), Boot: boot, Rest: time.Millisecond}
	if s.change != nil {
		s.change(&o)
	}
	loop, err := agent.NewLoop(o)
	require.NoError(w.t, err)
	p := &process{Loop: loop, t: w.t, gate: g, log: log}
	p.start()
	return p
}

// start starts gate and loop, and makes stop: the loop ends before the gate.
func (p *process) start() {
	below, stopGate := context.WithCancel(context.WithoutCancel(p.t.Context()))
	above, stopLoop := context.WithCancel(below)
	gateDone, loopDone := make(chan error, 1), make(chan error, 1)
	go func() { gateDone <- p.gate.Run(below) }()
	go func() {
		<-p.gate.Ready()
		loopDone <- p.Run(above)
	}()
	p.stop = sync.OnceFunc(func() {
		stopLoop()
		require.NoError(p.t, <-loopDone)
		stopGate()
		require.NoError(p.t, <-gateDone)
	})
	p.t.Cleanup(p.stop)
}

func rules(t *testing.T, timeout time.Duration) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Write", "Slow"}, DeniedTools: []string{"Format"}, RequiredSet: true, Timeout: timeout})
	require.NoError(t, err)
	return p
}

// faultyLog is a log whose appends and reads a test can hold up or refuse.
type faultyLog struct {
	gate.Log

	mu     sync.Mutex
	before func(drafts []events.Draft) error // mu
	reads  func(ctx context.Context) error   // mu
}

func (l *faultyLog) inject(before func([]events.Draft) error, reads func(context.Context) error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.before, l.reads = before, reads
}

func (l *faultyLog) Append(ctx context.Context, drafts ...events.Draft) (events.Appended, error) {
	l.mu.Lock()
	before := l.before
	l.mu.Unlock()
	if before != nil {
		if err := before(drafts); err != nil {
			return events.Appended{}, err
		}
	}
	return l.Log.Append(ctx, drafts...)
}

func (l *faultyLog) Read(ctx context.Context, after int64, limit int) ([]events.Entry, error) {
	l.mu.Lock()
	reads := l.reads
	l.mu.Unlock()
	if reads != nil {
		if err := reads(ctx); err != nil {
			return nil, err
		}
	}
	return l.Log.Read(ctx, after, limit)
}

// within bounds what a test waits for.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

// begin starts a run of a conversation.
func (p *process) begin(session, text string) *agent.Reader {
	p.t.Helper()
	_, r, err := p.Start(within(p.t), agent.Query{Session: session, Text: text, Principal: carla, Actor: reviewer(carla)})
	require.NoError(p.t, err)
	return r
}

// open resumes reading a conversation.
func (p *process) open(session, lastID string) *agent.Reader {
	p.t.Helper()
	r, err := p.Open(within(p.t), session, carla, lastID)
	require.NoError(p.t, err)
	return r
}

// until reads frames up to the first that a test looks for.
func until(t *testing.T, r *agent.Reader, is func(agent.Event) bool) []agent.Frame {
	t.Helper()
	ctx := within(t)
	var frames []agent.Frame
	for {
		f, err := r.Next(ctx)
		require.NoError(t, err, "after %s", told(frames))
		frames = append(frames, f)
		if is(f.Event) {
			return frames
		}
	}
}

func of(kind string) func(agent.Event) bool {
	return func(e agent.Event) bool { return e.Type == kind }
}

// rest reads what is left.
func rest(t *testing.T, r *agent.Reader) []agent.Frame {
	t.Helper()
	ctx := within(t)
	var frames []agent.Frame
	for {
		f, err := r.Next(ctx)
		if err != nil {
			require.ErrorIs(t, err, agent.ErrFeedEnded, "after %s", told(frames))
			return frames
		}
		frames = append(frames, f)
	}
}

// decide posts a ruling of Alice.
func (p *process) decide(request string, verdict events.Verdict, more func(*gate.Ruling)) gate.Answer {
	p.t.Helper()
	r := gate.Ruling{RequestID: request, Verdict: verdict, Actor: reviewer("p-alice"), ActorName: "Alice", Via: "test"}
	if more != nil {
		more(&r)
	}
	a, err := p.gate.Decide(within(p.t), r)
	require.NoError(p.t, err)
	return a
}

func (p *process) approve(request string) {
	p.t.Helper()
	a := p.decide(request, events.VerdictApprove, nil)
	require.True(p.t, a.Accepted, a.Reason)
}

// state copies what a test asks of a session's fold.
func (p *process) state(session string, look func(*fold.Session)) {
	p.t.Helper()
	require.NoError(p.t, p.gate.View(within(p.t), session, look))
}
