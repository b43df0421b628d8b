package api_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/models"
	"github.com/countersign-dev/countersign/policy"
)

// patience is how long a test waits for what must come, on a busy machine.
const patience = 20 * time.Second

// The people of the tests; their tokens are their names.
const (
	carla   = "carla"   // has an agent
	mallory = "mallory" // has another
	alice   = "alice"   // reviews
	bob     = "bob"     // reviews
	audrey  = "audrey"  // audits
	root    = "root"    // administers
	boss    = "boss"    // has an agent and may bypass
)

func people() []auth.Token {
	token := func(name string, permissions []string, roles ...string) auth.Token {
		sum := sha256.Sum256([]byte(name))
		return auth.Token{Name: name + "-laptop", Person: name, SHA256: hex.EncodeToString(sum[:]), Roles: roles, Permissions: permissions}
	}
	return []auth.Token{
		token(carla, nil, auth.RoleAgent), token(mallory, nil, auth.RoleAgent), token(alice, nil, auth.RoleReviewer),
		token(bob, nil, auth.RoleReviewer), token(audrey, nil, auth.RoleAuditor), token(root, nil, auth.RoleAdmin),
		token(boss, []string{string(auth.Bypass)}, auth.RoleAgent),
	}
}

// house is an agentd in pieces, served on loopback.
type house struct {
	t      *testing.T
	api    *api.API
	gate   *gate.Gate
	people *auth.Store
	log    *bus.Producer
	url    string
	tools  *toolbox
	access *notebook
}

// options change what a house is made of.
type options struct {
	script  string        // the model's; YAML as package models describes it
	timeout time.Duration // of requests; 0: a minute
	change  func(*api.Options)
}

func newHouse(t *testing.T, o options) *house {
	t.Helper()
	h := &house{t: t, tools: &toolbox{}}
	h.log = newLog(t)
	h.access = &notebook{log: h.log}
	var err error
	h.people, err = auth.Open(t.Context(), auth.Options{Tokens: people(), LocalAdmin: true})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.people.Close()) })
	h.gate, err = gate.New(t.Context(), gate.Options{Log: h.log, Policy: rules(t, o.timeout), Tools: h.tools.known(), Node: "n", Boot: "b", Names: h.name})
	require.NoError(t, err)
	script, err := models.ParseScript("test", []byte(o.script))
	require.NoError(t, err)
	loop, err := agent.NewLoop(agent.Options{
		Gate: h.gate, Log: h.log, Models: []agent.Model{models.NewScripted("default", script)}, Tools: h.tools.all(), Boot: "b",
	})
	require.NoError(t, err)
	serve(t, h.gate, loop)
	h.serveAPI(loop, o.change)
	return h
}

func (h *house) serveAPI(loop *agent.Loop, change func(*api.Options)) {
	h.t.Helper()
	o := api.Options{Loop: loop, Gate: h.gate, Auth: h.people, Recorder: h.access, HeartbeatInterval: time.Minute, Logger: slog.New(slog.DiscardHandler)}
	if change != nil {
		change(&o)
	}
	var err error
	h.api, err = api.New(o)
	require.NoError(h.t, err)
	s := httptest.NewServer(h.api.Handler())
	h.url = s.URL
	h.t.Cleanup(func() {
		h.api.Stop()
		s.Close()
	})
}

func newLog(t *testing.T) *bus.Producer {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{Memory: true})
	require.NoError(t, err)
	run(t, j.Run, j.Close)
	return bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "agentd/n/b"})
}

// serve runs gate and loop; the loop ends first.
func serve(t *testing.T, g *gate.Gate, loop *agent.Loop) {
	t.Helper()
	run(t, g.Run, nil)
	<-g.Ready()
	run(t, loop.Run, nil)
	<-loop.Ready()
}

// run runs a long-lived part until the end of the test.
func run(t *testing.T, part func(context.Context) error, last func() error) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() { done <- part(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		if last != nil {
			require.NoError(t, last())
		}
	})
}

func rules(t *testing.T, timeout time.Duration) *policy.Policy {
	t.Helper()
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Write", "Bash"}, RequiredSet: true, Timeout: timeout})
	require.NoError(t, err)
	return p
}

// name is the name behind a person's id.
func (h *house) name(id string) string {
	all, err := h.people.People(context.Background())
	require.NoError(h.t, err)
	i := slices.IndexFunc(all, func(p auth.Person) bool { return p.ID == id })
	if i < 0 {
		return id
	}
	return all[i].Name
}

// notebook keeps acts on the record, and for the test.
type notebook struct {
	log *bus.Producer

	mu   sync.Mutex
	acts []events.Access // mu
}

func (n *notebook) Record(ctx context.Context, a *events.Access, session string) error {
	n.mu.Lock()
	n.acts = append(n.acts, *a)
	n.mu.Unlock()
	_, err := n.log.Append(ctx, events.Draft{Session: session, Data: a})
	return err
}

func (n *notebook) all() []events.Access {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.acts)
}

// request makes a request of somebody, "" for nobody, with headers as pairs.
func (h *house) request(who, method, path, body string, headers ...string) *http.Request {
	h.t.Helper()
	r, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, bytes.NewReader([]byte(body)))
	require.NoError(h.t, err)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		r.Header.Set("Authorization", "Bearer "+who)
	}
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	return r
}

// answer is a whole answer.
type answer struct {
	status int
	header http.Header
	body   string
}

// do sends a request and reads the answer.
func (h *house) do(r *http.Request) answer {
	h.t.Helper()
	res, err := http.DefaultClient.Do(r)
	require.NoError(h.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(h.t, err)
	return answer{res.StatusCode, res.Header, string(b)}
}

// code is the code of an answer that is an error.
func (a answer) code(t *testing.T) string {
	t.Helper()
	var body struct {
		Error struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	require.NoError(t, json.Unmarshal([]byte(a.body), &body), a.body)
	require.NotEmpty(t, body.Error.Message)
	return body.Error.Code
}

// post decides a request.
func (h *house) post(who, body string, headers ...string) answer {
	h.t.Helper()
	return h.do(h.request(who, http.MethodPost, "/chat/approval", body, headers...))
}

// decide posts a decision that must be answered, and returns the answer.
func (h *house) decide(who, request, decision string) verdict {
	h.t.Helper()
	a := h.post(who, fmt.Sprintf(`{"requestId":%q,"decision":%q}`, request, decision))
	require.Equal(h.t, http.StatusOK, a.status, a.body)
	return a.verdict(h.t)
}

type verdict struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason"`
	Needed   int    `json:"needed"`
}

func (a answer) verdict(t *testing.T) verdict {
	t.Helper()
	var v verdict
	require.NoError(t, json.Unmarshal([]byte(a.body), &v), a.body)
	require.Equal(t, v.Accepted, v.Reason == "", a.body)
	return v
}
