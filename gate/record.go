package gate

import (
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Begin records the start of a run and says why it does not count, or "".
func (g *Gate) Begin(ctx context.Context, run events.Draft) (fold.Reason, error) {
	outcomes, err := g.append(ctx, run.Session, run)
	if err != nil {
		return "", err
	}
	return outcomes[0].Reason, nil
}

// Record appends what ends work, a round or a run, and waits until the fold has
// passed it. It is tried again until the log takes it, has stopped, or ctx
// ends.
func (g *Gate) Record(ctx context.Context, draft events.Draft) error {
	return g.record(ctx, draft.Session, draft)
}
