package projections

import (
	"context"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// reviews is what counting remembers of people's decisions.
type reviews struct {
	// shown is when a person was first shown a request that waits, by request and
	// person: log times.
	shown map[string]map[string]int64
	// streaks are how many approvals each person has given since the last decline.
	streaks map[string]int64
}

func loadReviews(ctx context.Context, q querier) (reviews, error) {
	r := reviews{shown: map[string]map[string]int64{}, streaks: map[string]int64{}}
	_, err := list(ctx, q, func(scan func(...any) error) (struct{}, error) {
		var request, person string
		var at int64
		err := scan(&request, &person, &at)
		r.see(request, person, at)
		return struct{}{}, err
	}, "SELECT request, person, at FROM shown")
	if err != nil {
		return r, err
	}
	_, err = list(ctx, q, func(scan func(...any) error) (struct{}, error) {
		var person string
		var n int64
		err := scan(&person, &n)
		r.streaks[person] = n
		return struct{}{}, err
	}, "SELECT person, n FROM streaks")
	return r, err
}

// see notes that a person was shown a request; false where that is not the first
// time.
func (r reviews) see(request, person string, at int64) bool {
	people := r.shown[request]
	if people == nil {
		people = map[string]int64{}
		r.shown[request] = people
	}
	if _, before := people[person]; before {
		return false
	}
	people[person] = at
	return true
}

// seen is a row of table shown.
type seen struct {
	request, person string
	at              int64
}

// access notes when a person was first shown a request that waits.
func (d *delta) access(r folded, e *events.Access) {
	if e.Action != actView || e.Outcome != events.AccessOK || e.Actor == nil || r.session == nil {
		return
	}
	q := r.session.Requests[e.Resource]
	if q != nil && q.State == fold.Pending && d.book.reviews.see(q.RequestID, e.Actor.Person, r.LogTime) {
		d.shown = append(d.shown, seen{q.RequestID, e.Actor.Person, r.LogTime})
	}
}

// actView is the act of being shown a thing, as the console records it.
const actView = "view"

// review adds what a person said of a request, and how long it took since the
// person was shown it, or since it was made.
func (d *delta) review(r folded, q *fold.Request, e *events.Decision) {
	person := e.Actor.Person
	from, shown := d.book.reviews.shown[q.RequestID][person]
	if !shown {
		from = q.At.LogTime
		d.addAt(r.LogTime, famReviews, labels{person, reviewUnseen}, tally{n: 1})
	}
	took := micros(r.LogTime - from)
	d.addAt(r.LogTime, famReviews, labels{person, string(e.Verdict)}, tally{n: 1})
	d.observeAt(r.LogTime, famReviewTimes, labels{person}, waitBounds(), took)
	if took <= QuickDecision {
		d.addAt(r.LogTime, famReviews, labels{person, reviewQuick}, tally{n: 1})
	}
	streak := d.book.reviews.streaks[person] + 1
	if e.Verdict == events.VerdictDecline {
		streak = 0
	}
	d.book.reviews.streaks[person], d.streaks[person] = streak, streak
	d.addAt(r.LogTime, famReviewStreak, labels{person}, tally{n: streak})
}

// dwelt adds how long the person who ended a request had looked at it.
func (d *delta) dwelt(q *fold.Request, end RequestEnd) {
	if at, shown := d.book.reviews.shown[q.RequestID][q.End.Actor.Person]; shown && at <= q.End.At.LogTime {
		d.observe(famDwell, labels{string(end)}, waitBounds(), micros(q.End.At.LogTime-at))
	}
}

// micros is a span of log time.
func micros(n int64) time.Duration { return time.Duration(max(0, n)) * time.Microsecond }
