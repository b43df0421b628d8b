package gate_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

const worldTimeout = 300 * time.Millisecond

// world is two gates over one log, and everything that happens to them. It
// lives in a synctest bubble, so time is its own.
type world struct {
	t     *testing.T
	log   *memLog
	nodes [2]*node
	wg    sync.WaitGroup // everything that was started

	problems []string

	mu      sync.Mutex
	calls   []callName // that were proposed
	run     int        // number of the run of session s1
	batch   int
	ran     []execution
	answers []told
	dead    map[string]*fault // producers whose next append fails thus; then nothing is taken
	refuse  map[string]error  // producers whose next append that begins work fails thus
}

// node is one process after another of the same name.
type node struct {
	name string
	path string // of gate.db; "" keeps it in memory
	boot int
	*house
	ctx  context.Context // this and house: world.mu, where it is not the acting goroutine that reads
	kill func()          // ends the process and waits for it
}

func newWorld(t *testing.T) *world {
	w := &world{t: t, log: newMemLog(time.Now), dead: map[string]*fault{}, refuse: map[string]error{}}
	w.log.fail = w.fault
	w.nodes = [2]*node{{name: "a", path: filepath.Join(t.TempDir(), "gate.db")}, {name: "b"}}
	for _, n := range w.nodes {
		w.start(n)
	}
	return w
}

// fault is what becomes of an append. The log's mutex is held.
func (w *world) fault(source string, drafts []events.Draft) *fault {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.dead[source]; f != nil {
		w.dead[source] = &fault{err: events.ErrLogStopped}
		return f
	}
	err := w.refuse[source]
	if err == nil || !slices.ContainsFunc(drafts, func(d events.Draft) bool { return d.Data != nil && d.Data.Type().Begins() }) {
		return nil
	}
	delete(w.refuse, source)
	return &fault{err: err}
}

// start boots a node and lets it carry every call that is there.
func (w *world) start(n *node) {
	n.boot++
	h, err := build(w.t.Context(), w.log, worldTimeout, func(o *gate.Options) {
		o.Node, o.Boot, o.Path = n.name, fmt.Sprint("b", n.boot), n.path
		o.Tools = append(o.Tools, gate.Tool{Name: "Free", Source: events.SourceBuiltin, Definition: []byte("Free"), Schema: []byte(schema)})
		if n == w.nodes[0] {
			o.KeepLoaded = 0 // this one keeps what it has folded, the other nothing
		}
	})
	require.NoError(w.t, err)
	ctx, cancel := context.WithCancel(w.t.Context())
	w.mu.Lock()
	n.house, n.ctx = h, ctx
	w.mu.Unlock()
	done := make(chan error, 1)
	go func() { done <- h.Run(ctx) }()
	n.kill = func() { cancel(); <-done } // a dead process may end with any error
	w.mu.Lock()
	calls := slices.Clone(w.calls)
	w.mu.Unlock()
	for _, c := range calls {
		w.carry(n, c)
	}
}

// restart ends a node and boots it anew. A killed one never told the log.
func (w *world) restart(n *node, death *fault) {
	if death != nil {
		w.mu.Lock()
		w.dead[n.source] = death
		w.mu.Unlock()
	}
	n.kill()
	w.start(n)
}

// carriersWait is how long a carrier waits for a decision before it puts the
// call down, to take it up again.
const carriersWait = 25 * time.Millisecond

func (w *world) carry(n *node, c callName) {
	w.mu.Lock()
	ctx, g := n.ctx, n.house
	w.mu.Unlock()
	w.wg.Go(func() {
		select {
		case <-g.Ready(): // before, it may not know the call
		case <-ctx.Done():
		}
		for ctx.Err() == nil {
			patience, end := context.WithTimeout(ctx, carriersWait)
			err := g.CarryWhile(ctx, patience, c.session, c.key, w.tool(g, c))
			end()
			if err == nil || errors.Is(err, gate.ErrUnknownCall) || errors.Is(err, events.ErrLogStopped) {
				return
			}
			<-time.After(10 * time.Millisecond)
		}
	})
}

// tool is a fake that counts: it takes a while, and fails or panics now and
// then.
func (w *world) tool(g *house, c callName) gate.Run {
	return func(ctx context.Context, arguments []byte) gate.Output {
		w.mu.Lock()
		n := len(w.ran)
		w.mu.Unlock()
		x := execution{call: c, executor: g.Executor(), arguments: string(arguments), records: int64(len(w.log.all()))}
		w.mu.Lock()
		w.ran = append(w.ran, x)
		w.mu.Unlock()
		select {
		case <-time.After(time.Duration(n%4) * 20 * time.Millisecond):
		case <-ctx.Done():
			return gate.Output{Content: []byte("stopped"), Failed: true}
		}
		if n%7 == 6 {
			panic("a tool's own mistake")
		}
		return gate.Output{Content: arguments, Failed: n%5 == 4}
	}
}

func (w *world) propose(n *node, session string, tools []string) {
	w.mu.Lock()
	w.batch++
	p := proposal(session, "", tools...)
	p.BatchID = fmt.Sprint("b", w.batch)
	for i := range p.Calls {
		p.Calls[i].AtOnce = w.batch%2 == 0
	}
	w.mu.Unlock()
	if session == "s1" {
		p.RunID = current(n)
	}
	ctx, g := n.ctx, n.house
	w.wg.Go(func() {
		_ = g.Propose(ctx, p) // whatever becomes of it: the log says what was proposed
		for i := range tools {
			c := callName{session, events.CallKey{BatchID: p.BatchID, Index: i}}
			w.mu.Lock()
			w.calls = append(w.calls, c)
			nodes := w.nodes
			w.mu.Unlock()
			for _, n := range nodes {
				w.carry(n, c)
			}
		}
	})
}

// decide posts a person's word on some request that the log has.
func (w *world) decide(n *node, pick int, change func(*fold.Request) gate.Ruling) {
	ctx, g := n.ctx, n.house
	q := w.pick(g, pick)
	if q == nil {
		return
	}
	r := change(q)
	w.wg.Go(func() {
		a, err := g.Decide(ctx, r)
		if err != nil {
			return // told nothing
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answers = append(w.answers, told{event: a.EventID, accepted: a.Accepted, reason: a.Reason})
	})
}

// revoke takes some approval back, if it is one.
func (w *world) revoke(n *node, pick int, who *events.Actor) {
	ctx, g := n.ctx, n.house
	q := w.pick(g, pick)
	if q == nil {
		return
	}
	w.wg.Go(func() {
		a, err := g.Revoke(ctx, gate.Revocation{RequestID: q.RequestID, Actor: who, Via: "test"})
		if err != nil {
			return // told nothing
		}
		w.mu.Lock()
		defer w.mu.Unlock()
		w.answers = append(w.answers, told{event: a.EventID, accepted: a.Accepted, reason: a.Reason})
	})
}

// pick returns a copy of one of the requests, pending ones first.
func (w *world) pick(g *house, n int) *fold.Request {
	var all []fold.Request
	for _, id := range []string{"s0", "s1"} {
		_ = g.View(w.t.Context(), id, func(s *fold.Session) {
			for _, q := range s.Requests {
				all = append(all, *q)
			}
		}) // a session that nobody has begun has none
	}
	slices.SortFunc(all, func(a, b fold.Request) int {
		if p := int(b.At.Offset) - int(a.At.Offset); (a.State == fold.Pending) == (b.State == fold.Pending) {
			return p
		}
		if a.State == fold.Pending {
			return -1
		}
		return 1
	})
	if len(all) == 0 {
		return nil
	}
	return &all[n%len(all)]
}

// begin starts the next run of session s1; cancel and finish end it.
func (w *world) begin(n *node) {
	w.mu.Lock()
	w.run++
	id := fmt.Sprint("r", w.run)
	w.mu.Unlock()
	policy := events.Digest(n.Policy().Digest())
	_, _ = n.Begin(n.ctx, events.Draft{Session: "s1", Data: &events.RunStarted{
		RunID: id, Principal: "p-carla", Agent: events.Agent{Name: "main"}, Query: events.NewPayload(nil).Ref(events.MediaText), Model: "m",
		ToolsDigest: policy, PolicyDigest: policy,
	}}) // one that is not counted starts nothing
}

// current returns the unfinished run of session s1, or one that never was.
func current(n *node) string {
	id := "r0"
	_ = n.View(n.ctx, "s1", func(s *fold.Session) {
		if run := s.Run(); run != nil {
			id = run.ID
		}
	}) // the session may not have begun
	return id
}

func (w *world) finish(n *node) {
	id := current(n)
	_ = n.Record(n.ctx, events.Draft{Session: "s1", Data: &events.RunFinished{RunID: id, Reason: events.FinishStop}})
}

// settle brings everything to rest: no more faults, both nodes alive, all
// calls in hand, all time-outs passed.
func (w *world) settle() {
	w.mu.Lock()
	clear(w.refuse)
	w.mu.Unlock()
	for _, n := range w.nodes {
		w.restart(n, nil)
	}
	w.finish(w.nodes[0])
	w.wg.Wait()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for _, n := range w.nodes {
		for _, id := range []string{"s0", "s1"} {
			_ = n.Watch(ctx, id, func(s *fold.Session) bool { return !s.Busy() }) // what is not at rest then, the checker tells
		}
	}
	<-time.After(5 * time.Second) // the other gate's time-outs, without effect
	last := len(w.log.all())
	<-time.After(time.Minute)
	for _, e := range w.log.all()[last:] {
		w.problems = append(w.problems, "not at rest: "+string(e.Record.Envelope))
	}
}

func (w *world) end() {
	for _, n := range w.nodes {
		n.kill()
	}
}
