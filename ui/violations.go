package ui

import (
	"context"
	"net/http"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// violationsView is a page of what the watch found, the newest first.
type violationsView struct {
	Words         string
	Rows          []foundRow
	Empty         string
	Newest, Older string
}

// foundRow is a violation in the list of all.
type foundRow struct {
	violationRow

	When     whenView
	Session  []visible.Span
	Of       string // path of the session; "" where the record names none
	PlaceRef string
}

func (c *Console) violations(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, "before")
	if err != nil {
		return err
	}
	ctx := r.Context()
	page, err := c.views.Violations(ctx, reader(id), p["before"], pageRows)
	if err != nil {
		return err
	}
	c.note(ctx, id, "violations", "")
	v := violationsView{
		Words: "Records that show that a promise of the gate was broken, the newest first, checked through " + place(c.views.Status().Position) + ".",
		Empty: "The watch has found none, in what you may read.",
	}
	day := ""
	for _, x := range page.Items {
		row := c.foundRow(ctx, x, day)
		v.Rows, day = append(v.Rows, row), row.When.Day
	}
	if p["before"] != "" {
		v.Newest, v.Empty = "/violations", "There are no older ones."
	}
	if page.Next != "" {
		v.Older = pathOf("/violations", nil, "before", page.Next)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Violations", "/sessions"), violationsPage(v))
}

// foundRow is a violation in the list, below one of the given day.
func (c *Console) foundRow(ctx context.Context, x projections.Violation, above string) foundRow {
	row := foundRow{violationRow: c.violationRow(ctx, x), When: when(x.At, above), PlaceRef: placePath(x.At)}
	if x.Session != "" {
		row.Session, row.Of = slim(visible.Line(x.Session, 40), 240), sessionPath(x.Session)
	}
	return row
}
