package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// restoreOrRemake restores, from a file made anew where damage shows only now.
func (g *Gate) restoreOrRemake(ctx context.Context) error {
	err := g.restore(ctx)
	if !sqlite.IsCorrupt(err) || g.opt.Path == "" {
		return err
	}
	_ = g.store.close() // it is thrown away
	if g.store, err = remakeStore(ctx, g.opt.Path, g.logger, err); err != nil {
		return err
	}
	return g.restore(ctx)
}

// position returns the place up to which gate.db is true. A file that is ahead
// of the log, or of another one, is forgotten: a log that was put back from a
// copy must be read again.
func (g *Gate) position(ctx context.Context) (place, error) {
	at, err := g.store.position(ctx)
	if err != nil || at.row == 0 {
		return at, err
	}
	entries, err := g.log.Read(ctx, at.row-1, 1)
	if err != nil {
		return place{}, err
	}
	if len(entries) == 1 && entries[0].Row == at.row && events.DigestOf(entries[0].Record.Envelope) == at.digest {
		return at, nil
	}
	if g.ahead, err = g.behind(ctx, at, len(entries)); err != nil {
		return place{}, err
	}
	if g.ahead.kind != "" || g.opt.Keep {
		return place{}, nil // it stays as it is, and the gate does not run
	}
	g.foreign = true
	g.logger.WarnContext(ctx, "gate.db does not belong to this log and is made anew from it", "path", g.opt.Path, "row", at.row)
	return place{}, g.store.clear(ctx)
}

// restore loads what was unfinished when gate.db was last written.
func (g *Gate) restore(ctx context.Context) error {
	at, err := g.position(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	ids, err := g.store.unfinished(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	known, err := g.store.known(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	accepted, err := g.store.definitions(ctx)
	if err != nil {
		return fmt.Errorf("gate.db: %w", err)
	}
	g.accepted.restore(accepted)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.applied, g.known = at, known
	if err := g.knowLog(ctx, at); err != nil {
		return err
	}
	for _, id := range ids {
		s, err := g.load(ctx, id)
		if err != nil {
			return err
		}
		g.resume(s)
		g.noteUnfinished(s)
		g.unload(s)
	}
	return nil
}

// resume takes up what a loaded session waits for. mu is held.
func (g *Gate) resume(s *session) {
	for _, q := range s.Requests {
		if q.State != fold.Pending {
			g.scheduleLapse(s, q, false)
			continue
		}
		g.pending[q.Requester]++
		g.schedule(s, q, false)
		for _, m := range q.Modifications {
			g.modified(modification{session: s.ID, request: q.RequestID, decision: m.EventID})
		}
	}
}

// persist writes gate.db now and then, and once at the end.
func (g *Gate) persist(ctx context.Context) error {
	ticker := time.NewTicker(persistGap)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			if err := g.flush(ctx); err != nil && ctx.Err() == nil {
				g.logger.WarnContext(ctx, "gate.db could not be written; the next start reads more", "error", err)
			}
		case <-ctx.Done():
			return errors.Join(g.flush(context.WithoutCancel(ctx)), context.Cause(ctx))
		}
	}
}

func (g *Gate) flush(ctx context.Context) error {
	c, err := g.takeChanges()
	if err != nil {
		return err
	}
	if c.at.row == g.saved {
		return nil
	}
	if err := g.store.save(ctx, c); err != nil {
		g.putBack(c)
		return err
	}
	g.saved = c.at.row
	g.settleSaved()
	return nil
}

func (g *Gate) takeChanges() (changes, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	accepted, err := g.accepted.take()
	if err != nil {
		return changes{}, err
	}
	c := changes{at: g.applied, sessions: map[string]bool{}, requests: g.newest, known: g.newlyKnown, accepted: accepted}
	for id := range g.dirty {
		_, c.sessions[id] = g.unfinished[id]
	}
	g.saving = g.newest // until the file has them, sessionOf finds them here
	g.dirty, g.newest, g.newlyKnown = map[string]bool{}, map[string]string{}, map[string]events.Digest{}
	return c, nil
}

// settleSaved forgets what the file has now.
func (g *Gate) settleSaved() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.saving = nil
}

// putBack keeps changes that could not be written for the next try.
func (g *Gate) putBack(c changes) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for id := range c.sessions {
		g.dirty[id] = true
	}
	g.saving = nil
	g.accepted.putBack(c.accepted)
	maps.Copy(g.newest, c.requests)
	for name, digest := range c.known {
		if _, newer := g.newlyKnown[name]; !newer {
			g.newlyKnown[name] = digest
		}
	}
}

// sessionOf returns the session of a request, or "".
func (g *Gate) sessionOf(ctx context.Context, request string) (string, error) {
	if id := g.due.session(request); id != "" {
		return id, nil
	}
	g.mu.Lock()
	id := cmp.Or(g.newest[request], g.saving[request])
	g.mu.Unlock()
	if id != "" || len(request) > events.MaxNameBytes {
		return id, nil
	}
	id, err := g.store.session(ctx, request)
	if err != nil {
		return "", fmt.Errorf("gate.db: look up a request: %w", err)
	}
	return id, nil
}
