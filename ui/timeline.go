package ui

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// maxLanes is how many runs and calls a timeline draws: the last ones.
const maxLanes = 30

// timelineView is the calls of a session over time: a row a run and a call.
type timelineView struct {
	Lanes  []laneView
	Ticks  []tick
	Breaks []barView // idle times, drawn short in each track
	Idle   string    // what is drawn short, in words; "" where nothing is
	Cut    string    // what is not drawn; "" where all is
	All    string    // the path of all calls
}

// laneView is a row: who, what, when, and how it ended. Its words say all that
// its bars show.
type laneView struct {
	Key     string // for the script: the same in each version of the row
	Run     bool
	Depth   int            // how deep in subagents
	Agent   string         // the subagent; "" where it is the run's own
	Thing   []visible.Span // the tool, or who asked
	Summary []visible.Span // theirs: the arguments or the query, in a line
	Href    string
	Chip    chip
	Times   string
	Bars    []barView
}

// barView is a piece of a row's track.
type barView struct {
	Kind     string // wait, run, bad, odd, model, point, gap
	X, Width string
	Title    string
}

// lane is a row before the axis is known.
type lane struct {
	view laneView
	at   events.Position
	bars []bar
}

type bar struct {
	kind     string
	from, to time.Time
	words    string
}

// timeline draws the last calls of a session.
func (c *Console) timeline(ctx context.Context, n *names, s projections.Session) (timelineView, error) {
	page, err := c.views.History(ctx, projections.Filter{Session: s.ID, Reader: projections.Everything()}, "", maxLanes)
	if err != nil {
		return timelineView{}, err
	}
	v := timelineView{All: historyPath("session", s.ID)}
	calls := page.Items
	slices.Reverse(calls)
	lanes := c.runLanes(ctx, n, s, calls, page.Next == "")
	for _, call := range calls {
		lanes = append(lanes, c.callLane(ctx, call))
	}
	slices.SortStableFunc(lanes, func(a, b lane) int { return a.at.Compare(b.at) })
	v.draw(lanes[max(0, len(lanes)-maxLanes):])
	drawn := 0
	for _, l := range v.Lanes {
		if !l.Run {
			drawn++
		}
	}
	if drawn < s.Calls {
		v.Cut = "The last " + group(drawn) + " of " + count(s.Calls, "call", "calls") + " are drawn."
	}
	return v, nil
}

// draw puts the lanes onto an axis of their own.
func (v *timelineView) draw(lanes []lane) {
	var busy []stretch
	for _, l := range lanes {
		for _, b := range l.bars {
			busy = append(busy, stretch{From: b.from, To: b.to})
		}
	}
	a := newAxis(busy)
	v.Ticks = a.ticks()
	idle := a.idle()
	for _, s := range idle {
		words := "Nothing happened for " + span(s.To.Sub(s.From)) + ", from " + clock(s.From) + " to " + clock(s.To)
		v.Breaks = append(v.Breaks, barView{Kind: "gap", X: ofWidth(s.X), Width: ofWidth(s.Width), Title: words})
	}
	if len(idle) > 0 {
		v.Idle = count(len(idle), "idle time is", "idle times are") + " drawn short, the longest of " + span(idle[0].To.Sub(idle[0].From))
	}
	for _, l := range lanes {
		for _, b := range l.bars {
			l.view.Bars = append(l.view.Bars, b.on(a))
		}
		v.Lanes = append(v.Lanes, l.view)
	}
}

// thinnest is how thin a bar gets, in percent: what took a millisecond is seen.
const thinnest = 0.4

func (b bar) on(a axis) barView {
	x, end := a.at(b.from), a.at(b.to)
	width := max(thinnest, end-x)
	return barView{Kind: b.kind, X: ofWidth(min(x, 100-width)), Width: ofWidth(width), Title: b.words}
}

// callLane is a call with its waiting and its running.
func (c *Console) callLane(ctx context.Context, call projections.Call) lane {
	ref, carrier := call.Current()
	l := lane{at: call.At, view: laneView{
		Key: visible.String(call.Key().String()), Thing: visible.Line(call.Tool, 60), Summary: c.summaryOf(ctx, carrier, ref), Chip: callChip(call),
		Href: callPath(call.Session, call.CallKey), Agent: visible.String(call.Agent.Path), Depth: depth(call.Agent.Path),
	}}
	l.bars = callBars(call.Call, c.now())
	words := make([]string, 0, len(l.bars))
	for _, b := range l.bars {
		if b.kind != "point" {
			words = append(words, strings.ToLower(b.words[:1])+b.words[1:])
		}
	}
	l.view.Times = strings.Join(words, ", ")
	return l
}

// depth is how many subagents a path goes down, as far as a page shows it.
func depth(path string) int {
	if path == "" {
		return 0
	}
	return min(3, 1+strings.Count(path, "/"))
}

// callBars are the times of a call: what waits ends now.
func callBars(c fold.Call, now time.Time) []bar {
	var bars []bar
	if q := c.Request; q != nil {
		end := now
		switch {
		case q.End != nil:
			end = at(q.End.At)
		case c.Result != nil:
			end = at(c.Result.At)
		}
		b := bar{kind: "wait", from: at(q.At), to: later(at(q.At), end)}
		b.words = "Waited " + span(b.to.Sub(b.from))
		if q.State == fold.Pending {
			b.words = "Has waited " + span(b.to.Sub(b.from))
		}
		bars = append(bars, b)
	}
	if c.Start != nil {
		bars = append(bars, running(c, now))
	}
	if len(bars) == 0 {
		bars = append(bars, bar{kind: "point", from: at(c.At), to: at(c.At), words: "Asked for at " + clock(at(c.At))})
	}
	return bars
}

func running(c fold.Call, now time.Time) bar {
	b := bar{kind: "run", from: at(c.Start.At), to: later(at(c.Start.At), now)}
	if c.Result == nil {
		b.words = "Has run " + span(b.to.Sub(b.from))
		return b
	}
	b.to = at(c.Result.At)
	took := span(b.to.Sub(b.from))
	switch c.Result.Status {
	case events.StatusError:
		b.kind, b.words = "bad", "Failed after "+took
	case events.StatusAmbiguous:
		b.kind, b.words = "odd", "Ran at least until it was lost, known "+took+" later"
	case events.StatusOK, events.StatusDeclined, events.StatusExpired, events.StatusCancelled, events.StatusStale:
		b.words = "Ran " + took
	}
	return b
}
