package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/tools"
)

// house is agentd put together in this process, so that the moment in which a
// tool begins can be told: log, gate, loop, views and API, over TCP.
type house struct {
	cs    *countersign.Countersign
	loop  *agent.Loop
	views *projections.Views
	auth  *auth.Store
	api   *api.API
	model *model
	began chan time.Time // when a tool began
	token string         // of a reviewer

	server   *http.Server
	listener net.Listener

	cpu    time.Duration // of what was counted
	events uint64        // that it appended
}

// counted adds what f costs this process to the house's account: loop, gate,
// log and views, and the client.
func (h *house) counted(f func() error) error {
	cpu, events := cpuTime(), h.size()
	err := f()
	h.cpu, h.events = h.cpu+cpuTime()-cpu, h.events+h.size()-events
	return err
}

// account returns the CPU for each event since it was asked last.
func (h *house) account() time.Duration {
	each := h.cpu / time.Duration(max(h.events, 1)) //nolint:gosec // thousands
	h.cpu, h.events = 0, 0
	return each
}

// size is how many records the log has.
func (h *house) size() (n uint64) {
	for _, head := range h.cs.Heads() {
		n += head.Size
	}
	return n
}

// within opens a house, runs it around f, and closes it.
func within(ctx context.Context, dir string, f func(context.Context, *house) error) (err error) {
	h := &house{began: make(chan time.Time, 1), model: newModel()}
	if err := h.open(ctx, dir); err != nil {
		return errors.Join(err, h.close())
	}
	defer func() { err = errors.Join(err, h.close()) }()
	below, stopLog := context.WithCancel(ctx)
	defer stopLog()
	above, stopAbove := context.WithCancel(below)
	defer stopAbove()
	var log, rest errgroup.Group
	log.Go(func() error { return h.cs.Run(below) })
	select {
	case <-h.cs.Ready():
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	rest.Go(func() error { return h.loop.Run(above) })
	rest.Go(func() error { return h.views.Run(above) })
	rest.Go(h.serve)
	if err = h.goRound(ctx); err == nil {
		err = f(above, h)
	}
	h.api.Stop()
	err = errors.Join(err, h.server.Close())
	stopAbove()
	err = errors.Join(err, rest.Wait())
	stopLog()
	return errors.Join(err, log.Wait())
}

func (h *house) serve() error {
	if err := h.server.Serve(h.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

func (h *house) open(ctx context.Context, dir string) error {
	var err error
	if h.model.Scripted, err = scripted(); err != nil {
		return err
	}
	all := []agent.Tool{h.tool("Look", true), h.tool("Note", false)}
	pol, err := policy.Compile(policy.Config{RequiredTools: []string{"Note"}, RequiredSet: true, Timeout: time.Hour})
	if err != nil {
		return err
	}
	known, err := known(all)
	if err != nil {
		return err
	}
	h.cs, err = countersign.Open(ctx, filepath.Join(dir, "data"), countersign.Options{Policy: pol, Tools: known})
	if err != nil {
		return err
	}
	h.loop, err = agent.NewLoop(agent.Options{
		Gate: h.cs.Gate, Log: h.cs.Log, Models: []agent.Model{h.model}, Tools: all, Boot: h.cs.Boot,
	})
	if err != nil {
		return err
	}
	h.views, err = projections.Open(ctx, projections.Options{Path: filepath.Join(dir, "data", "views.db"), Source: h.cs.Log})
	if err != nil {
		return err
	}
	return h.openAPI(ctx, dir)
}

func (h *house) openAPI(ctx context.Context, dir string) error {
	plain, hash := auth.NewToken()
	h.token = plain
	var err error
	h.auth, err = auth.Open(ctx, auth.Options{
		Path:   filepath.Join(dir, "data", "auth.db"),
		Tokens: []auth.Token{{Name: "bench", Person: "bench", SHA256: hash, Roles: []string{auth.RoleReviewer, auth.RoleAgent}}},
	})
	if err != nil {
		return err
	}
	h.api, err = api.New(api.Options{Loop: h.loop, Gate: h.cs.Gate, Auth: h.auth, Recorder: recorder{h.cs}})
	if err != nil {
		return err
	}
	h.server = &http.Server{Handler: h.api.Handler(), ReadHeaderTimeout: 10 * time.Second}
	h.listener, err = listen(ctx)
	return err
}

func listen(ctx context.Context) (net.Listener, error) {
	var lc net.ListenConfig
	return lc.Listen(ctx, "tcp", "127.0.0.1:0")
}

func (h *house) close() error {
	var errs []error
	if h.views != nil {
		errs = append(errs, h.views.Close())
	}
	if h.auth != nil {
		errs = append(errs, h.auth.Close())
	}
	if h.cs != nil {
		errs = append(errs, h.cs.Close())
	}
	return errors.Join(errs...)
}

// known is what the gate must know of the tools.
func known(all []agent.Tool) ([]gate.Tool, error) {
	var tt []gate.Tool
	for _, t := range all {
		spec := t.Spec()
		definition, err := tools.Definition(t)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
		}
		tt = append(tt, gate.Tool{Name: spec.Name, Source: events.ToolSource(spec.Source), Definition: definition, Schema: spec.Schema})
	}
	return tt, nil
}

// recorder keeps refusals of the API on the record, as agentd does.
type recorder struct{ cs *countersign.Countersign }

// Record implements api.Recorder.
func (r recorder) Record(ctx context.Context, a *events.Access, session string) error {
	_, err := r.cs.Log.Append(ctx, events.Draft{Session: session, Data: a})
	return err
}

// goRound fills the journal's write-ahead log once, so that commits write where
// they wrote before: as in any agentd that has run for some thousand commits.
// Until then each also makes the file longer, which costs the disk twice.
func (h *house) goRound(ctx context.Context) error {
	for i := range 90 {
		p := events.NewPayload(bytes.Repeat([]byte{byte(i)}, 850<<10))
		_, err := h.cs.Log.Append(ctx, events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
			Kind: events.DefineTools, Name: "filler", Digest: events.DigestOf(p.Bytes), Content: p.Ref(events.MediaBin),
		}})
		if err != nil {
			return err
		}
	}
	return h.quiet(ctx)
}

// tool is a tool that does nothing but to say when it began.
type tool struct {
	spec  agent.ToolSpec
	began chan<- time.Time
}

func (h *house) tool(name string, readOnly bool) tool {
	t := tool{spec: agent.ToolSpec{
		Name: name, Description: "measures", Source: string(events.SourceBuiltin), ReadOnly: readOnly,
		Schema: []byte(`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"],"additionalProperties":false}`),
	}}
	if !readOnly {
		t.began = h.began
	}
	return t
}

// Spec implements agent.Tool.
func (t tool) Spec() agent.ToolSpec { return t.spec }

// Run implements agent.Tool.
func (t tool) Run(context.Context, []byte) (agent.Output, error) {
	if t.began != nil {
		t.began <- time.Now()
	}
	return agent.Output{Content: []byte("done: the file has 12 lines and was last changed in March")}, nil
}

// quiet waits until the views have read all of the log, so that one sample
// does not pay for the one before.
func (h *house) quiet(ctx context.Context) error {
	for {
		status, changed := h.views.Changed()
		if status.Records >= h.size() {
			return nil
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}
