package gate

import (
	"context"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Class is the kind of reason for which a ruling had no effect, for counting:
// Answer.Reason is for people.
type Class string

// The classes. An accepted ruling has none.
const (
	ClassUnknown   Class = "unknown"         // there is no such request
	ClassDecided   Class = "already_decided" // the request had ended, and not by time
	ClassExpired   Class = "expired"
	ClassForbidden Class = "forbidden"       // its terms do not admit who rules
	ClassMismatch  Class = "digest_mismatch" // it is not about the current text
	ClassInvalid   Class = "invalid"         // anything else: arguments that cannot run, a key used twice
)

// classOf says why a ruling had no effect that was about the current text: by how
// the request stands now.
func (g *Gate) classOf(ctx context.Context, r Ruling) Class {
	id, err := g.sessionOf(ctx, r.RequestID)
	if err != nil || id == "" {
		return ClassUnknown
	}
	class := ClassUnknown
	err = g.View(ctx, id, func(s *fold.Session) {
		if q := s.Requests[r.RequestID]; q != nil {
			class = g.classIn(q, r)
		}
	})
	if err != nil {
		return ClassInvalid
	}
	return class
}

// classIn is called under the gate's lock.
func (g *Gate) classIn(q *fold.Request, r Ruling) Class {
	switch {
	case q.State != fold.Pending && q.End != nil && q.End.Cause == events.CauseTimeout, q.State == fold.Pending && g.now().After(q.Deadline):
		return ClassExpired
	case q.State != fold.Pending:
		return ClassDecided
	case !r.may(q):
		return ClassForbidden
	}
	return ClassInvalid
}
