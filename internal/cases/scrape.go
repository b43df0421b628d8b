package cases

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/projections"
)

// instruments registers what no part of a node registers by itself, and
// returns what Prometheus asks and what counts requests, as agentd has them.
func (n *node) instruments(logger *slog.Logger) (http.Handler, *instruments.HTTP, error) {
	err := instruments.RegisterAll(n.metrics, projections.NewProgress(n.views), projections.NewCollector(n.views),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if err != nil {
		return nil, nil, err
	}
	served, err := instruments.NewHTTP(n.metrics)
	return promhttp.HandlerFor(n.metrics, promhttp.HandlerOpts{
		Registry: n.metrics, ErrorHandling: promhttp.ContinueOnError, ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelWarn), EnableOpenMetrics: true,
	}), served, err
}

// askAs has many agents ask the gate for a call each, in a session each, and
// returns how many calls it took.
func (n *node) askAs(ctx context.Context, many string) int {
	agents, err := strconv.Atoi(many)
	if err != nil {
		return -1
	}
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(64)
	for i := range agents {
		group.Go(func() error {
			return n.cs.Gate.Propose(ctx, gate.Proposal{
				Session: madeUp("session", i), BatchID: events.NewID(), Agent: events.Agent{Name: madeUp("agent", i)}, Model: madeUp("model", i),
				Principal: madeUp("person", i),
				Calls:     []gate.ProposedCall{{CallID: madeUp("call", i), Tool: "Read", Arguments: []byte(`{"path":"` + madeUp("path", i) + `"}`)}},
			})
		})
	}
	if err := group.Wait(); err != nil {
		return -1
	}
	return agents
}

// made is what every name of a load has in it, so that a label which has one is
// found.
const made = "made-up-"

// madeUp is a name that nobody configured.
func madeUp(what string, i int) string { return fmt.Sprintf("%s%s-%d", made, what, i) }
