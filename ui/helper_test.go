package ui_test

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
	"github.com/countersign-dev/countersign/ui"
)

// world is a console over a log in memory, served on loopback.
type world struct {
	t       testing.TB
	log     *pt.Log
	views   *projections.Views
	store   *auth.Store
	gate    *stubGate
	console *ui.Console
	server  *httptest.Server
	tokens  map[string]string // by person
}

// newWorld serves a console. change, if not nil, may alter its options.
func newWorld(t testing.TB, change func(*ui.Options)) *world {
	t.Helper()
	w := &world{t: t, log: pt.NewLog(t), tokens: map[string]string{}}
	w.gate = &stubGate{log: w.log, requests: map[string]pt.Request{}, answers: map[string]ui.Answer{}, ended: map[string]bool{}, refused: map[string]string{}}
	var err error
	w.views, err = projections.Open(t.Context(), projections.Options{Source: w.log})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- w.views.Run(ctx) }()
	w.store, err = auth.Open(t.Context(), auth.Options{Tokens: w.people(), LocalAdmin: true, Clock: time.Now})
	require.NoError(t, err)
	o := ui.Options{
		Views: w.views, Decider: w.gate, Recorder: recorder{w.log}, Auth: w.store, Isolation: "none", Version: "v0.1.0",
		Policy: func() string { return "Write, Edit and Bash ask; everything else is free." }, Declined: gate.DeclinedText, Clock: w.log.Now,
	}
	if change != nil {
		change(&o)
	}
	w.console, err = ui.New(o)
	require.NoError(t, err)
	w.server = httptest.NewServer(w.console.Handler())
	t.Cleanup(func() {
		w.console.Stop()
		w.server.Close()
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, w.views.Close())
		require.NoError(t, w.store.Close())
	})
	return w
}

// people are those of the configuration.
func (w *world) people() []auth.Token {
	var tokens []auth.Token
	for _, p := range []struct{ name, person, role string }{
		{"ben", "Ben Okafor", auth.RoleReviewer},
		{"dana", "Dana", auth.RoleReviewer},
		{"eve", "Eve", auth.RoleAuditor},
		{"ada", "Ada", auth.RoleAdmin},
		{"ci", "", auth.RoleAgent},
		{"mal", "Mal", auth.RoleAgent},
	} {
		plain, hash := auth.NewToken()
		w.tokens[p.name] = plain
		tokens = append(tokens, auth.Token{Name: p.name, Person: p.person, SHA256: hash, Roles: []string{p.role}})
	}
	return tokens
}

// settle waits until the views hold the whole log.
func (w *world) settle() {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), time.Minute)
	defer cancel()
	for {
		status, changed := w.views.Changed()
		if status.Records >= uint64(w.log.Len()) {
			return
		}
		select {
		case <-changed:
		case <-ctx.Done():
			w.t.Fatalf("the views hold %d of %d records", status.Records, w.log.Len())
		}
	}
}

// ask writes a protected call of tool Write in a session of its own.
func (w *world) ask(session, tool, arguments string) (pt.Call, pt.Request) {
	w.t.Helper()
	run := w.log.Run(session, "carla", "please do it")
	w.log.Round(session, run, "b1", 1, 1, "I will do it")
	call, q := w.log.Protected(session, run, "b1", 0, tool, arguments)
	w.gate.add(q)
	w.settle()
	return call, q
}

// person is a browser without JavaScript.
type person struct {
	w      *world
	client *http.Client
}

// as signs somebody in with their token.
func (w *world) as(name string) *person {
	w.t.Helper()
	p := w.stranger()
	answer := p.post("/sign-in", url.Values{"token": {w.tokens[name]}, "next": {""}})
	require.Equal(w.t, http.StatusSeeOther, answer.status, answer.body)
	return p
}

func (w *world) stranger() *person {
	jar, err := cookiejar.New(nil)
	require.NoError(w.t, err)
	return &person{w: w, client: &http.Client{Jar: jar, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}}
}

// answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
	doc    *goquery.Document
}

func (p *person) get(path string) answer { return p.do(http.MethodGet, path, nil, nil) }

func (p *person) post(path string, form url.Values) answer {
	return p.do(http.MethodPost, path, form, map[string]string{"Content-Type": "application/x-www-form-urlencoded"})
}

func (p *person) do(method, path string, form url.Values, header map[string]string) answer {
	p.w.t.Helper()
	var body io.Reader
	if form != nil {
		body = strings.NewReader(form.Encode())
	}
	r, err := http.NewRequestWithContext(p.w.t.Context(), method, p.w.server.URL+path, body)
	require.NoError(p.w.t, err)
	for name, value := range header {
		r.Header.Set(name, value)
	}
	res, err := p.client.Do(r)
	require.NoError(p.w.t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(p.w.t, err)
	doc, err := goquery.NewDocumentFromReader(strings.NewReader(string(b)))
	require.NoError(p.w.t, err)
	return answer{status: res.StatusCode, header: res.Header, body: string(b), doc: doc}
}

// text is the visible text of what a selector finds.
func (a answer) text(selector string) string {
	return strings.Join(strings.Fields(a.doc.Find(selector).Text()), " ")
}

// fields are the hidden ones and the text field of a form.
func (a answer) fields(selector string) url.Values {
	form := url.Values{}
	a.doc.Find(selector + " input[type=hidden]").Each(func(_ int, s *goquery.Selection) {
		form.Set(s.AttrOr("name", ""), s.AttrOr("value", ""))
	})
	a.doc.Find(selector + " textarea").Each(func(_ int, s *goquery.Selection) { form.Set(s.AttrOr("name", ""), s.Text()) })
	return form
}

// recorder keeps acts in the log.
type recorder struct{ log *pt.Log }

func (r recorder) Record(_ context.Context, a *events.Access, session string) error {
	_, err := r.log.TryAppend(events.Draft{Session: session, Data: a})
	return err
}

// stubGate writes what it is told into the log, as a gate would: the first
// ruling of a request, and the same answer again for the same key. refuse makes
// it accept nothing.
type stubGate struct {
	log *pt.Log

	mu       sync.Mutex
	requests map[string]pt.Request // mu
	rulings  []ui.Ruling           // mu
	answers  map[string]ui.Answer  // mu; by idempotency key
	ended    map[string]bool       // mu; by request
	refuse   string                // mu; why everything is refused
	refused  map[string]string     // mu; why a request is refused, by its id
	fail     error                 // mu
}

func (g *stubGate) add(q pt.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests[q.RequestID] = q
}

func (g *stubGate) last() ui.Ruling {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rulings[len(g.rulings)-1]
}

func (g *stubGate) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.rulings)
}

func (g *stubGate) set(refuse string, fail error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.refuse, g.fail = refuse, fail
}

// Decide implements ui.Decider.
func (g *stubGate) Decide(_ context.Context, r ui.Ruling) (ui.Answer, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.rulings = append(g.rulings, r)
	if g.fail != nil {
		return ui.Answer{}, g.fail
	}
	if why := cmp.Or(g.refuse, g.refused[r.RequestID]); why != "" {
		return ui.Answer{Reason: why}, nil
	}
	if first, ok := g.answers[r.IdempotencyKey]; ok {
		return first, nil
	}
	if g.ended[r.RequestID] {
		return ui.Answer{Reason: "the request had ended"}, nil
	}
	q, ok := g.requests[r.RequestID]
	if !ok {
		return ui.Answer{}, fmt.Errorf("stub gate: no request %s", r.RequestID)
	}
	g.log.Person(r.Actor.Person, r.ActorName, "")
	if r.Verdict == events.VerdictModify {
		g.log.Modify(q, *r.Actor, string(r.Arguments))
	} else {
		g.decide(q, r)
	}
	g.ended[r.RequestID], g.answers[r.IdempotencyKey] = true, ui.Answer{Accepted: true}
	return ui.Answer{Accepted: true}, nil
}

// decide writes a decision, with what was sent beside the verdict.
func (g *stubGate) decide(q pt.Request, r ui.Ruling) {
	d := &events.Decision{
		RequestID: q.RequestID, RequestDigest: r.RequestDigest, Verdict: r.Verdict, Cause: events.CauseHuman, Arguments: q.Arguments, Actor: r.Actor,
		Via: "console", Seen: r.Seen, Idempotency: r.IdempotencyKey, Bulk: r.Bulk,
	}
	draft := events.Draft{Session: q.Session, Causation: q.Event, Data: d}
	if r.Comment != "" {
		p := events.NewPayload([]byte(r.Comment))
		d.Comment, draft.Payloads = p.Ref(events.MediaText), []events.Payload{p}
	}
	g.log.Append(draft)
}
