package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/ui"
)

// newHandler puts API, console and metrics on one address.
func (s *server) newHandler() (http.Handler, error) {
	programs, err := api.New(api.Options{
		ReadOnly: s.countersign.ReadOnly(), Notes: s.notes, Parts: s.parts, Loop: s.loop, Gate: named{s.countersign.Gate, s.names}, Auth: s.auth, Recorder: recorder{s.countersign, s.logger}, Site: s.site,
		AllowedOrigins: s.cfg.AllowedOrigins, HeartbeatInterval: s.cfg.Chat.HITL.HeartbeatInterval, Metrics: s.registry, Logger: s.logger,
	})
	if err != nil {
		return nil, err
	}
	people, err := ui.New(ui.Options{
		Views: s.views, Decider: console{named{s.countersign.Gate, s.names}}, Revoker: console{named{s.countersign.Gate, s.names}}, Checker: s.countersign.Gate, Recorder: recorder{s.countersign, s.logger}, Auth: s.auth, Site: s.site,
		Isolation: s.isolation, Version: countersign.Version(), Policy: func() string { return s.countersign.Gate.Policy().Summary() }, Policies: s.policy, Declined: gate.DeclinedText, Logger: s.logger,
		Clock: s.countersign.Log.Now, Metrics: s.registry, Room: s.countersign.Room, ReadOnly: words(s.countersign.ReadOnly()),
	})
	if err != nil {
		return nil, err
	}
	scrape, err := s.scrape()
	if err != nil {
		return nil, err
	}
	s.stopStreams = func() {
		programs.Stop()
		people.Stop()
	}
	mux := http.NewServeMux()
	for _, path := range []string{"/chat", "/chat/", "/schemas/", "/healthz", "/readyz"} {
		mux.Handle(path, programs.Handler())
	}
	mux.Handle("/metrics", scrape)
	mux.Handle("/", people.Handler())
	return s.metrics.http.Handler(mux), nil
}

func (s *server) controlHandler() http.Handler {
	return api.Control(api.ControlOptions{
		Link: s.link, Recorder: recorder{s.countersign, s.logger}, Views: rebuilder{s.views}, Policy: s.policy, Logger: s.logger,
		Status: func() api.Status {
			return api.Status{
				Version: countersign.Version(), Boot: s.countersign.Boot, Addr: s.listener.Addr().String(), Ready: s.isReady(), Heads: s.countersign.Heads(),
			}
		},
	})
}

func (s *server) isReady() bool {
	select {
	case <-s.countersign.Ready():
		return true
	default:
		return false
	}
}

// link makes a one-time sign-in link. It signs in by POST: opening it shows a
// button.
func (s *server) link(ctx context.Context) (string, time.Time, error) {
	secret, expires, err := s.auth.NewLink(ctx)
	if err != nil {
		return "", time.Time{}, err
	}
	base, err := s.base(auth.LocalHost)
	return base + "/sign-in?link=" + secret, expires, err
}

// recorder keeps acts on the record.
type recorder struct {
	cs     *countersign.Countersign
	logger *slog.Logger
}

// Record appends an access event. Where nothing is appended any more the log of
// the process is all the record there is.
func (r recorder) Record(ctx context.Context, a *events.Access, session string) error {
	if r.cs.ReadOnly() != nil {
		r.logger.WarnContext(ctx, "an act is not on the record: the log is open for reading only", "action", a.Action, "outcome", a.Outcome,
			"person", personOf(a), "resource", a.Resource, "reason", a.Reason, "via", a.Via, "session", session)
		return nil //nolint:nilerr // who looks at what is left of a log must not be kept from it
	}
	if _, err := r.cs.Log.Append(ctx, events.Draft{Session: session, Data: a}); err != nil {
		return fmt.Errorf("record %s: %w", a.Action, err)
	}
	return nil
}

// named is the gate that learns who is who from those who decide.
type named struct {
	*gate.Gate
	names *names
}

// Decide implements api.Gate.
func (n named) Decide(ctx context.Context, r gate.Ruling) (gate.Answer, error) {
	if r.Actor != nil && r.ActorName != "" {
		n.names.set(r.Actor.Person, r.ActorName)
	}
	return n.Gate.Decide(ctx, r)
}

// console is the gate as the console sees it.
type console struct{ gate named }

// Decide implements ui.Decider.
func (c console) Decide(ctx context.Context, r ui.Ruling) (ui.Answer, error) {
	a, err := c.gate.Decide(ctx, gate.Ruling{
		RequestID: r.RequestID, RequestDigest: r.RequestDigest, Verdict: r.Verdict, Arguments: r.Arguments, Comment: r.Comment, Actor: r.Actor,
		ActorName: r.ActorName, Seen: r.Seen, IdempotencyKey: r.IdempotencyKey, Bulk: r.Bulk, Via: "console",
	})
	return ui.Answer{Accepted: a.Accepted, Reason: a.Reason, Needed: a.Needed}, forConsole(err)
}

// Revoke implements ui.Revoker.
func (c console) Revoke(ctx context.Context, r ui.Revocation) (ui.Answer, error) {
	c.gate.names.set(r.Actor.Person, r.ActorName)
	a, err := c.gate.Revoke(ctx, gate.Revocation{
		RequestID: r.RequestID, Comment: r.Comment, Actor: r.Actor, ActorName: r.ActorName, Via: "console",
	})
	return ui.Answer{Accepted: a.Accepted, Reason: a.Reason}, forConsole(err)
}

// forConsole says an error of the gate in the console's terms.
func forConsole(err error) error {
	switch {
	case errors.Is(err, gate.ErrNotBack):
		err = fmt.Errorf("%w: %w", ui.ErrUnjudged, err)
	case errors.Is(err, gate.ErrStopped):
		err = fmt.Errorf("%w: %w", ui.ErrStopping, err)
	}
	if errors.Is(err, gate.ErrNotTaken) {
		err = fmt.Errorf("%w: %w", events.ErrRefused, err)
	}
	return err
}
