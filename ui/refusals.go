package ui

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
)

// unseenError is errNotYours, with what it was about: for the record alone. It is the
// same whether there is such a thing or not, so that nobody learns which.
type unseenError struct {
	thing string
	none  bool // there is no such thing: for what we count, which says of nobody what they asked for
}

func (e unseenError) Error() string { return errNotYours.Error() }

func (e unseenError) Is(target error) bool { return target == errNotYours }

// refusedThing is what somebody wanted to see who may not: what the error names,
// or else the page.
func refusedThing(path string, err error) string {
	e, _ := errors.AsType[unseenError](err)
	return clip(cmp.Or(e.thing, path))
}

// refusal keeps on the record that somebody was refused a thing: once a person,
// thing, reason and hour, and of one person not more than maxRefusals an hour, the
// last of which says so. The record belongs to no session: what was asked for may
// be none, and whoever asks must not write into the record of a session that is
// not theirs.
func (c *Console) refusal(ctx context.Context, id auth.Identity, thing, reason string) {
	a := &events.Access{Action: "open", Outcome: events.AccessRefused, Actor: id.Actor(), Resource: thing, Reason: clip(reason)}
	switch n := c.refusals.add(id.Person, thing+"\n"+reason, c.now().Truncate(time.Hour)); {
	case n == 0 || n > maxRefusals:
		return
	case n == maxRefusals:
		a.Resource, a.Reason = "", "refused too many things in this hour: what else is refused until its end is not recorded"
	}
	c.record(ctx, a, "")
}

// maxRefusals is how many refusals of one person are recorded in an hour: they
// must not fill the log.
const maxRefusals = 100

// refusals remembers what people were refused in this hour.
type refusals struct {
	mu   sync.Mutex
	hour time.Time                      // mu
	seen map[string]map[string]struct{} // mu; by person
}

func newRefusals() *refusals { return &refusals{seen: map[string]map[string]struct{}{}} }

// add returns the how manieth of a person's refusals in an hour one is; 0 where it
// was there before, or is beyond those that are counted.
func (r *refusals) add(person, what string, hour time.Time) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.hour.Equal(hour) {
		r.hour = hour
		clear(r.seen)
	}
	mine := r.seen[person]
	if mine == nil {
		mine = map[string]struct{}{}
		r.seen[person] = mine
	}
	if _, ok := mine[what]; ok || len(mine) >= maxRefusals {
		return 0
	}
	mine[what] = struct{}{}
	return len(mine)
}
