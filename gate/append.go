package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// submission is drafts of one session on their way through the log to the
// fold. Its owner closes it.
type submission struct {
	gate   *Gate
	s      *session
	drafts []events.Draft
	waits  []*fold.Outcome // gate.mu
	row    int64           // of the last one; 0 before it is durable
	unpin  func()
}

func (g *Gate) submit(ctx context.Context, id string, drafts ...events.Draft) (*submission, error) {
	s, unpin, err := g.pin(ctx, id)
	if err != nil {
		return nil, err
	}
	return &submission{gate: g, s: s, drafts: drafts, waits: g.await(drafts), unpin: unpin}, nil
}

func (b *submission) close() {
	b.gate.forget(b.drafts)
	b.unpin()
}

// append makes the drafts durable.
func (b *submission) append(ctx context.Context) error {
	appended, err := b.gate.log.Append(ctx, b.drafts...)
	b.row = appended.Row
	return err
}

// post is append that waits no longer than JudgedWithin for room in the log.
// What begins work never waits for any.
func (b *submission) post(ctx context.Context) error {
	if events.Begins(b.drafts...) {
		return b.append(ctx)
	}
	within, cancel := context.WithTimeout(ctx, b.gate.opt.JudgedWithin)
	defer cancel()
	err := b.append(within)
	if err != nil && ctx.Err() == nil && within.Err() != nil {
		return fmt.Errorf("%w: %w", ErrNotTaken, err)
	}
	return err
}

// append makes drafts of one session durable and waits until the fold has
// judged them. It returns one outcome a draft.
func (g *Gate) append(ctx context.Context, id string, drafts ...events.Draft) ([]fold.Outcome, error) {
	b, err := g.submit(ctx, id, drafts...)
	if err != nil {
		return nil, err
	}
	defer b.close()
	if err := b.post(ctx); err != nil {
		return nil, err
	}
	return b.judged(ctx)
}

func (g *Gate) await(drafts []events.Draft) []*fold.Outcome {
	waits := make([]*fold.Outcome, len(drafts))
	g.mu.Lock()
	defer g.mu.Unlock()
	for i := range drafts {
		if drafts[i].ID == "" {
			drafts[i].ID = events.NewID()
		}
		waits[i] = &fold.Outcome{}
		g.awaited[drafts[i].ID] = waits[i]
	}
	return waits
}

func (g *Gate) forget(drafts []events.Draft) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, d := range drafts {
		delete(g.awaited, d.ID)
	}
}

// judged waits until the fold has passed what was appended, for JudgedWithin
// at most.
func (b *submission) judged(ctx context.Context) ([]fold.Outcome, error) {
	g := b.gate
	late := time.NewTimer(g.opt.JudgedWithin)
	defer late.Stop()
	for {
		outcomes, changed := b.look()
		if outcomes != nil {
			return outcomes, nil
		}
		select {
		case <-changed:
		case <-g.stopped:
			return nil, fmt.Errorf("%w: %w", ErrNotBack, ErrStopped)
		case <-ctx.Done():
			return nil, fmt.Errorf("%w: %w", ErrNotBack, context.Cause(ctx))
		case <-late.C:
			return nil, fmt.Errorf("%w within %v", ErrNotBack, g.opt.JudgedWithin)
		}
	}
}

// look returns the outcomes where the fold has passed, or what to wait for.
func (b *submission) look() ([]fold.Outcome, <-chan struct{}) {
	b.gate.mu.Lock()
	defer b.gate.mu.Unlock()
	if b.gate.applied.row < b.row {
		return nil, b.s.changed
	}
	outcomes := make([]fold.Outcome, len(b.waits))
	for i, w := range b.waits {
		outcomes[i] = *w
	}
	return outcomes, nil
}

// judgedAtLast is judged for what must be known before anything else is done:
// it waits for as long as ctx lives, and JudgedWithin at least.
func (b *submission) judgedAtLast(ctx context.Context) ([]fold.Outcome, error) {
	for {
		outcomes, err := b.judged(context.WithoutCancel(ctx))
		if !errors.Is(err, ErrNotBack) || errors.Is(err, ErrStopped) || ctx.Err() != nil {
			return outcomes, err
		}
	}
}

// cameBack reports whether the first draft came back through the log, whatever
// its append said.
func (b *submission) cameBack() bool {
	b.gate.mu.Lock()
	defer b.gate.mu.Unlock()
	return *b.waits[0] != fold.Outcome{}
}
