package ui

import (
	"fmt"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// waiting counts the undecided requests for any reader, without asking the
// views: by who may see them, of which there are few kinds.
type waiting struct {
	requests map[string]waits  // by id
	crowds   map[string]*crowd // by audience
}

// waits is an undecided request.
type waits struct{ session, crowd string }

// crowd is so many requests of one audience.
type crowd struct {
	audience *projections.Audience
	requests int
}

func newWaiting(all []projections.Waiting) *waiting {
	w := &waiting{requests: make(map[string]waits, len(all)), crowds: map[string]*crowd{}}
	for _, q := range all {
		w.add(q.Request, q.Session, q.Audience)
	}
	return w
}

func crowdOf(a *projections.Audience) string { return fmt.Sprintf("%q %q", a.Principal, a.Asked) }

// count is how many requests wait that a reader may see.
func (w *waiting) count(r projections.Reader) (n int) {
	for _, c := range w.crowds {
		if r.Sees(c.audience) {
			n += c.requests
		}
	}
	return n
}

// apply takes up what a notice tells.
func (w *waiting) apply(n *projections.Notice) {
	if n.Request == "" || n.Audience == nil {
		return
	}
	if n.Type == events.TypeApprovalRequest {
		w.widen(n.Session, n.Audience) // who is asked now may see what waited before
	}
	was, there := w.requests[n.Request]
	if there && was.session != n.Session {
		return // another session names it, to no effect
	}
	if n.Waits {
		w.add(n.Request, n.Session, n.Audience)
	} else if there {
		w.remove(n.Request)
	}
}

// add adds a request, or moves it to another audience.
func (w *waiting) add(request, session string, a *projections.Audience) {
	w.remove(request)
	key := crowdOf(a)
	c := w.crowds[key]
	if c == nil {
		c = &crowd{audience: a}
		w.crowds[key] = c
	}
	c.requests++
	w.requests[request] = waits{session, key}
}

func (w *waiting) remove(request string) {
	was, there := w.requests[request]
	if !there {
		return
	}
	delete(w.requests, request)
	if c := w.crowds[was.crowd]; c.requests > 1 {
		c.requests--
	} else {
		delete(w.crowds, was.crowd)
	}
}

func (w *waiting) widen(session string, a *projections.Audience) {
	key := crowdOf(a)
	for id, was := range w.requests {
		if was.session == session && was.crowd != key {
			w.add(id, session, a) // once: it then is of that crowd
		}
	}
}
