package ui

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

// admit says who sends a request, and whether the route is for them.
func (c *Console) admit(r *http.Request, who access) (auth.Identity, error) {
	if who == anyone {
		return auth.Identity{}, nil
	}
	id, err := c.opt.Auth.FromRequest(r)
	switch {
	case errors.Is(err, auth.ErrNoCredentials), errors.Is(err, auth.ErrBadCredentials):
		return auth.Identity{}, errSignIn
	case err != nil:
		return auth.Identity{}, err
	case !mayRead(id):
		return id, errNoRole
	case who == auditors && !id.Can(auth.Audit):
		return id, errNoAudit
	case who == decider && !id.Can(auth.Decide):
		return id, errNoDecide
	case who == admins && !id.Can(auth.Administer):
		return id, errNoAdmin
	case (who == decider || who == admins) && c.opt.ReadOnly != "":
		return id, errReadOnly
	}
	return id, nil
}

// mayRead reports whether somebody has business in the console.
func mayRead(id auth.Identity) bool { return id.Can(auth.Review) || id.Can(auth.Audit) }

// reader is whose eyes lists are for.
func reader(id auth.Identity) projections.Reader {
	return projections.Reader{All: id.Can(auth.Audit), Reviewer: id.Can(auth.Review), Person: id.Person, Groups: id.Groups}
}

// mayReadSession fails where a session is not for the reader. What does not
// exist and what one may not see are told apart only for those who see all.
func (c *Console) mayReadSession(ctx context.Context, id auth.Identity, session string) error {
	may, err := c.views.MayRead(ctx, reader(id), session)
	switch {
	case err != nil:
		return err
	case may:
		return nil
	case id.Can(auth.Audit):
		return errNotFound
	default:
		return unseenError{thing: "session " + session}
	}
}

// via is how the console names itself in events.
const via = "console"

// recordWithin bounds how long an answer waits for the record of an act.
const recordWithin = 5 * time.Second

// record keeps an act on the record, also where who did it has gone away. A log
// that takes nothing new must not keep people from deciding, for which it keeps
// room: the failure is logged.
func (c *Console) record(ctx context.Context, a *events.Access, session string) {
	a.Via = via
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), recordWithin)
	defer done()
	if err := c.opt.Recorder.Record(ctx, a, session); err != nil {
		c.logger.ErrorContext(ctx, "an act could not be recorded", "action", a.Action, "outcome", a.Outcome, "error", err.Error())
	}
}

// note records that a person was shown payloads of a thing: once a person,
// thing and hour, also over a restart.
func (c *Console) note(ctx context.Context, id auth.Identity, thing, session string) {
	hour := c.now().Truncate(time.Hour)
	if !c.viewed.first(id.Person, thing, hour) {
		return
	}
	if done, err := c.views.Acted(ctx, id.Person, "view", thing, hour); err == nil && done {
		return
	}
	c.record(ctx, &events.Access{Action: "view", Outcome: events.AccessOK, Actor: id.Actor(), Resource: thing}, session)
}

// viewed remembers the views of this hour.
type viewed struct {
	mu   sync.Mutex
	hour time.Time           // mu
	seen map[string]struct{} // mu
}

func newViewed() *viewed { return &viewed{seen: map[string]struct{}{}} }

func (v *viewed) first(person, thing string, hour time.Time) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !v.hour.Equal(hour) {
		v.hour = hour
		clear(v.seen)
	}
	key := strconv.Quote(person) + thing
	if _, ok := v.seen[key]; ok {
		return false
	}
	v.seen[key] = struct{}{}
	return true
}
