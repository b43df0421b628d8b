package gate

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Cancel ends the unfinished run of a principal's session: in one commit the
// run is cancelled and its pending requests are declined for the same cause;
// started calls are told to stop. It reports whether there was such a run; one
// that is cancelled already stays so. ErrUnknownSession where the session is
// another principal's: an owner never changes, so what is found here holds.
func (g *Gate) Cancel(ctx context.Context, session, principal string, cause events.Cause, actor *events.Actor, via string) (bool, error) {
	drafts, found, err := g.cancelDrafts(ctx, session, principal, cause, actor, via)
	if err != nil || len(drafts) == 0 {
		return found, err
	}
	if _, err := g.append(ctx, session, drafts...); err != nil {
		return false, fmt.Errorf("cancel: %w", err)
	}
	return true, nil
}

func (g *Gate) cancelDrafts(ctx context.Context, session, principal string, cause events.Cause, actor *events.Actor, via string) (drafts []events.Draft, found bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, session)
	if err != nil {
		return nil, false, err
	}
	defer g.unload(s)
	run := s.Run()
	switch {
	case s.Principal != "" && s.Principal != principal:
		return nil, false, fmt.Errorf("%w: %.80q", ErrUnknownSession, session)
	case run == nil:
		return nil, false, nil
	}
	if run.Cancelled == nil {
		drafts = append(drafts, events.Draft{Session: session, Causation: run.EventID, Data: &events.RunCancelled{
			RunID: run.ID, Cause: cause, Actor: actor, Via: via,
		}})
	}
	for _, q := range s.Requests {
		if q.State == fold.Pending && s.Calls[q.CallKey].RunID == run.ID {
			drafts = append(drafts, declineDraft(session, q, cause))
		}
	}
	return drafts, true, nil
}
