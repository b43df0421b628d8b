package gate

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// gate.db is written behind the log. Where it knows a place that the log does not
// have, the log was put back from a copy, or is another one. Of the same log that
// is a rollback, and gate.db its only witness: it is then kept as it is, and the
// gate must not run (Ahead), until a person has
// accepted the loss and the file is removed.

// ahead is what gate.db knows beyond the log.
type ahead struct {
	row  int64
	kind events.RollbackKind
}

// Ahead returns the row up to which gate.db knows this log, and how the log
// differs; "" where it does not, or is another log than that of gate.db.
func (g *Gate) Ahead() (row int64, kind events.RollbackKind) { return g.ahead.row, g.ahead.kind }

// knownLog is the name under which gate.db knows the digest of the log's first
// record.
const knownLog = "log"

// behind says how the log differs from what gate.db knows, where it is the same
// log: it begins with the same record.
func (g *Gate) behind(ctx context.Context, at place, here int) (ahead, error) {
	known, err := g.store.known(ctx)
	if err != nil || known[knownLog] == "" {
		return ahead{}, err
	}
	first, err := g.log.Read(ctx, 0, 1)
	if err != nil || len(first) == 0 || events.DigestOf(first[0].Record.Envelope) != known[knownLog] {
		return ahead{}, err
	}
	if here == 0 {
		return ahead{at.row, events.RollbackShorter}, nil
	}
	return ahead{at.row, events.RollbackRewritten}, nil
}

// learnLog notes which log this is. mu is held.
func (g *Gate) learnLog(first events.Digest) {
	if g.known[knownLog] != first {
		g.known[knownLog], g.newlyKnown[knownLog] = first, first
	}
}

// knowLog learns of a file from before what log it is of.
func (g *Gate) knowLog(ctx context.Context, at place) error {
	if at.row == 0 || g.known[knownLog] != "" {
		return nil
	}
	first, err := g.log.Read(ctx, 0, 1)
	if err == nil && len(first) == 1 {
		g.learnLog(events.DigestOf(first[0].Record.Envelope))
	}
	return err
}
