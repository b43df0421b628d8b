package projections

import (
	"context"

	"github.com/countersign-dev/countersign/events"
)

// People returns the ids of people whose name the log ever told, in order, up to
// limit.
func (v *Views) People(ctx context.Context, limit int) ([]string, error) {
	return list(ctx, v.db, one[string], "SELECT person FROM people ORDER BY person LIMIT ?", limit)
}

// Name returns the name behind a person's id, as the log last said it, or the
// id where it does not, or the name was erased.
func (v *Views) Name(ctx context.Context, person string) string {
	name, err := first(ctx, v.db, func(scan func(...any) error) (string, error) {
		var event, text string
		if err := scan(&event, &text); err != nil {
			return "", err
		}
		ref := &events.Ref{}
		if err := undoc(text, ref); err != nil {
			return "", err
		}
		b, err := v.Text(ctx, event, ref)
		return string(b), err
	}, "SELECT event, name FROM people WHERE person = ?", person)
	if err != nil || name == "" {
		return person
	}
	return name
}
