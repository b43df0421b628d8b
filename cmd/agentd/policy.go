package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/ui"
)

// policyFile is the configuration's file as the source of the policy, which may be
// read again while agentd runs.
type policyFile struct {
	server  *server
	reloads *prometheus.CounterVec // outcome

	mu   sync.Mutex       // held while the file is read and offered
	last *ui.PolicyReload // mu
	boot ui.PolicyAtStart // since Ready
}

// The outcomes besides those of an offer.
const (
	outcomeFailed    = "failed"    // the file cannot be read or does not load
	outcomeConfirmed = "confirmed" // an administrator let the held policy hold
)

// reloadWithin bounds one reload.
const reloadWithin = 30 * time.Second

var errNoFile = errors.New("agentd runs without a file: there is no policy to read again; start it with --config FILE")

func (s *server) openPolicyFile() error {
	s.policy = &policyFile{server: s, reloads: instruments.Counter("countersign_policy_reloads_total", "Reloads of the policy's file, by what became of it.", "outcome")}
	for _, outcome := range []string{string(gate.OfferUnchanged), string(gate.OfferApplied), string(gate.OfferHeld), outcomeFailed, outcomeConfirmed} {
		s.policy.reloads.WithLabelValues(outcome)
	}
	return instruments.RegisterAll(s.registry, s.policy.reloads)
}

// reload reads the file again and offers its policy to the gate. by is who asked
// for it in the console; nil where the machine's owner did.
func (f *policyFile) reload(ctx context.Context, by *events.Actor, via string) ui.PolicyReload {
	f.mu.Lock()
	defer f.mu.Unlock()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), reloadWithin)
	defer cancel()
	r := ui.PolicyReload{At: f.server.countersign.Log.Now(), Via: via, By: by}
	o, err := f.offer(ctx, &r, by, via)
	if r.Outcome = string(o.Outcome); err != nil {
		r.Outcome, r.Error = outcomeFailed, err.Error()
		f.failed(ctx, by, via, err)
	}
	r.Changes = changesOf(o.Changes)
	f.reloads.WithLabelValues(r.Outcome).Inc()
	f.say(ctx, r)
	f.last = &r
	return r
}

func (f *policyFile) offer(ctx context.Context, r *ui.PolicyReload, by *events.Actor, via string) (gate.Offered, error) {
	if f.server.load == nil || f.server.cfg.File == "" {
		return gate.Offered{}, errNoFile
	}
	cfg, err := f.server.load()
	if err != nil {
		return gate.Offered{}, err
	}
	p, err := policyOf(cfg)
	if err != nil {
		return gate.Offered{}, err
	}
	r.Restart = slices.DeleteFunc(config.Differ(f.server.cfg, cfg), isOfPolicy)
	return f.server.countersign.Gate.Offer(ctx, p, by, via)
}

// isOfPolicy reports whether a key is taken up by a reload.
func isOfPolicy(key string) bool {
	return slices.Contains([]string{"chat.hitl.required-tools", "chat.hitl.allowed-tools", "chat.hitl.denied-tools", "chat.hitl.timeout", "start-within"}, key)
}

// failed records a file that does not load: somebody wrote it.
func (f *policyFile) failed(ctx context.Context, by *events.Actor, via string, why error) {
	err := recorder{f.server.countersign, f.server.logger}.Record(ctx, &events.Access{
		Action: "policy-change", Outcome: events.AccessRefused, Actor: by, Resource: f.server.countersign.Gate.Policy().Digest(),
		Reason: boundedName(oneLine(why.Error())), Via: via,
	}, "")
	if err != nil {
		f.server.logger.WarnContext(ctx, "a policy that does not load could not be recorded", "error", err)
	}
}

// boundedName cuts a text to what a name in an event may have.
func boundedName(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), events.MaxNameBytes)], "")
}

func (f *policyFile) say(ctx context.Context, r ui.PolicyReload) {
	log := f.server.logger.With("outcome", r.Outcome, "via", r.Via)
	switch r.Outcome {
	case outcomeFailed:
		log.ErrorContext(ctx, "the policy was not reloaded; the old one holds", "error", r.Error)
	case string(gate.OfferHeld):
		log.WarnContext(ctx, "the policy of the file loosens; the old one holds until an administrator confirms the change under System", "changes", wordsOf(r.Changes))
	default:
		log.InfoContext(ctx, "the policy was read again", "changes", wordsOf(r.Changes))
	}
	if len(r.Restart) > 0 {
		log.WarnContext(ctx, "other keys of the file changed as well; they need a restart", "keys", r.Restart)
	}
}

func wordsOf(changes []ui.PolicyChange) []string {
	words := make([]string, 0, len(changes))
	for _, c := range changes {
		words = append(words, c.Words)
	}
	return words
}

func changesOf(changes []policy.Change) []ui.PolicyChange {
	all := make([]ui.PolicyChange, 0, len(changes))
	for _, c := range changes {
		all = append(all, ui.PolicyChange(c))
	}
	return all
}

// compareAtStart notes how the policy of the file differs from the one that the
// log named last. Whoever restarts agentd has the file: it holds, and is shown.
func (f *policyFile) compareAtStart(ctx context.Context) {
	g := f.server.countersign.Gate
	before, err := g.PolicyBefore(ctx)
	switch {
	case err != nil:
		f.boot = ui.PolicyAtStart{Unknown: err.Error()}
	case before == nil || before.Digest() == g.Policy().Digest():
	default:
		f.boot = ui.PolicyAtStart{Before: before.Digest(), Changes: changesOf(policy.Compare(before, g.Policy(), g.Known()))}
	}
	if slices.ContainsFunc(f.boot.Changes, func(c ui.PolicyChange) bool { return c.Loosens }) {
		f.server.logger.WarnContext(ctx, "the policy was loosened at this start", "changes", wordsOf(f.boot.Changes))
	}
}

// hangups reloads at each SIGHUP, where there is a file. Elsewhere the signal ends
// the process, as it does when a terminal is closed.
func (f *policyFile) hangups(ctx context.Context) error {
	if f.server.load == nil || f.server.cfg.File == "" || f.server.countersign.ReadOnly() != nil {
		return nil
	}
	hangup := make(chan os.Signal, 1)
	signal.Notify(hangup, syscall.SIGHUP)
	defer signal.Stop(hangup)
	for {
		select {
		case <-hangup:
			f.reload(ctx, nil, "signal")
		case <-ctx.Done():
			return nil
		}
	}
}

// Standing implements ui.Policies.
func (f *policyFile) Standing() ui.PolicyStanding {
	g := f.server.countersign.Gate
	s := ui.PolicyStanding{File: f.server.cfg.File, Digest: events.Digest(g.Policy().Digest()), Text: g.Policy().Document(), Start: f.boot}
	if h := g.HeldPolicy(); h != nil {
		s.Held = &ui.HeldPolicy{Digest: events.Digest(h.Policy.Digest()), Text: h.Policy.Document(), Changes: changesOf(h.Changes), Since: h.Since}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s.Last = f.last
	return s
}

// Reload implements ui.Policies.
func (f *policyFile) Reload(ctx context.Context, by *events.Actor) ui.PolicyReload {
	return f.reload(ctx, by, "console")
}

// Confirm implements ui.Policies.
func (f *policyFile) Confirm(ctx context.Context, instead, held events.Digest, by *events.Actor) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.server.countersign.Gate
	var changes []ui.PolicyChange
	if h := g.HeldPolicy(); h != nil {
		changes = changesOf(h.Changes)
	}
	err := g.Confirm(ctx, instead, held, by, "console")
	switch {
	case errors.Is(err, gate.ErrNotHeld):
		return ui.ErrPolicyMoved
	case err != nil:
		return err
	}
	f.last = &ui.PolicyReload{At: f.server.countersign.Log.Now(), Via: "console", By: by, Outcome: outcomeConfirmed, Changes: changes}
	f.reloads.WithLabelValues(outcomeConfirmed).Inc()
	f.say(ctx, *f.last)
	return nil
}

// ReloadPolicy implements api.PolicyReloader.
func (f *policyFile) ReloadPolicy(ctx context.Context) api.PolicyReload {
	r := f.reload(ctx, nil, "control")
	base, _ := f.server.base(auth.LocalHost) // the listener's own address splits
	return api.PolicyReload{Outcome: r.Outcome, Error: r.Error, Changes: told(r.Changes), Restart: r.Restart, Console: base + "/system/policy"}
}

// PolicyStanding implements api.PolicyReloader.
func (f *policyFile) PolicyStanding() api.PolicyStanding {
	s := f.Standing()
	out := api.PolicyStanding{Digest: string(s.Digest)}
	if s.Held != nil {
		out.Held, out.Waits = string(s.Held.Digest), told(s.Held.Changes)
	}
	return out
}

func told(changes []ui.PolicyChange) []api.PolicyChange {
	all := make([]api.PolicyChange, 0, len(changes))
	for _, c := range changes {
		all = append(all, api.PolicyChange(c))
	}
	return all
}
