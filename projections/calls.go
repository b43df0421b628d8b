package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

const selectCalls = `SELECT c.session, c.state, c.doc, coalesce(q.doc, '')
	FROM calls c LEFT JOIN requests q ON q.id = c.request AND q.session = c.session`

// Call returns one call; ErrNotFound if the session has none of that key.
func (v *Views) Call(ctx context.Context, session string, key events.CallKey) (Call, error) {
	return first(ctx, v.db, scanCall, selectCalls+" WHERE c.session = ? AND c.batch = ? AND c.idx = ?", session, key.BatchID, key.Index)
}

// Turn returns the calls of one model turn in the model's order, up to limit.
func (v *Views) Turn(ctx context.Context, session, batch string, limit int) ([]Call, error) {
	return list(ctx, v.db, scanCall, selectCalls+" WHERE c.session = ? AND c.batch = ? ORDER BY c.idx LIMIT ?", session, batch, limit)
}

// Similar returns the last earlier call of the same tool and agent that a
// person approved; ErrNotFound where there is none. It may be of another
// session: whoever shows it asks MayRead.
func (v *Views) Similar(ctx context.Context, c Call) (Call, error) {
	return first(ctx, v.db, scanCall, selectCalls+` WHERE c.approved = 1 AND c.tool = ? AND c.agent = ?
		AND (c.log_time, c.part, c.off) < (?, ?, ?) ORDER BY c.log_time DESC, c.part DESC, c.off DESC LIMIT 1`,
		c.Tool, c.Agent.Name, c.At.LogTime, c.At.Partition, off(c.At))
}

func scanCall(scan func(...any) error) (Call, error) {
	var c Call
	var text, request string
	if err := scan(&c.Session, &c.State, &text, &request); err != nil {
		return c, err
	}
	if err := undoc(text, &c.Call); err != nil || request == "" {
		return c, err
	}
	c.Request = &fold.Request{}
	return c, undoc(request, c.Request)
}

// Round returns the model round that asked for a turn's calls; ErrNotFound
// where the loop is not ours, or the round is not recorded yet.
func (v *Views) Round(ctx context.Context, session, batch string) (fold.Round, error) {
	return first(ctx, v.db, func(scan func(...any) error) (fold.Round, error) {
		var r fold.Round
		var text string
		if err := scan(&text); err != nil {
			return r, err
		}
		return r, undoc(text, &r)
	}, "SELECT doc FROM rounds WHERE session = ? AND batch = ?", session, batch)
}
