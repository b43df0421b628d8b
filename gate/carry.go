package gate

import (
	"context"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Errors of Carry.
var (
	// ErrUnknownCall: the session has no such call.
	ErrUnknownCall = errors.New("unknown call")
	// ErrCarried: another Carry of this process has the call in hand.
	ErrCarried = errors.New("the call is being carried already")
	// ErrUndecided: patience ended before the call was decided.
	ErrUndecided = errors.New("the call is not decided yet")
)

// Run runs a tool once. It is called after the start has come back and counts,
// and never again for the same call. A context that ends means: stop now.
type Run func(ctx context.Context, arguments []byte) Output

// Output is what a tool produced.
type Output struct {
	Content   []byte
	MediaType string // "" is text/plain
	// FullBytes and FullDigest describe the whole where Content is a cut.
	FullBytes  int64
	FullDigest events.Digest
	Failed     bool
	Stale      bool   // with Failed: what it was to change was not what was approved; nothing was changed
	StoppedBy  string // "timeout", "cancelled", "shutdown", "output-limit", or ""
}

// Carry carries a proposed call to its result and returns when that is
// recorded: it waits for the decision, records the start, sees it count, runs
// the tool, records the result. Whatever happens before the start, the call
// gets a result that says so. ctx bounds the carrying, not the call: when it
// ends before the start, the call stays as it is and another Carry may go on.
func (g *Gate) Carry(ctx context.Context, session string, key events.CallKey, run Run) error {
	return g.CarryWhile(ctx, context.Background(), session, key, run)
}

// CarryWhile is Carry that waits only while patience lasts. When that ends and
// the call is not decided, it returns ErrUndecided, and the call stays as it is;
// a call that is decided is carried to its result all the same.
func (g *Gate) CarryWhile(ctx, patience context.Context, session string, key events.CallKey, run Run) error {
	release, err := g.take(ctx, callID{session, key})
	if err != nil {
		return err
	}
	defer release()
	texts := g.prefetch(ctx, session, key)
	for ran := false; ; {
		p, err := g.settle(ctx, patience, session, key, ran)
		switch {
		case err != nil:
			return err
		case p.ended:
			return nil
		case p.begun:
			ran, err = g.runBegun(ctx, session, p, run)
		case p.over != "":
			err = g.endWithout(ctx, session, p)
		default:
			p.text = texts[refOf(p.ref)]
			ran, err = g.startAndRun(ctx, session, p, run)
		}
		if err != nil {
			return err
		}
	}
}

// take keeps two carries of one call apart, and the session loaded.
func (g *Gate) take(ctx context.Context, id callID) (release func(), err error) {
	s, unpin, err := g.pin(ctx, id.session)
	if err != nil {
		return nil, err
	}
	if err := g.hold(s, id); err != nil {
		unpin()
		return nil, err
	}
	return func() {
		g.mu.Lock()
		delete(g.carrying, id)
		g.mu.Unlock()
		unpin()
	}, nil
}

func (g *Gate) hold(s *session, id callID) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if _, twice := g.carrying[id]; twice {
		return fmt.Errorf("%w: %s", ErrCarried, id.key)
	}
	if s.Calls[id.key] == nil {
		return fmt.Errorf("%w: %s", ErrUnknownCall, id.key)
	}
	g.carrying[id] = struct{}{}
	return nil
}

// settle waits until it is known what comes next for a call, which this carry
// has run or not.
func (g *Gate) settle(ctx, patience context.Context, session string, key events.CallKey, ran bool) (plan, error) {
	var p plan
	waiting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	if !ran {
		defer context.AfterFunc(patience, func() { stop(ErrUndecided) })()
	}
	err := g.Watch(waiting, session, func(s *fold.Session) bool {
		var known bool
		p, known = g.next(s, s.Calls[key], ran)
		return known
	})
	return p, err
}
