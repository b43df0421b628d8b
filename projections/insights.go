package projections

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// ErrSpan is for insights of a span that ends before it begins, or that is
// longer than MaxSpan.
var ErrSpan = errors.New("the span of insights is not one")

// MaxSpan bounds what insights are asked for at once.
const MaxSpan = 400 * 24 * time.Hour

// The steps of insights, in UTC. A span up to fewHours is shown by the hour.
const (
	hourly   = time.Hour
	daily    = 24 * time.Hour
	fewHours = 48 * time.Hour
)

// OtherTool stands for all tools that no definition names, and for those beyond
// the first hundred: a model can make up names without end.
const OtherTool = "_other"

// Insights are what happened in a span of log time, from totals that are kept
// with the position: no call is read for them.
type Insights struct {
	From  time.Time     // the first step begins; UTC
	Until time.Time     // the last step has ended; UTC
	Step  time.Duration // an hour, or a day, of UTC
	Steps []Interval    // the oldest first; those in which nothing happened as well

	Decisions    []DecisionCount // ends of requests, by what ended them; the most frequent first
	TimeToDecide Distribution    // from request to a person's decision
	Tools        []ToolStat      // as ToolStats
	Reviewers    []ReviewerStat  // who decided most first

	Pending       int       // undecided now, whatever the span
	OldestPending time.Time // log time of the oldest; zero where there is none
}

// Interval is one step of insights.
type Interval struct {
	From         time.Time // of one Step
	Calls        Outcomes  // that ended in the step
	Proposed     int       // calls asked for
	Decisions    map[RequestEnd]int
	TimeToDecide Distribution // of people
}

// Outcomes count calls by how they ended.
type Outcomes map[events.Status]int

// Total is how many calls ended.
func (o Outcomes) Total() (n int) {
	for _, count := range o {
		n += count
	}
	return n
}

// Statuses are the ways in which calls end, in the order in which they are
// shown.
func Statuses() []events.Status {
	return []events.Status{
		events.StatusOK, events.StatusError, events.StatusAmbiguous, events.StatusDeclined, events.StatusExpired,
		events.StatusCancelled, events.StatusStale,
	}
}

// RequestEnd is how a request ended, in one word: the label decision of the
// metrics.
type RequestEnd string

// The ends of a request.
const (
	EndApproved  RequestEnd = "approved"
	EndModified  RequestEnd = "approved_modified"
	EndDeclined  RequestEnd = "declined"
	EndExpired   RequestEnd = "expired"   // nobody answered in time
	EndCancelled RequestEnd = "cancelled" // its run was cancelled, or it was asked anew
	EndStale     RequestEnd = "stale"     // tool or policy changed while it waited
	EndFailed    RequestEnd = "failed"    // the gate could not go on with it
)

// RequestEnds are all of them, in the order in which they are shown.
func RequestEnds() []RequestEnd {
	return []RequestEnd{EndApproved, EndModified, EndDeclined, EndExpired, EndCancelled, EndStale, EndFailed}
}

// Decider is who ended a request: the label decided_by of the metrics.
type Decider string

// The deciders. Policy decides before a request is made, so it is none of them.
const (
	DeciderHuman   Decider = "human"
	DeciderHandler Decider = "handler" // a program's approval handler
	DeciderSystem  Decider = "system"  // the gate itself: a time-out, a cancellation
)

// Deciders are all of them.
func Deciders() []Decider { return []Decider{DeciderHuman, DeciderHandler, DeciderSystem} }

// DecisionCount is how many requests ended in one way.
type DecisionCount struct {
	End     RequestEnd
	Decider Decider
	Cause   events.Cause
	Count   int
}

// ToolStat is what came of one tool.
type ToolStat struct {
	Tool     string // OtherTool for those that no definition names
	Calls    int    // asked for in the span
	Outcomes Outcomes
	Asked    int          // calls about which people were asked
	Approved int          // of the requests that ended, those that were approved, as asked or changed
	Declined int          // and those that a person or handler declined
	Duration Distribution // of what ran; waiting is not in it

	// Whatever the span; zero where it never happened.
	LastCalled time.Time
	Changed    time.Time     // when its definition last became another, or was first given
	Definition events.Digest // the definition as it is now
}

// ReviewerStat is how one person decides. A person's decision counts where the
// fold says so, also where the quorum needs more.
type ReviewerStat struct {
	Person    string // the id
	Decisions int
	Approvals int // as asked or changed
	Changes   int // of these, with other arguments
	Declines  int
	// TimeToDecide is from when the request was first shown to the person, as
	// far as the log tells, or else from when it was made.
	TimeToDecide Distribution
	// Quick are decisions within QuickDecision of that moment, and Unseen those
	// for which the log does not tell that the person was shown the request.
	Quick  int
	Unseen int
	// LongestRun is the most approvals in a row without a decline, as of the
	// decisions in the span: a run that began before it counts whole.
	LongestRun int
}

// QuickDecision is the time within which nobody reads a request.
const QuickDecision = 2 * time.Second

// Insights returns what happened between two moments of log time, widened to
// whole steps: hours for a span of up to two days, else days. ErrSpan where
// there is nothing between them, or more than MaxSpan.
func (v *Views) Insights(ctx context.Context, from, until time.Time) (Insights, error) {
	s, err := spanOf(from, until)
	if err != nil {
		return Insights{}, err
	}
	return v.insights(ctx, s)
}

// ToolStats returns what came of each tool between two moments, as Insights
// does: the most called first, and those that were defined and never called.
func (v *Views) ToolStats(ctx context.Context, from, until time.Time) ([]ToolStat, error) {
	s, err := spanOf(from, until)
	if err != nil {
		return nil, err
	}
	return v.toolStats(ctx, s)
}

// span is a span of whole steps.
type span struct {
	from, until time.Time
	step        time.Duration
}

func spanOf(from, until time.Time) (span, error) {
	length := until.Sub(from)
	if length <= 0 || length > MaxSpan {
		return span{}, fmt.Errorf("%w: from %v until %v; the end must come after the begin, at most %d days later",
			ErrSpan, from.UTC(), until.UTC(), int(MaxSpan/daily))
	}
	s := span{step: hourly}
	if length > fewHours {
		s.step = daily
	}
	s.from, s.until = from.UTC().Truncate(s.step), until.UTC().Truncate(s.step)
	if s.until.Before(until) {
		s.until = s.until.Add(s.step)
	}
	return s, nil
}
