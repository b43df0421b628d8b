package ui

import (
	"context"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
)

// placeKey is the key of a request's place in its context.
type placeKey struct{}

// placed notes where the views stand before a page asks them anything: what
// comes after is what the page's stream tells it of.
func (c *Console) placed(r *http.Request) *http.Request {
	return r.WithContext(context.WithValue(r.Context(), placeKey{}, cursorOf(c.views.Status())))
}

// placeOf is where a page's stream begins; "" for a request that was not placed.
func placeOf(r *http.Request) string {
	if at, ok := r.Context().Value(placeKey{}).(cursor); ok {
		return at.String()
	}
	return ""
}

// countWithin bounds how long a page waits for the number in its rail.
const countWithin = time.Second

// pendingFor is how many requests wait that somebody may see.
func (c *Console) pendingFor(id auth.Identity) int {
	ctx, done := context.WithTimeout(context.Background(), countWithin)
	defer done()
	n, err := c.views.CountPending(ctx, reader(id))
	if err != nil {
		c.logger.WarnContext(ctx, "the waiting requests could not be counted", "error", err.Error())
	}
	return n
}
