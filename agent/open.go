package agent

import (
	"context"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Cancel ends the unfinished run of a conversation. ErrNothing where there is
// none; gate.ErrUnknownSession, here as in Open and Pending, where the
// conversation is another principal's or was never begun.
func (l *Loop) Cancel(ctx context.Context, session, principal string, actor *events.Actor) error {
	if err := l.owned(ctx, session, principal); err != nil {
		return err
	}
	found, err := l.gate.Cancel(ctx, session, principal, events.CauseCancelled, actor, via)
	if err == nil && !found {
		err = ErrNothing
	}
	return err
}

// Open returns a reader, to be closed, of a conversation for a client that has
// seen lastID: from that place on, through the runs that followed. Without an id it begins
// at the last run; so it does, after a reset, with one that is not ours.
// ErrNothing where nothing was asked yet.
func (l *Loop) Open(ctx context.Context, session, principal, lastID string) (*Reader, error) {
	if err := l.serving(ctx); err != nil {
		return nil, err
	}
	if err := l.owned(ctx, session, principal); err != nil {
		return nil, err
	}
	runs, err := l.runIDs(ctx, session)
	if err != nil {
		return nil, err
	}
	if len(runs) == 0 {
		return nil, ErrNothing
	}
	p := parseID(lastID)
	i := slices.Index(runs, p.run)
	if i < 0 {
		i = len(runs) - 1
	}
	open := func(ctx context.Context, run string) (*Feed, error) { return l.attached(ctx, session, run) }
	feed, err := open(ctx, runs[i])
	if err != nil {
		return nil, err
	}
	r := feed.read()
	if lastID != "" {
		r = feed.from(p)
	}
	r.later, r.open, r.left = runs[i+1:], open, l.forgetFeed
	return r, nil
}

func (l *Loop) runIDs(ctx context.Context, session string) ([]string, error) {
	var runs []string
	err := l.gate.View(ctx, session, func(s *fold.Session) {
		for _, r := range s.Runs {
			runs = append(runs, r.ID)
		}
	})
	return runs, err
}

// attached returns the feed of a run, kept for a reader.
func (l *Loop) attached(ctx context.Context, session, run string) (*Feed, error) {
	for {
		feed, err := l.feedOf(ctx, session, run)
		if err != nil || feed.attach() {
			return feed, err
		}
	}
}

// feedOf returns the feed of a run: the one in memory, or one told anew from
// the log. It has everything that the log holds now.
func (l *Loop) feedOf(ctx context.Context, session, run string) (*Feed, error) {
	feed, err := l.activeFeed(ctx, session, run)
	if err != nil {
		return nil, err
	}
	if feed == nil {
		n := l.narrator(session, run)
		if err := n.catchUp(ctx); err != nil {
			return nil, err
		}
		n.feed.end()
		return n.feed, nil
	}
	select {
	case <-feed.told:
		return feed, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// activeFeed returns the feed in memory of a run, or nil. A run that has not
// ended always has one: who began it may not have come to driving it yet.
func (l *Loop) activeFeed(ctx context.Context, session, run string) (*Feed, error) {
	l.mu.Lock()
	feed := l.active[run]
	l.mu.Unlock()
	if feed != nil {
		return feed, nil
	}
	var unfinished bool
	err := l.gate.View(ctx, session, func(s *fold.Session) { unfinished = s.Run() != nil && s.Run().ID == run })
	if err != nil || !unfinished {
		return nil, err
	}
	return l.launch(session, run), nil
}

// Pending lists what a conversation waits for, for the 409 of a new query.
func (l *Loop) Pending(ctx context.Context, session, principal string) ([]Pending, error) {
	if err := l.owned(ctx, session, principal); err != nil {
		return nil, err
	}
	var out []Pending
	err := l.gate.View(ctx, session, func(s *fold.Session) {
		for _, q := range s.Requests {
			if q.State == fold.Pending {
				out = append(out, Pending{RequestID: q.RequestID, ToolName: q.Tool, ToolCallID: s.Calls[q.CallKey].CallID, at: q.At})
			}
		}
	})
	slices.SortFunc(out, func(a, b Pending) int { return a.at.Compare(b.at) })
	return out, err
}

// Pending is one undecided request of a conversation.
type Pending struct {
	RequestID  string `json:"requestId"`
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	at         events.Position
}
