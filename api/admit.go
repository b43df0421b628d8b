package api

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
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
	a.record(r, &events.Access{Action: action, Actor: who.Actor(), Reason: why})
	return refuse(http.StatusForbidden, "forbidden", "%s: %s", why, advice)
}

// record keeps a refusal on the record. That it could not be kept is logged,
// and changes nothing for who asked.
func (a *API) record(r *http.Request, e *events.Access) {
	e.Outcome, e.Via = events.AccessRefused, via
	if err := a.opt.Recorder.Record(r.Context(), e, ""); err != nil {
		a.logger.ErrorContext(r.Context(), "a refused attempt could not be recorded", "action", e.Action, "reason", e.Reason, "error", err)
	}
}

// recordStranger records an attempt of nobody known. Everybody who reaches the
// port can make those, so beyond a rate they are counted, and the count stands
// in the next record.
func (a *API) recordStranger(r *http.Request, to route, why string) {
	missed, ok := a.strange.take()
	if !ok {
		return
	}
	if missed > 0 {
		why = fmt.Sprintf("%s (and %d more attempts without good credentials before it)", why, missed)
	}
	a.record(r, &events.Access{Action: to.action, Reason: why})
}

const (
	strangers      = 20          // records about strangers at once
	strangersEvery = time.Second // and then one each
)

// meter lets a burst through, and then one each second.
type meter struct {
	now func() time.Time

	mu     sync.Mutex
	full   time.Time // when a whole burst may come again; mu
	missed int       // since the last that was let through; mu
}

func newMeter(now func() time.Time) *meter { return &meter{now: now} }

// take reports whether one is let through, and how many were not before it.
func (m *meter) take() (missed int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.full.Before(now) {
		m.full = now
	}
	if m.full.Sub(now) > (strangers-1)*strangersEvery {
		m.missed++
		return 0, false
	}
	m.full = m.full.Add(strangersEvery)
	missed, m.missed = m.missed, 0
	return missed, true
}
