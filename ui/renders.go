package ui

import (
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/events"
)

const (
	renderLife = time.Hour
	maxRenders = 20_000
)

// renders remembers which page showed which text to whom, so that a decision
// can say what the server had delivered before it. An id serves once.
type renders struct {
	now func() time.Time

	mu  sync.Mutex
	all map[string]rendered // mu
	old []string            // mu; ids, the oldest first
}

type rendered struct {
	person, request string
	digest          events.Digest
	at              time.Time
}

func newRenders(now func() time.Time) *renders {
	return &renders{now: now, all: map[string]rendered{}}
}

// issue returns the id of a page that shows a request's text to a person.
func (r *renders) issue(person, request string, digest events.Digest) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	id := uuid.NewString()
	r.all[id] = rendered{person: person, request: request, digest: digest, at: r.now()}
	r.old = append(r.old, id)
	for len(r.old) > maxRenders {
		delete(r.all, r.old[0])
		r.old = r.old[1:]
	}
	return id
}

// redeem returns what was delivered under an id, and forgets it; nil where
// this server did not deliver that text to that person within the last hour.
func (r *renders) redeem(id, person, request string, digest events.Digest) *events.Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	d, ok := r.all[id]
	delete(r.all, id)
	if !ok || d.person != person || d.request != request || d.digest != digest || r.now().Sub(d.at) > renderLife {
		return nil
	}
	return &events.Seen{Render: id, Digest: digest}
}
