package ui

import (
	"context"
	"iter"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

// accessExport exports the acts of a lookup: the same, in the same order, as
// paging through it shows.
func (c *Console) accessExport(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, accessParams()...)
	if err != nil {
		return err
	}
	l, err := c.accessLookupOf(p)
	if err != nil {
		return err
	}
	format, err := formatOf(w, r)
	if err != nil {
		return err
	}
	return c.export(w, r, id, export{
		name: "access", format: format, filter: l.fixed().all(), record: l.fixed().all(), columns: actColumns(), rows: c.exportedActs(r.Context(), l),
	})
}

// exportedActs yields the acts of a lookup, the newest first.
func (c *Console) exportedActs(ctx context.Context, l accessLookup) iter.Seq2[exportRow, error] {
	n := c.names()
	return paged(func(cursor string) (projections.Page[projections.Access], error) {
		return c.views.AccessLog(ctx, l.AccessFilter, cursor, exportRows)
	}, func(a projections.Access) (exportRow, error) {
		row := &actRow{
			Position: a.At, Time: events.Micros(a.At.LogTime), Session: a.Session, Action: a.Action, Outcome: a.Outcome, Resource: a.Resource,
			Reason: a.Reason, Via: a.Via, Actor: a.Actor,
		}
		if a.Actor != nil {
			row.By = &exportPerson{a.Actor.Person, n.of(ctx, a.Actor.Person)}
		}
		return row, nil
	})
}

// actRow is an act as it is exported. Members are added, never renamed.
type actRow struct {
	Position events.Position `json:"position"`
	Time     events.Time     `json:"time"` // log time
	Action   string          `json:"action"`
	Outcome  string          `json:"outcome"`
	By       *exportPerson   `json:"by"` // null where nobody was signed in
	Resource string          `json:"resource"`
	Reason   string          `json:"reason"`
	Session  string          `json:"session"`
	Via      string          `json:"via"`
	Actor    *events.Actor   `json:"actor"` // with the credential, the roles and the method of that moment
}

func (r *actRow) place() events.Position { return r.Position }

// actColumns are the columns of a CSV of acts.
func actColumns() []string {
	return []string{
		"time_utc", "position", "outcome", "action", "by", "person", "roles", "method", "resource", "reason", "session", "via",
	}
}

func (r *actRow) cells() []string {
	cells := map[string]string{
		"time_utc": stamp(r.Time.Time), "position": r.Position.String(), "outcome": r.Outcome, "action": cellOf([]byte(r.Action)),
		"resource": cellOf([]byte(r.Resource)), "reason": cellOf([]byte(r.Reason)), "session": cellOf([]byte(r.Session)), "via": cellOf([]byte(r.Via)),
	}
	if r.By != nil {
		cells["by"], cells["person"] = r.By.Name, cellOf([]byte(r.By.Person))
		cells["roles"], cells["method"] = cellOf([]byte(strings.Join(r.Actor.Roles, " "))), cellOf([]byte(r.Actor.Method))
	}
	return inColumns(actColumns(), cells)
}
