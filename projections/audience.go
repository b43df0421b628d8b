package projections

import (
	"context"
	"errors"
	"slices"
	"strings"
)

// Audience is who may see a session besides auditors: whose it is, and who was
// ever asked in it. What Reader.where asks of the tables, Reader.Sees asks of it,
// for who tells many readers of one thing.
type Audience struct {
	Principal string   // "": nobody's
	Asked     []string // as in table asked, sorted
}

// Sees reports whether a reader may see a session of that audience.
func (r Reader) Sees(a *Audience) bool {
	switch {
	case r.All:
		return true
	case a.Principal != "" && a.Principal == r.Person:
		return true
	case !r.Reviewer:
		return false
	}
	return slices.ContainsFunc(a.Asked, func(approver string) bool {
		if group, ok := strings.CutPrefix(approver, "group:"); ok {
			return slices.Contains(r.Groups, group)
		}
		person, ok := strings.CutPrefix(approver, "person:")
		return approver == everyReviewer || ok && person == r.Person
	})
}

// audience returns who may see a session as the views stand.
func audience(ctx context.Context, q querier, session string) (*Audience, error) {
	a := &Audience{}
	var err error
	if a.Principal, err = first(ctx, q, one[string], "SELECT principal FROM sessions WHERE id = ?", session); err != nil && !errors.Is(err, ErrNotFound) {
		return nil, err
	}
	a.Asked, err = list(ctx, q, one[string], "SELECT approver FROM asked WHERE session = ? ORDER BY approver", session)
	return a, err
}

// CountPending returns how many undecided requests a reader may see.
func (v *Views) CountPending(ctx context.Context, r Reader) (int, error) {
	if v.stands() {
		all, err := v.standIn.pending(ctx, r)
		return len(all), err
	}
	if r.All {
		return v.Status().Pending, nil
	}
	where, args := r.where("q.session")
	return first(ctx, v.db, one[int], "SELECT count(*) FROM requests q WHERE q.state = 'pending'"+where, args...)
}

// Waiting is an undecided request, and who may see it.
type Waiting struct {
	Request, Session string
	Audience         *Audience
}

// Waiting returns all undecided requests.
func (v *Views) Waiting(ctx context.Context) ([]Waiting, error) {
	asked := map[string][]string{}
	_, err := list(ctx, v.db, func(scan func(...any) error) (struct{}, error) {
		var session, approver string
		err := scan(&session, &approver)
		asked[session] = append(asked[session], approver)
		return struct{}{}, err
	}, "SELECT session, approver FROM asked WHERE session IN (SELECT session FROM requests WHERE state = 'pending') ORDER BY session, approver")
	if err != nil {
		return nil, err
	}
	return list(ctx, v.db, func(scan func(...any) error) (w Waiting, err error) {
		w.Audience = &Audience{}
		err = scan(&w.Request, &w.Session, &w.Audience.Principal)
		w.Audience.Asked = asked[w.Session]
		return w, err
	}, "SELECT q.id, q.session, coalesce(s.principal, '') FROM requests q LEFT JOIN sessions s ON s.id = q.session WHERE q.state = 'pending'")
}
