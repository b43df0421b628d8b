package cases

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"path/filepath"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/models"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/tools"
)

// houseSpec says what a house is made of.
type houseSpec struct {
	Dir       string // of log, views, and the stubs' notes
	Memory    bool   // the log is kept in memory
	Policy    policy.Config
	Heartbeat time.Duration
	Stubs     []stubSpec
	Builtin   []string // real built-in tools, which nobody runs
	Provider  string   // its base URL

	metrics prometheus.Registerer // nil: not exported
}

func (s *houseSpec) notes() string { return filepath.Join(s.Dir, "executions.jsonl") }

// house is log, gate and loop put together as agentd does, with the tools of a
// case.
type house struct {
	spec  houseSpec
	cs    *countersign.Countersign
	loop  *agent.Loop
	tools []agent.Tool
	// client is the model's: what it keeps open for the next request is no leak.
	client *http.Client
}

// openHouse opens a house. Close it after run has returned.
func openHouse(ctx context.Context, spec houseSpec, logger *slog.Logger) (*house, error) {
	h := &house{spec: spec, client: &http.Client{Transport: &http.Transport{}}}
	pol, err := policy.Compile(spec.Policy)
	if err != nil {
		return nil, err
	}
	if err := h.makeTools(); err != nil {
		return nil, err
	}
	known, err := knownTools(h.tools)
	if err != nil {
		return nil, err
	}
	h.cs, err = countersign.Open(ctx, filepath.Join(spec.Dir, "data"), countersign.Options{
		Policy: pol, Tools: known, Memory: spec.Memory, Metrics: spec.metrics, Logger: logger,
	})
	if err != nil {
		return nil, err
	}
	return h, h.makeLoop(logger)
}

func (h *house) makeTools() error {
	if len(h.spec.Builtin) > 0 {
		builtin, err := tools.New(tools.Options{Workspace: filepath.Join(h.spec.Dir, "workspace"), Builtin: h.spec.Builtin})
		if err != nil {
			return err
		}
		h.tools = builtin
	}
	for _, s := range h.spec.Stubs {
		h.tools = append(h.tools, stubTool{spec: s, notes: h.spec.notes()})
	}
	return nil
}

func knownTools(all []agent.Tool) ([]gate.Tool, error) {
	var known []gate.Tool
	for _, t := range all {
		spec := t.Spec()
		definition, err := tools.Definition(t)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
		}
		known = append(known, agent.GateTool(t, definition))
	}
	return known, nil
}

func (h *house) makeLoop(logger *slog.Logger) error {
	model, err := models.NewOpenAI(models.OpenAIOptions{
		Name: "stub", BaseURL: h.spec.Provider, Model: "stub", HTTPClient: h.client, Logger: logger,
	})
	if err != nil {
		return err
	}
	h.loop, err = agent.NewLoop(agent.Options{
		Gate: h.cs.Gate, Log: h.cs.Log, Models: []agent.Model{model}, Tools: h.tools, Boot: h.cs.Boot, Metrics: h.spec.metrics, Logger: logger,
	})
	return err
}

// run runs log, gate and loop, and what is given besides, until ctx ends.
func (h *house) run(ctx context.Context, above ...func(context.Context) error) error {
	below, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	log := make(chan error, 1)
	go func() { log <- h.cs.Run(below) }()
	select {
	case <-h.cs.Ready():
	case err := <-log:
		return fmt.Errorf("the log ended before it was ready: %w", err)
	case <-ctx.Done():
		stop()
		return <-log
	}
	group, ctx := errgroup.WithContext(ctx)
	for _, part := range append(above, h.loop.Run) {
		group.Go(func() error { return part(ctx) })
	}
	err := group.Wait()
	stop()
	if last := <-log; err == nil {
		err = last
	}
	return err
}

// reviewer is who approves where a case does not say who.
func reviewer() *events.Actor {
	return &events.Actor{
		Person: "1a7b8f0e-5a55-4c39-9b4f-6f3a2a2b8d10", Credential: "case", Roles: []string{"reviewer"}, Groups: []string{},
		Method: "token", At: events.At(time.Now()),
	}
}
