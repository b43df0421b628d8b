package ui

import (
	"context"
	"errors"
	"iter"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

// historyExport exports the calls of a lookup: the same, in the same order, as
// paging through it shows.
func (c *Console) historyExport(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, lookupParams()...)
	if err != nil {
		return err
	}
	l, err := lookupOf(p, id, c.now())
	if err != nil {
		return err
	}
	format, err := formatOf(w, r)
	if err != nil {
		return err
	}
	return c.export(w, r, id, export{
		name: "history", format: format, filter: l.fixed().all(), record: l.onRecord(), columns: exportColumns(), rows: c.exportedCalls(r.Context(), l),
	})
}

// exportedCalls yields the calls of a lookup, the newest first, with the texts of
// one at a time.
func (c *Console) exportedCalls(ctx context.Context, l lookup) iter.Seq2[exportRow, error] {
	n := c.names()
	return paged(func(cursor string) (projections.Page[projections.Call], error) {
		return c.views.History(ctx, l.Filter, cursor, exportRows)
	}, func(call projections.Call) (exportRow, error) { return c.exportedCall(ctx, n, call) })
}

// paged yields the entries of all pages of a list as rows. It holds one page.
func paged[T any](read func(cursor string) (projections.Page[T], error), row func(T) (exportRow, error)) iter.Seq2[exportRow, error] {
	return func(yield func(exportRow, error) bool) {
		for cursor := ""; ; {
			page, err := read(cursor)
			if err != nil {
				yield(nil, err)
				return
			}
			for _, item := range page.Items {
				if r, err := row(item); !yield(r, err) || err != nil {
					return
				}
			}
			if cursor = page.Next; cursor == "" {
				return
			}
		}
	}
}

func (r *callRow) place() events.Position { return r.Position }

// exportedCall is a call with its texts.
func (c *Console) exportedCall(ctx context.Context, n *names, call projections.Call) (*callRow, error) {
	row := &callRow{
		Position: call.At, Time: events.Micros(call.At.LogTime), Session: call.Session, BatchID: call.BatchID, Index: call.Index,
		EventID: call.EventID, Digest: call.Digest, CallID: call.CallID, Tool: call.Tool, ToolSource: string(call.ToolSource),
		ToolDigest: call.ToolDigest, Agent: call.Agent, Model: call.Model, AskedBy: exportPerson{call.Principal, n.of(ctx, call.Principal)},
		Enforcement: string(call.Enforcement), Effect: string(call.Effect), Rule: call.Rule, Policy: call.PolicyDigest,
		State: string(call.State), Outcome: callChip(call).Word, DecidedBy: decidedBy(ctx, n, call), Request: requestRowOf(ctx, n, call),
	}
	var err error
	if row.Arguments, err = c.exportedText(ctx, call.EventID, call.Arguments); err != nil {
		return nil, err
	}
	if call.Request != nil && call.Request.Author != "" {
		if row.Changed, err = c.exportedText(ctx, call.Request.Carrier, call.Request.Arguments); err != nil {
			return nil, err
		}
	}
	if s := call.Start; s != nil {
		row.Start = &startRow{EventID: s.EventID, Position: s.At, Warrant: s.Warrant, Executor: s.Executor, Isolation: s.Isolation}
	}
	if r := call.Result; r != nil {
		row.Result = &resultRow{
			EventID: r.EventID, Position: r.At, Status: string(r.Status), Cause: string(r.Cause), Rule: r.Rule, DurationMS: r.DurationMS,
			StoppedBy: r.StoppedBy, Result: r.Result,
		}
	}
	return row, nil
}

// exportedText fetches a text; what was erased says so.
func (c *Console) exportedText(ctx context.Context, carrier string, ref *events.Ref) (*exportText, error) {
	if ref == nil {
		return nil, nil //nolint:nilnil // there is none
	}
	t := &exportText{Ref: *ref, Carrier: carrier}
	b, err := c.payload(ctx, carrier, ref)
	switch {
	case errors.Is(err, errErased):
		t.Erased = true
	case err != nil:
		return nil, err
	case utf8.Valid(b):
		t.Text = new(string(b))
	default:
		t.Base64 = b
	}
	return t, nil
}

func requestRowOf(ctx context.Context, n *names, call projections.Call) *requestRow {
	q := call.Request
	if q == nil {
		return nil
	}
	row := &requestRow{
		RequestID: q.RequestID, EventID: q.EventID, Position: q.At, State: string(q.State), Rule: q.Rule, Quorum: q.Quorum,
		Deadline: events.At(q.Deadline), Decisions: []decisionRow{},
	}
	if q.End != nil {
		row.WaitedMS = new((q.End.At.LogTime - q.At.LogTime) / 1000)
	}
	for _, d := range q.Decided {
		decision := decisionRow{
			EventID: d.EventID, Position: d.At, Verdict: string(d.Verdict), Cause: string(d.Cause), Digest: d.RequestDigest, Comment: d.Comment, Seen: d.Seen,
		}
		if d.Actor != nil {
			decision.By = &exportPerson{d.Actor.Person, n.of(ctx, d.Actor.Person)}
		}
		row.Decisions = append(row.Decisions, decision)
	}
	return row
}

// exportColumns are the columns of a CSV of calls.
func exportColumns() []string {
	return []string{
		"time_utc", "position", "outcome", "state", "cause", "tool", "agent", "asked_by", "decided_by", "waited_ms", "ran_ms", "effect", "rule",
		"enforcement", "session", "batch_id", "index", "call_id", "event_id", "request_id", "changed_by_reviewer", "arguments", "arguments_bytes",
		"arguments_commitment", "result_bytes", "result_commitment",
	}
}

func (r *callRow) cells() []string {
	cells := map[string]string{
		"time_utc": stamp(r.Time.Time), "position": r.Position.String(), "outcome": r.Outcome, "state": r.State, "tool": cellOf([]byte(r.Tool)),
		"agent": agentName(r.Agent), "asked_by": cmpName(r.AskedBy), "decided_by": r.DecidedBy, "effect": r.Effect, "rule": cellOf([]byte(r.Rule)),
		"enforcement": r.Enforcement, "session": cellOf([]byte(r.Session)), "batch_id": cellOf([]byte(r.BatchID)), "index": strconv.Itoa(r.Index),
		"call_id": cellOf([]byte(r.CallID)), "event_id": r.EventID, "changed_by_reviewer": yes(r.Changed != nil),
	}
	if q := r.Request; q != nil {
		cells["request_id"] = q.RequestID
		if q.WaitedMS != nil {
			cells["waited_ms"] = strconv.FormatInt(*q.WaitedMS, 10)
		}
	}
	text := r.Arguments
	if r.Changed != nil {
		text = r.Changed
	}
	text.into(cells, "arguments")
	if res := r.Result; res != nil {
		cells["cause"] = res.Cause
		if r.Start != nil {
			cells["ran_ms"] = strconv.FormatInt(res.DurationMS, 10)
		}
		if res.Result != nil {
			cells["result_bytes"], cells["result_commitment"] = strconv.FormatInt(res.Result.Bytes, 10), res.Result.Commitment
		}
	}
	return inColumns(exportColumns(), cells)
}

func inColumns(columns []string, cells map[string]string) []string {
	out := make([]string, len(columns))
	for i, name := range columns {
		out[i] = cells[name]
	}
	return out
}

func cmpName(p exportPerson) string {
	if p.Name == p.Person {
		return cellOf([]byte(p.Person))
	}
	return p.Name + " (" + cellOf([]byte(p.Person)) + ")"
}

// into writes a text into the cells of its columns.
func (t *exportText) into(cells map[string]string, name string) {
	if t == nil {
		return
	}
	cells[name+"_bytes"], cells[name+"_commitment"] = strconv.FormatInt(t.Bytes, 10), t.Commitment
	switch {
	case t.Erased:
		cells[name] = "[erased]"
	case t.Text != nil:
		cells[name] = cellOf([]byte(*t.Text))
	default:
		cells[name] = cellOf(t.Base64)
	}
}
