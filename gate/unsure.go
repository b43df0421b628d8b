package gate

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// After a rollback the log ends earlier than what happened. What is open at its
// end was perhaps decided, started and ended in the part that is lost. So none of
// it may go on as if nothing had been: a call that waits there may have run. Once
// a person accepts the loss, everything open ends: a call that nothing in the log
// keeps from having been started as ambiguous, any other as what had ended it,
// and runs with an error.

// Unsure is what is open of one session at the end of a log that was rolled back.
type Unsure struct {
	Session string
	Run     string       // its unfinished run; "" where there is none
	Calls   []UnsureCall // may have run; in the model's order
	Certain int          // other open calls: what is left of the log says that they did not run
}

// UnsureCall is a call that may have run.
type UnsureCall struct {
	events.CallKey

	Tool  string
	State UnsureState

	rule string
}

// UnsureState is where the log left a call that may have run.
type UnsureState string

// The states.
const (
	UnsurePending  UnsureState = "pending"  // it waited for people
	UnsureApproved UnsureState = "approved" // it was approved and had not started
	UnsureFree     UnsureState = "free"     // policy let it run, and it had not started
	UnsureStarted  UnsureState = "started"  // it had started and had no result
)

// unsureText is what the model reads of a call that may have run.
const unsureText = "A part of the record was lost, and in it this call may have been started: whether it had its effect is unknown. It was not run again. Look before you ask for it again."

// unsureRunText is the detail of a run that ends with a rollback.
const unsureRunText = "A part of the record was lost, so the run could not go on from where it was."

// Unsure catches up with the log and returns what is open at its end, by session.
// It appends nothing. It is for a gate that does not run.
func (g *Gate) Unsure(ctx context.Context) ([]Unsure, error) {
	if err := g.catchUp(ctx); err != nil {
		return nil, fmt.Errorf("gate: %w", err)
	}
	ids := g.Unfinished()
	slices.Sort(ids)
	var all []Unsure
	for _, id := range ids {
		u, _, err := g.unsureOf(ctx, id)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	return all, nil
}

// EndUnsure ends what is open at the end of a log that was rolled back, and
// returns what that was. The log must be running, and the gate not. Cut off, it
// can be done again: it then ends the rest.
func (g *Gate) EndUnsure(ctx context.Context, r *events.Rollback) ([]Unsure, error) {
	all, err := g.Unsure(ctx)
	if err != nil {
		return nil, err
	}
	following, stop := context.WithCancel(ctx)
	defer stop()
	group, working := errgroup.WithContext(following)
	ended := false
	group.Go(func() error { return g.follow(working) })
	group.Go(func() error {
		for _, u := range all {
			if err := g.endUnsure(working, u.Session, r); err != nil {
				return fmt.Errorf("gate: end what is open of session %.80q: %w", u.Session, err)
			}
		}
		ended = true
		stop()
		return nil
	})
	if err := group.Wait(); !ended {
		return nil, err
	}
	return all, nil
}

// unsureOf looks at what is open of a session: calls that may have run, and the
// plans of those that did not.
func (g *Gate) unsureOf(ctx context.Context, id string) (u Unsure, certain []plan, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, id)
	if err != nil {
		return u, nil, err
	}
	defer g.unload(s)
	u.Session = id
	if run := s.Run(); run != nil {
		u.Run = run.ID
	}
	for key, c := range s.Calls {
		if !c.Open() {
			continue
		}
		if p, _ := g.next(s.Session, c, false); p.over != "" && c.Start == nil {
			certain = append(certain, p)
			continue
		}
		u.Calls = append(u.Calls, UnsureCall{key, c.Tool, unsureState(c), ruleOf(*c)})
	}
	slices.SortFunc(u.Calls, func(a, b UnsureCall) int { return inOrder(a.CallKey, b.CallKey) })
	slices.SortFunc(certain, func(a, b plan) int { return inOrder(a.call.CallKey, b.call.CallKey) })
	u.Certain = len(certain)
	return u, certain, nil
}

func unsureState(c *fold.Call) UnsureState {
	switch {
	case c.Start != nil:
		return UnsureStarted
	case c.Request == nil:
		return UnsureFree
	case c.Request.State == fold.Pending:
		return UnsurePending
	}
	return UnsureApproved
}

// endUnsure ends what is open of one session.
func (g *Gate) endUnsure(ctx context.Context, id string, r *events.Rollback) error {
	u, certain, err := g.unsureOf(ctx, id)
	if err != nil {
		return err
	}
	for calls := range slices.Chunk(u.Calls, recoverAtOnce) {
		if err := g.recordAtOnce(ctx, id, g.unsureDrafts(id, u.Run, calls, r)...); err != nil {
			return err
		}
	}
	for _, p := range certain {
		if err := g.endWithout(ctx, id, p); err != nil {
			return err
		}
	}
	return g.endRun(ctx, id)
}

// recordAtOnce records what may not wait for ever.
func (g *Gate) recordAtOnce(ctx context.Context, id string, drafts ...events.Draft) error {
	within, cancel := context.WithTimeoutCause(ctx, g.opt.JudgedWithin, ErrNotTaken)
	defer cancel()
	return g.record(within, id, drafts...)
}

// unsureDrafts say what may have run, and end it: one commit.
func (g *Gate) unsureDrafts(id, run string, calls []UnsureCall, r *events.Rollback) []events.Draft {
	named := &events.Recovered{BootID: g.opt.Boot, Run: run, Rollback: r}
	drafts := []events.Draft{{ID: events.NewID(), Session: id, Data: named}}
	for _, c := range calls {
		named.Calls = append(named.Calls, c.CallKey)
		p := events.NewPayload([]byte(unsureText))
		drafts = append(drafts, events.Draft{
			Session: id, Causation: drafts[0].ID, Payloads: []events.Payload{p},
			Data: &events.ToolResult{
				CallKey: c.CallKey, Tool: c.Tool, Status: events.StatusAmbiguous, Cause: events.CauseExecutorLost, Rule: c.rule,
				Result: p.Ref(events.MediaText),
			},
		})
	}
	return drafts
}

// endRun ends the unfinished run of a session, where it has one.
func (g *Gate) endRun(ctx context.Context, id string) error {
	var draft *events.Draft
	err := g.View(ctx, id, func(s *fold.Session) {
		if run := s.Run(); run != nil {
			p := events.NewPayload([]byte(unsureRunText))
			draft = &events.Draft{
				Session: id, Causation: run.EventID, Payloads: []events.Payload{p},
				Data: &events.RunFinished{
					RunID: run.ID, Reason: events.FinishError, Code: events.CodeRolledBack, Detail: p.Ref(events.MediaText),
					Rounds: len(run.Rounds), Calls: run.Calls, Usage: run.Usage(),
				},
			}
		}
	})
	if err != nil || draft == nil {
		return err
	}
	return g.recordAtOnce(ctx, id, *draft)
}
