package projections

import (
	"context"
	"fmt"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Filter narrows a history. What is empty does not narrow.
type Filter struct {
	Tool    string
	State   CallState
	Session string
	Reader  Reader // whose history it is
}

// listName binds a cursor to the filter.
func (f Filter) listName() string {
	return fmt.Sprintf("calls %q %q %q %q", f.Tool, f.State, f.Session, f.Reader.listName())
}

// where returns the conditions of the filter. Its texts are parameters, never
// part of the query.
func (f Filter) where() (string, []any) {
	var b strings.Builder
	var args []any
	for _, c := range []struct{ column, value string }{{"tool", f.Tool}, {"state", string(f.State)}, {"session", f.Session}} {
		if c.value != "" {
			b.WriteString(" AND c." + c.column + " = ?")
			args = append(args, c.value)
		}
	}
	visible, more := f.Reader.where("c.session")
	return b.String() + visible, append(args, more...)
}

const selectCalls = `SELECT c.session, c.state, c.doc, coalesce(q.doc, '')
	FROM calls c LEFT JOIN requests q ON q.id = c.request`

// History returns calls, the newest first. cursor is "" or a Next of the same
// filter.
func (v *Views) History(ctx context.Context, f Filter, cursor string, limit int) (Page[Call], error) {
	where, args := f.where()
	and, more, err := before("c", cursor, f.listName())
	if err != nil {
		return Page[Call]{}, err
	}
	args = append(append(args, more...), limit+1)
	calls, err := list(ctx, v.db.Load().Read, scanCall,
		selectCalls+" WHERE TRUE"+where+and+" ORDER BY c.log_time DESC, c.part DESC, c.off DESC LIMIT ?", args...)
	return pageOf(calls, limit, f.listName(), func(c Call) events.Position { return c.At }), err
}

// Call returns one call; ErrNotFound if the session has none of that key.
func (v *Views) Call(ctx context.Context, session string, key events.CallKey) (Call, error) {
	return first(ctx, v.db.Load().Read, scanCall, selectCalls+" WHERE c.session = ? AND c.batch = ? AND c.idx = ?", session, key.BatchID, key.Index)
}

// Turn returns the calls of one model turn in the model's order, up to limit.
func (v *Views) Turn(ctx context.Context, session, batch string, limit int) ([]Call, error) {
	return list(ctx, v.db.Load().Read, scanCall, selectCalls+" WHERE c.session = ? AND c.batch = ? ORDER BY c.idx LIMIT ?", session, batch, limit)
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
	return first(ctx, v.db.Load().Read, func(scan func(...any) error) (fold.Round, error) {
		var r fold.Round
		var text string
		if err := scan(&text); err != nil {
			return r, err
		}
		return r, undoc(text, &r)
	}, "SELECT doc FROM rounds WHERE session = ? AND batch = ?", session, batch)
}

// Tools returns the names of tools that were asked for, in order, up to limit:
// what a history can be filtered by.
func (v *Views) Tools(ctx context.Context, limit int) ([]string, error) {
	// A loose scan of the index: one step a tool, however many calls.
	return list(ctx, v.db.Load().Read, func(scan func(...any) error) (s string, err error) { return s, scan(&s) },
		`WITH RECURSIVE t(tool) AS (
			SELECT min(tool) FROM calls
			UNION ALL SELECT (SELECT min(tool) FROM calls WHERE tool > t.tool) FROM t WHERE t.tool IS NOT NULL
		) SELECT tool FROM t WHERE tool IS NOT NULL LIMIT ?`, limit)
}
