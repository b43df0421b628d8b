package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
)

// via is how this package names itself in events.
const via = "chat-api"

// admit says who sends a request, and whether the route is for them. What it
// refuses is on the record.
func (a *API) admit(r *http.Request, to route) (auth.Identity, error) {
	if to.needs == anyone {
		return auth.Identity{}, nil
	}
	who, err := a.opt.Auth.FromRequest(r)
	switch {
	case errors.Is(err, auth.ErrNoCredentials):
		a.recordStranger(r, to, "no credentials")
		return who, err
	case errors.Is(err, auth.ErrBadCredentials):
		a.recordStranger(r, to, "unknown or expired credentials")
		return who, err
	case err != nil:
		return who, fmt.Errorf("find out who asks: %w", err)
	case !who.Can(to.needs):
		return who, a.forbid(r, who, to.action, to.needs, "another token is needed")
	}
	return who, nil
}

// forbid records an attempt at what somebody may not do, and says so.
func (a *API) forbid(r *http.Request, who auth.Identity, action string, needs auth.Permission, advice string) error {
	why := fmt.Sprintf("this needs the permission %q, which your roles do not have", needs)
	a.record(r, a.refused.of(who.Person), &events.Access{Action: action, Actor: who.Actor(), Reason: why})
	return refuse(http.StatusForbidden, "forbidden", "%s: %s", why, advice)
}

// recordStranger records an attempt of nobody known.
func (a *API) recordStranger(r *http.Request, to route, why string) {
	a.record(r, a.strange, &events.Access{Action: to.action, Reason: why})
}

// recordWithin bounds how long a refusal waits for its record.
const recordWithin = 5 * time.Second

// record keeps a refusal on the record, also where who asked has gone away.
// Attempts can be made without end, so beyond what the meter lets through they
// are counted, and the count stands in the next record. That one could not be
// kept is logged, and changes nothing for who asked.
func (a *API) record(r *http.Request, m *meter, e *events.Access) {
	missed, ok := m.take()
	if !ok {
		return
	}
	if missed > 0 {
		e.Reason = fmt.Sprintf("%s (and %d more refused attempts before it)", e.Reason, missed)
	}
	e.Outcome, e.Via = events.AccessRefused, via
	ctx, done := context.WithTimeout(context.WithoutCancel(r.Context()), recordWithin)
	defer done()
	if err := a.opt.Recorder.Record(ctx, e, ""); err != nil {
		a.logger.ErrorContext(ctx, "a refused attempt could not be recorded", "action", e.Action, "reason", e.Reason, "error", err)
	}
}
