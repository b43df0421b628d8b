package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"runtime/debug"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/isolate"
	"github.com/countersign-dev/countersign/projections"
)

// server is agentd put together: its parts in the order in which they start,
// and stop in the reverse.
type server struct {
	cfg            config.Config
	environ        []string
	stdout, stderr io.Writer
	models         []agent.Model                 // instead of the configured ones
	begin          func(context.Context) error   // called once everything serves
	registry       registry                      // of metrics; nil: a new one
	load           func() (config.Config, error) // reads the configuration again; nil: it has no file

	logger      *slog.Logger
	sandbox     *isolate.Sandbox // nil: tools run with all that this process may do, or not at all
	isolation   string           // how tools are shut off: sandbox.Mode(), isolate.None or unavailable
	hindrance   string           // why they cannot be; "" where they can, or need not
	folder      string           // of token and control socket
	names       *names
	auth        *auth.Store
	site        auth.Site
	metrics     *metrics
	countersign *countersign.Countersign
	loop        *agent.Loop
	views       *projections.Views
	policy      *policyFile
	listener    net.Listener
	control     net.Listener
	handler     http.Handler
	stopStreams func() // ends open streams, so that the listener can stop
}

// serve runs agentd.
func (c command) serve() error {
	cfg, done, err := c.load("serve", nil)
	if err != nil || done {
		return err
	}
	if getenv(c.environ, "GOGC") == "" {
		debug.SetGCPercent(collectAt)
	}
	s := server{cfg: cfg, environ: c.environ, stdout: c.stdout, stderr: c.stderr, load: c.again}
	return s.run(c.ctx)
}

// again reads the configuration once more, from where serve has it.
func (c command) again() (config.Config, error) {
	cfg, _, err := c.load("serve", nil)
	return cfg, err
}

// collectAt has memory collected when half as much is new as lives, not as much
// again. It keeps what waits for people small, and costs a twentieth of the appends
// per second of a process that holds nothing else. GOGC says otherwise.
const collectAt = 50

// run opens everything, serves until ctx ends, and stops: first the listeners,
// with the requests that are being served, then the loop and the views, then
// gate and log.
func (s *server) run(ctx context.Context) (err error) {
	s.logger = s.newLogger()
	defer func() { err = errors.Join(err, s.close()) }()
	if err := s.open(ctx); err != nil {
		return s.starting(ctx, err)
	}
	below, stopBelow := context.WithCancel(context.WithoutCancel(ctx))
	defer stopBelow()
	log := make(chan error, 1)
	go func() { log <- s.countersign.Run(below) }()
	err = s.above(ctx, log)
	stopBelow()
	err = errors.Join(failure(ctx, err), failure(below, <-log))
	s.sayHead("stopped")
	return err
}

// starting is an error of the start, unless agentd was asked to stop: then the
// start was cut short, and what failed by that can look like anything.
func (s *server) starting(ctx context.Context, err error) error {
	if err == nil || ctx.Err() == nil {
		return err
	}
	s.logger.InfoContext(ctx, "stopped while it started", "error", err)
	return nil
}

// failure is an error, unless it only says that ctx was ended.
func failure(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// above runs what stands on the log, until ctx ends or the log does. Loop and
// views outlive the listeners, whose last requests need them.
func (s *server) above(ctx context.Context, log chan error) error {
	if s.countersign.ReadOnly() != nil {
		return s.behind(ctx, log, s.views.Run)
	}
	select {
	case <-s.countersign.Ready():
	case err := <-log:
		log <- nil
		return cmp.Or(err, errors.New("the log ended before it was ready"))
	case <-ctx.Done():
		return nil
	}
	if err := s.define(ctx); err != nil {
		return s.starting(ctx, err)
	}
	s.policy.compareAtStart(ctx)
	return s.behind(ctx, log, s.loop.Run, s.views.Run, func(ctx context.Context) error { s.measureViews(ctx); return nil })
}

// behind runs what works behind the listeners, and those.
func (s *server) behind(ctx context.Context, log chan error, parts ...func(context.Context) error) error {
	working, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	inner, working := errgroup.WithContext(working)
	for _, part := range parts {
		inner.Go(func() error { return part(working) })
	}
	err := failure(ctx, s.front(ctx, working, log))
	stop()
	return errors.Join(err, failure(working, inner.Wait()))
}

// front serves people and programs, until ctx or what works behind it ends.
func (s *server) front(ctx, working context.Context, log chan error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return s.listen(ctx, s.listener, s.handler) })
	group.Go(func() error { return s.listen(ctx, s.control, s.controlHandler()) })
	group.Go(func() error { return s.starting(ctx, s.welcome(ctx)) })
	group.Go(func() error { return s.policy.hangups(ctx) })
	group.Go(func() error {
		select {
		case err := <-log:
			log <- nil
			return cmp.Or(err, errors.New("the log ended"))
		case <-working.Done():
			return errBehind
		case <-ctx.Done():
			return nil
		}
	})
	return group.Wait()
}

// errBehind stands before the error that says why.
var errBehind = errors.New("the loop or the views ended")

// define records what runs will name by digest, before the first one: the
// effective configuration, the prompt, the tools offered.
func (s *server) define(ctx context.Context) error {
	definitions := append(s.loop.Definitions(), gate.Definition{
		Kind: events.DefineConfiguration, Name: "agentd", Content: s.cfg.Document(),
	})
	return s.countersign.Gate.Define(ctx, definitions...)
}

// welcome says where the console is, and how to get in.
func (s *server) welcome(ctx context.Context) error {
	s.sayHead("serving")
	s.introduce(ctx)
	if why := s.countersign.ReadOnly(); why != nil {
		fmt.Fprintf(s.stdout, "Reading only: %v.\n", why)
	}
	if warning := s.countersign.Warning(); warning != "" {
		fmt.Fprintln(s.stdout, "Warning:", warning)
	}
	if s.cfg.Bus == config.BusMemory {
		fmt.Fprintln(s.stdout, "The log is in memory (bus: memory): nothing of it survives this process.")
	}
	s.sayIsolation()
	if err := s.sayToken(ctx); err != nil {
		return err
	}
	if len(written(s.stdout)) > 0 { // it would stay there for everybody who may read the file
		fmt.Fprintf(s.stdout, "\nThe console: agentd sign-in --data-dir %s prints a link that signs in.\n\n", s.folder)
		return s.begins(ctx)
	}
	link, _, err := s.link(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.stdout, "\nThe console: open this link within ten minutes; it signs in once.\n\n    %s\n\nAnother one: agentd sign-in --data-dir %s\n\n", link, s.folder)
	return s.begins(ctx)
}

func (s *server) begins(ctx context.Context) error {
	if s.begin != nil {
		return s.begin(ctx)
	}
	return nil
}

// sayHead prints the log's head, to keep elsewhere.
func (s *server) sayHead(when string) {
	for _, h := range s.countersign.Heads() {
		fmt.Fprintf(s.stdout, "agentd %s: the log has %d records, head %s\n", when, h.Size, h.Root)
	}
}

func (s *server) sayToken(ctx context.Context) error {
	if len(s.cfg.Auth.Tokens) > 0 {
		return nil
	}
	path, _, err := s.auth.EnsureAgentToken(ctx, s.folder)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.stdout, "Programs chat with the token in %s (role agent: it cannot decide).\n", path)
	return err
}

// base is where browsers find the console, under a host name of its own: on
// loopback cookies ignore ports.
func (s *server) base(host string) (string, error) {
	if s.cfg.PublicURL != "" {
		return s.cfg.PublicURL, nil
	}
	_, port, err := net.SplitHostPort(s.listener.Addr().String())
	return "http://" + net.JoinHostPort(host, port), err
}

func (s *server) close() error {
	var errs []error
	if s.control != nil {
		errs = append(errs, ignoreClosed(s.control.Close()), ignoreMissing(os.Remove(s.controlPath())))
	}
	if s.listener != nil {
		errs = append(errs, ignoreClosed(s.listener.Close()))
	}
	if s.views != nil {
		errs = append(errs, s.views.Close())
	}
	if s.auth != nil {
		errs = append(errs, s.auth.Close())
	}
	if s.sandbox != nil {
		s.sandbox.Close()
	}
	if s.countersign != nil {
		errs = append(errs, s.countersign.Close())
	}
	if s.cfg.Bus == config.BusMemory { // the folder was made for this process
		errs = append(errs, os.RemoveAll(s.folder))
	}
	return errors.Join(errs...)
}

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

func ignoreMissing(err error) error {
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}
