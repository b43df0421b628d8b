package projections

import (
	"context"
	"time"
)

const (
	// DeclinedWithin is how far back earlier declines of a call's like are looked
	// for, in log time before it.
	DeclinedWithin = 30 * 24 * time.Hour
	// MostDeclined bounds how many are counted.
	MostDeclined = 1000
)

// Declined is how often people declined calls like one.
type Declined struct {
	Count int  // at most MostDeclined
	More  bool // there are more than that
	Last  []DeclinedCall
}

// DeclinedCall is a call that a person declined.
type DeclinedCall struct {
	Call

	Readable bool // the reader may see its session; else Call tells of no text
}

// declined are calls whose request a person declined: the condition of their
// indexes.
const declined = " c.approved = 0 AND c.decider <> ''"

// DeclinedBefore returns how often people declined calls of the same tool and
// agent, for the same principal, before a call and within DeclinedWithin of it: how
// many, and the last few, those of the same session first. Of a session that the
// reader may not see, the calls have no text.
func (v *Views) DeclinedBefore(ctx context.Context, c Call, reader Reader, limit int) (Declined, error) {
	since := c.At.LogTime - DeclinedWithin.Microseconds()
	alike := []any{c.Principal, c.Tool, c.Agent.Name, since, c.At.LogTime, c.At.Partition, off(c.At)}
	const span = " AND c.log_time >= ? AND (c.log_time, c.part, c.off) < (?, ?, ?)"
	n, err := first(ctx, v.db, one[int], `SELECT count(*) FROM (SELECT 1 FROM calls c INDEXED BY calls_declined
		WHERE`+declined+` AND c.asker = ? AND c.tool = ? AND c.agent = ?`+span+` LIMIT ?)`, append(alike, MostDeclined+1)...)
	if err != nil || n == 0 {
		return Declined{}, err
	}
	const newest = " ORDER BY c.log_time DESC, c.part DESC, c.off DESC LIMIT ?"
	calls, err := list(ctx, v.db, scanCall, selectDeclined("calls_declined_session")+" AND c.session = ?"+span+newest,
		c.Tool, c.Agent.Name, c.Session, since, c.At.LogTime, c.At.Partition, off(c.At), limit)
	if err != nil {
		return Declined{}, err
	}
	if left := limit - len(calls); left > 0 {
		// Those of the session are among them, and are passed over.
		others, err := list(ctx, v.db, scanCall, selectDeclined("calls_declined")+" AND c.asker = ?"+span+newest,
			append([]any{c.Tool, c.Agent.Name, c.Principal}, append(alike[3:], limit)...)...)
		if err != nil {
			return Declined{}, err
		}
		calls = append(calls, ofOthers(others, c.Session, left)...)
	}
	d := Declined{Count: min(n, MostDeclined), More: n > MostDeclined}
	for _, call := range calls {
		one, err := v.declinedCall(ctx, call, reader)
		if err != nil {
			return Declined{}, err
		}
		d.Last = append(d.Last, one)
	}
	return d, nil
}

func selectDeclined(index string) string {
	return `SELECT c.session, c.state, c.doc, coalesce(q.doc, '') FROM calls c INDEXED BY ` + index +
		` LEFT JOIN requests q ON q.id = c.request AND q.session = c.session WHERE` + declined + ` AND c.tool = ? AND c.agent = ?`
}

// ofOthers returns the first few calls of other sessions.
func ofOthers(calls []Call, session string, most int) (others []Call) {
	for _, c := range calls {
		if c.Session != session && len(others) < most {
			others = append(others, c)
		}
	}
	return others
}

// declinedCall is a call as a reader may see it.
func (v *Views) declinedCall(ctx context.Context, c Call, reader Reader) (DeclinedCall, error) {
	may, err := v.MayRead(ctx, reader, c.Session)
	if err != nil || may {
		return DeclinedCall{c, may}, err
	}
	c.Session, c.Arguments, c.Result = "", nil, nil
	if c.Request != nil {
		hidden := *c.Request
		hidden.Arguments, hidden.Preview, hidden.Target, hidden.Decided, hidden.Revisions, hidden.Modifications = nil, nil, nil, nil, nil, nil
		if hidden.End != nil {
			end := *hidden.End
			end.Comment, end.Arguments = nil, nil
			hidden.End = &end
		}
		c.Request = &hidden
	}
	return DeclinedCall{Call: c}, nil
}
