package gate

import (
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// A turn is one plan of the model's: what a call is good for often depends on
// the ones beside it. So a turn with a protected call holds back all its calls
// but those of read-only tools until every protected call of it is decided.
// Nothing of a plan happens whose other half is declined a minute later without
// the reviewer having known, and what a request shows of a file is not changed
// by a free call beside it. What ends without a start is not held back.

// Held reports whether a call that could start waits for the decisions of the
// other protected calls of its turn. It may be called under View and Watch.
func (g *Gate) Held(s *fold.Session, c *fold.Call) bool {
	return c.Open() && c.Start == nil && permitted(c) && g.holds(s, c)
}

// permitted reports whether a call has what warrants a start.
func permitted(c *fold.Call) bool {
	if q := c.Request; q != nil {
		return q.State == fold.Approved && !q.Revoked
	}
	return c.Effect == events.EffectAllow
}

// holds reports whether a pending request of its turn stands before a call.
func (g *Gate) holds(s *fold.Session, c *fold.Call) bool {
	return !g.readOnly(c.Tool) && undecidedTurn(s, c.BatchID)
}

// undecidedTurn reports whether a request of a turn is pending.
func undecidedTurn(s *fold.Session, batch string) bool {
	for _, q := range s.Requests {
		if q.State == fold.Pending && q.BatchID == batch {
			return true
		}
	}
	return false
}

func (g *Gate) readOnly(tool string) bool {
	t := g.tools[tool]
	return t != nil && t.ReadOnly
}
