package cases

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui"
)

// NodeArgument makes the program that runs cases serve as a [Node].
const NodeArgument = "node"

// nodeSpec is what a node reads first: one line of JSON.
type nodeSpec struct {
	House  houseSpec
	Tokens []auth.Token
	Zone   string   // its time zone; "": the runner's
	Past   []string // times of calls that the log holds before it is opened, in this order
}

// node is a house with API, console and views over HTTP, as agentd wires them.
type node struct {
	*house
	spec     nodeSpec
	metrics  *prometheus.Registry
	auth     *auth.Store
	views    *projections.Views
	listener net.Listener
	handler  http.Handler
	stop     []func() // of the open streams
}

// Node serves a house, in a process of its own so that it can be killed. It
// reads what it is made of from in, a line of JSON; it writes its address to
// out. Each further line is a question, answered with a number. It ends
// with ctx, as agentd ends with SIGTERM.
func Node(ctx context.Context, in io.Reader, out io.Writer) error {
	lines := bufio.NewReader(in)
	line, err := lines.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("read what to serve: %w", err)
	}
	n := &node{}
	if err := json.Unmarshal(line, &n.spec); err != nil {
		return fmt.Errorf("read what to serve: %w", err)
	}
	if err := n.open(ctx); err != nil {
		return errors.Join(err, n.close())
	}
	err = n.run(ctx, n.views.Run, n.serve, func(ctx context.Context) error {
		_, err := fmt.Fprintln(out, n.listener.Addr())
		go n.answerLines(ctx, lines, out) // ends with the process
		return err
	})
	return errors.Join(err, n.close())
}

// What the runner asks of a node.
const (
	askGoroutines = "goroutines" // how many are there?
	askViews      = "views"      // wait until they have what the log has now
	askAgents     = "agents "    // then a number: have so many agents ask for a call, each with a name of its own
)

// answerLines answers what the runner asks of the process.
func (n *node) answerLines(ctx context.Context, lines *bufio.Reader, out io.Writer) {
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		n.client.CloseIdleConnections()
		if _, err := fmt.Fprintln(out, n.answerLine(ctx, strings.TrimSpace(line))); err != nil {
			return
		}
	}
}

func (n *node) answerLine(ctx context.Context, line string) int {
	if many, ok := strings.CutPrefix(line, askAgents); ok {
		return n.askAs(ctx, many)
	}
	if line == askViews {
		return n.catchUp(ctx)
	}
	return runtime.NumGoroutine()
}

// catchUp waits until the views have what the log holds now, and returns how
// many records they have set aside.
func (n *node) catchUp(ctx context.Context) int {
	var records uint64
	for _, h := range n.cs.Heads() {
		records += h.Size
	}
	for {
		status, changed := n.views.Changed()
		if status.Records >= records {
			return status.Aside
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return status.Aside
		}
	}
}

func (n *node) open(ctx context.Context) error {
	logger := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
	data := filepath.Join(n.spec.House.Dir, "data")
	if err := writePast(ctx, data, n.spec.Past); err != nil {
		return err
	}
	n.metrics = prometheus.NewRegistry()
	n.spec.House.metrics = n.metrics
	var err error
	if n.house, err = openHouse(ctx, n.spec.House, logger); err != nil {
		return err
	}
	n.auth, err = auth.Open(ctx, auth.Options{Path: filepath.Join(data, "auth.db"), Tokens: n.spec.Tokens, LocalAdmin: true})
	if err != nil {
		return err
	}
	n.views, err = projections.Open(ctx, projections.Options{Path: filepath.Join(data, "views.db"), Source: n.cs.Log, Logger: logger})
	if err != nil {
		return err
	}
	var lc net.ListenConfig
	if n.listener, err = lc.Listen(ctx, "tcp", "127.0.0.1:0"); err != nil {
		return err
	}
	return n.wire(logger)
}

// wire makes the handlers, as cmd/agentd does.
func (n *node) wire(logger *slog.Logger) error {
	programs, err := api.New(api.Options{
		Loop: n.loop, Gate: n.cs.Gate, Auth: n.auth, Recorder: recorder{n.cs}, HeartbeatInterval: n.house.spec.Heartbeat,
		Metrics: n.metrics, Logger: logger,
	})
	if err != nil {
		return err
	}
	people, err := ui.New(ui.Options{
		Views: n.views, Decider: decider{n.cs.Gate}, Recorder: recorder{n.cs}, Auth: n.auth, Isolation: "none", Version: countersign.Version(),
		Declined: gate.DeclinedText, Metrics: n.metrics, Logger: logger,
	})
	if err != nil {
		return err
	}
	n.stop = []func(){programs.Stop, people.Stop}
	mux := http.NewServeMux()
	for _, path := range []string{"/chat", "/chat/", "/schemas/", "/healthz", "/readyz"} {
		mux.Handle(path, programs.Handler())
	}
	scrape, served, err := n.instruments(logger)
	if err != nil {
		return err
	}
	mux.Handle("/metrics", scrape)
	mux.Handle("/", people.Handler())
	n.handler = served.Handler(mux)
	return nil
}

// serve serves HTTP until ctx ends.
func (n *node) serve(ctx context.Context) error {
	srv := &http.Server{Handler: n.handler, ReadHeaderTimeout: 10 * time.Second}
	stopped := make(chan error, 1)
	go func() {
		<-ctx.Done()
		for _, stop := range n.stop {
			stop()
		}
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
		defer cancel()
		if err := srv.Shutdown(last); !errors.Is(err, context.DeadlineExceeded) {
			stopped <- err
			return
		}
		stopped <- srv.Close() // as agentd, which says that some were cut
	}()
	if err := srv.Serve(n.listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}

func (n *node) close() error {
	var errs []error
	if n.views != nil {
		errs = append(errs, n.views.Close())
	}
	if n.auth != nil {
		errs = append(errs, n.auth.Close())
	}
	if n.house != nil {
		errs = append(errs, n.cs.Close())
	}
	return errors.Join(errs...)
}

// recorder keeps acts on the record.
type recorder struct{ cs *countersign.Countersign }

// Record implements api.Recorder and ui.Recorder.
func (r recorder) Record(ctx context.Context, a *events.Access, session string) error {
	_, err := r.cs.Log.Append(ctx, events.Draft{Session: session, Data: a})
	return err
}

// decider is the gate as the console sees it.
type decider struct{ gate *gate.Gate }

// Decide implements ui.Decider.
func (d decider) Decide(ctx context.Context, r ui.Ruling) (ui.Answer, error) {
	a, err := d.gate.Decide(ctx, gate.Ruling{
		RequestID: r.RequestID, RequestDigest: r.RequestDigest, Verdict: r.Verdict, Arguments: r.Arguments, Comment: r.Comment,
		Actor: r.Actor, ActorName: r.ActorName, Seen: r.Seen, IdempotencyKey: r.IdempotencyKey, Via: "console",
	})
	return ui.Answer{Accepted: a.Accepted, Reason: a.Reason, Needed: a.Needed}, err
}
