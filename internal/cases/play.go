package cases

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// again is the pause before something is tried again.
const again = 25 * time.Millisecond

// play is a scenario under way.
type play struct {
	f        *folder
	s        scenario
	provider *provider
	node     *process

	streaming sync.WaitGroup // goroutines of streams and approvers
	cancel    context.CancelFunc

	runs     []*run // one a repetition or line; the last is under way
	baseline int    // goroutines of the node before the first question
	grown    int    // goroutines more than that at a step goroutine_count
	counted  bool

	mu     sync.Mutex
	serves chan struct{} // closed while the node serves; mu
}

// run is one repetition of a scenario: usually the only one.
type run struct {
	vars    map[string]string
	streams map[string]*stream
	first   *stream
	last    *stream
	line    int // of the file of bodies, from 1; 0: of none

	mu       sync.Mutex
	replies  []reply // in order; mu
	statuses []int   // of raw requests
}

// reply is the answer to a decision.
type reply struct {
	user, decision string
	status         int
	Accepted       bool   `json:"accepted"`
	Reason         string `json:"reason"`
}

func newPlay(ctx context.Context, o Options, f *folder, s scenario) (*play, error) {
	p := &play{f: f, s: s, provider: newProvider(s.turns...), serves: make(chan struct{})}
	s.spec.Provider = p.provider.url()
	tokens := s.tokens()
	if f.has("requests.http") {
		tokens = append(tokens, tokensOf(f)...)
	}
	var err error
	if p.node, err = startProcess(ctx, o, nodeSpec{House: s.spec, Tokens: tokens}); err != nil {
		p.provider.Close()
		return nil, err
	}
	close(p.serves)
	p.baseline, err = p.settledGoroutines(ctx)
	return p, err
}

func (p *play) close() {
	if p.cancel != nil {
		p.cancel()
	}
	if err := p.node.close(); err != nil {
		p.f.report.fail("%v", err)
	}
	p.streaming.Wait()
	p.provider.Close()
}

// begin opens a repetition. The context ends with the play.
func (p *play) begin(ctx context.Context) context.Context {
	if p.cancel == nil {
		ctx, p.cancel = context.WithCancel(ctx)
	}
	p.runs = append(p.runs, &run{vars: map[string]string{}, streams: map[string]*stream{}})
	return ctx
}

// up returns a channel that is closed while the node serves.
func (p *play) up() <-chan struct{} {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.serves
}

// stop ends the node by a signal.
func (p *play) stop(s syscall.Signal) error {
	p.mu.Lock()
	p.serves = make(chan struct{})
	p.mu.Unlock()
	return p.node.signal(s)
}

// start starts the node again, over what the last one left.
func (p *play) start(ctx context.Context) error {
	if p.node.running() {
		return nil
	}
	if err := p.node.start(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	close(p.serves)
	p.mu.Unlock()
	return nil
}

// ask opens a stream and remembers it by its name.
func (p *play) ask(ctx context.Context, r *run, name string, body []byte) error {
	s, err := p.openStream(ctx, body)
	if err != nil {
		return err
	}
	r.streams[name], r.last = s, s
	if r.first == nil {
		r.first = s
	}
	return nil
}

// decide posts a decision. The answer is noted, whatever it is.
func (p *play) decide(ctx context.Context, r *run, user string, body []byte) (reply, error) {
	token := reviewerToken
	if user != "" {
		token = userToken(user)
	}
	res, err := p.node.do(ctx, http.MethodPost, "/chat/approval", token, body)
	if err != nil {
		return reply{}, fmt.Errorf("post a decision: %w", err)
	}
	answer := reply{user: user, status: res.status, decision: decisionOf(body)}
	if res.status == http.StatusOK {
		if err := json.Unmarshal(res.body, &answer); err != nil {
			return reply{}, fmt.Errorf("the answer to a decision: %w", err)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.replies = append(r.replies, answer)
	return answer, nil
}

func decisionOf(body []byte) string {
	var b struct {
		Decision string `json:"decision"`
	}
	if json.Unmarshal(body, &b, jsontext.AllowDuplicateNames(true)) != nil {
		return ""
	}
	return b.Decision
}

// settle waits until the streams that are still read have ended: until then
// nobody can say what did not happen.
func (p *play) settle(ctx context.Context, r *run) error {
	if !p.node.running() {
		return nil
	}
	for _, s := range r.streams {
		select {
		case <-s.ended:
		case <-ctx.Done():
			return fmt.Errorf("a stream did not end: %w", context.Cause(ctx))
		}
	}
	return nil
}

// awaitRequest waits for the next approval request of a stream.
func awaitRequest(ctx context.Context, s *stream) (string, error) {
	e, err := s.await(ctx, func(e agent.Event) bool { return e.Type == agent.EventApproval })
	return e.RequestID, err
}

// conversations are the ids of a run's streams.
func (r *run) conversations() []string {
	var ids []string
	for _, s := range r.streams {
		if !slices.Contains(ids, s.conversation) {
			ids = append(ids, s.conversation)
		}
	}
	return ids
}
