package ui

import (
	"context"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// maxRuns is how many runs of a session a page looks at: the first ones.
const maxRuns = 500

// runLanes are the runs that a timeline draws: those of its calls, and where
// all calls are drawn, the last of the others.
func (c *Console) runLanes(ctx context.Context, n *names, s projections.Session, calls []projections.Call, all bool) []lane {
	runs, err := c.views.Runs(ctx, s.ID, maxRuns)
	if err != nil {
		c.logger.ErrorContext(ctx, "runs could not be read", "error", err.Error())
		return nil
	}
	of := map[string][]projections.Call{}
	for _, call := range calls {
		of[call.RunID] = append(of[call.RunID], call)
	}
	var lanes []lane
	for i, r := range runs {
		if len(of[r.ID]) > 0 || all && i >= len(runs)-maxLanes {
			lanes = append(lanes, c.runLane(ctx, n, r, of[r.ID]))
		}
		delete(of, r.ID)
	}
	for id, calls := range of { // of runs beyond the first ones; the caller sorts
		if r, err := c.views.RunOf(ctx, s.ID, id); err == nil {
			lanes = append(lanes, c.runLane(ctx, n, r, calls))
		}
	}
	return lanes
}

func (c *Console) runLane(ctx context.Context, n *names, r projections.Run, calls []projections.Call) lane {
	end := c.now()
	words := "has run "
	if r.Finished != nil {
		end, words = at(r.EndedAt), "took "
	}
	l := lane{at: r.At, view: laneView{
		Key: "run " + visible.String(r.ID), Run: true, Thing: []visible.Span{{Text: n.of(ctx, r.Principal), Count: 1}}, Chip: runChip(r),
		Times: words + span(end.Sub(at(r.At))),
	}}
	if b, err := c.views.Text(ctx, r.EventID, r.Query); err == nil {
		l.view.Summary = visible.Line(string(b), 120)
	}
	l.bars = c.modelBars(ctx, r, calls, end)
	return l
}

func runChip(r projections.Run) chip {
	switch {
	case r.Finished == nil && r.Cancelled != nil:
		return chip{"gone", "cross", "Being cancelled"}
	case r.Finished == nil:
		return chip{"busy", "clock", "Running"}
	}
	switch r.Finished.Reason {
	case events.FinishCancelled:
		return chip{"gone", "cross", "Cancelled"}
	case events.FinishError:
		return chip{"no", "warn", "Failed"}
	case events.FinishLimit, events.FinishLength:
		return chip{"odd", "warn", "At a limit"}
	case events.FinishToolCalls, events.FinishStop, events.FinishReturnDirect:
	}
	return chip{"gone", "check", "Ended"}
}

// modelBars are the turns of the model in a run: from what it was waiting for
// until its round was recorded, and from the last result until the run's end.
func (c *Console) modelBars(ctx context.Context, r projections.Run, calls []projections.Call, end time.Time) []bar {
	from := at(r.At)
	var bars []bar
	var batch string
	for _, call := range calls {
		if call.BatchID != batch {
			batch = call.BatchID
			if round, err := c.views.Round(ctx, r.Session, batch); err == nil && at(round.At).After(from) {
				words := "The model's turn, " + span(at(round.At).Sub(from)) + ": it asked for " + count(round.Calls, "tool", "tools")
				bars = append(bars, bar{kind: "model", from: from, to: at(round.At), words: words})
			}
		}
		from = later(from, lastSeen(call))
	}
	if open := len(calls) > 0 && calls[len(calls)-1].Result == nil; open || !end.After(from) {
		return bars
	}
	words := "The model's turn, " + span(end.Sub(from)) + ", until the run " + strings.ToLower(runChip(r).Word)
	if r.Finished == nil {
		words = "The model's turn, " + span(end.Sub(from)) + " so far"
	}
	return append(bars, bar{kind: "model", from: from, to: end, words: words})
}

// lastSeen is the last time that a call is known to have been at.
func lastSeen(c projections.Call) time.Time {
	switch {
	case c.Result != nil:
		return at(c.Result.At)
	case c.Start != nil:
		return at(c.Start.At)
	}
	return at(c.At)
}
