package main

import (
	"cmp"
	"flag"
	"fmt"
	"io"
	"log/slog"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/config"
)

// recover says what a rolled back log leaves open; with --accept-rollback it ends
// that. agentd must be stopped: the lock of the data directory sees to it.
func (c command) recover() error {
	accept := false
	cfg, done, err := c.load("recover", func(fs *flag.FlagSet) {
		fs.BoolVar(&accept, "accept-rollback", false, "end what is open in a log that was rolled back, and go on from it")
	})
	if err != nil || done {
		return err
	}
	if cfg.Bus != config.BusEmbedded {
		return fmt.Errorf("%w: agentd recover works on a data directory; this configuration keeps nothing in one", errUsage)
	}
	pol, err := policyOf(cfg)
	if err != nil {
		return err
	}
	r, err := countersign.Recover(c.ctx, cfg.DataDir, countersign.Options{
		Policy: pol, HeadFile: cfg.HeadFile, Isolation: cfg.Tools.Isolation, Logger: slog.New(slog.NewTextHandler(c.stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
	}, accept)
	if err != nil {
		return err
	}
	return tellRecovery(c.stdout, cfg, r, accept)
}

func tellRecovery(w io.Writer, cfg config.Config, r countersign.Recovery, accepted bool) error {
	if r.Rollback == nil {
		_, err := fmt.Fprintln(w, "There is nothing to recover: "+unrolled(cfg))
		return err
	}
	fmt.Fprintf(w, "The log was rolled back: %s.\n", r.Found)
	calls, runs, certain := 0, 0, 0
	for _, u := range r.Open {
		tellSession(w, u)
		calls, certain = calls+len(u.Calls), certain+u.Certain
		if u.Run != "" {
			runs++
		}
	}
	sum := fmt.Sprintf("%d calls that may have run end as ambiguous, %d others as what had ended them, and %d runs with an error", calls, certain, runs)
	if accepted {
		_, err := fmt.Fprintf(w, "Accepted: %s. The log goes on from here; start agentd.\n", sum)
		return err
	}
	_, err := fmt.Fprintf(w, "If this is accepted, %s.\nNothing was changed. Put the right data directory back if there is one; or accept the loss: agentd recover --accept-rollback\n", sum)
	return err
}

func tellSession(w io.Writer, u gate.Unsure) {
	fmt.Fprintf(w, "session %s, run %s\n", oneLine(u.Session), cmp.Or(oneLine(u.Run), "none"))
	for _, call := range u.Calls {
		fmt.Fprintf(w, "  %-8s %s (call %s)\n", call.State, oneLine(call.Tool), oneLine(call.String()))
	}
}

// unrolled says why no rollback is seen.
func unrolled(cfg config.Config) string {
	if cfg.HeadFile == "" {
		return "gate.db knows nothing that the log has not. No head-file is configured, so a data directory that was put back whole would not show."
	}
	return "the log in " + cfg.DataDir + " holds all that " + cfg.HeadFile + " tells of."
}
