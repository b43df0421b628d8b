package projections

import (
	"context"
	"errors"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Which definitions of tools are accepted follows from the log, by the fold that
// the gate has as well. The views keep its state, for pages and for the watch.

// Accepted returns what the log accepts of the definitions of tools.
func (v *Views) Accepted(ctx context.Context) (fold.Definitions, error) {
	return loadAccepted(ctx, v.db)
}

func loadAccepted(ctx context.Context, q querier) (fold.Definitions, error) {
	d, err := first(ctx, q, func(scan func(...any) error) (d fold.Definitions, err error) {
		var text string
		if err := scan(&text); err != nil {
			return d, err
		}
		return d, undoc(text, &d)
	}, "SELECT doc FROM accepted")
	if errors.Is(err, ErrNotFound) {
		err = nil
	}
	return d, err
}

// accepted stores the fold of definitions, where it moved.
func (s storing) accepted() error {
	if !s.redefined {
		return nil
	}
	text, err := doc(s.book.definitions)
	if err != nil {
		return err
	}
	return s.exec("INSERT OR REPLACE INTO accepted (one, doc) VALUES (1, ?)", text)
}

// unaccepted says what is wrong with a start that counts and that nobody was asked
// about, though the tool's definition was another than any that is accepted. Until
// the log says that its gate asks about that, nothing is.
func (b *book) unaccepted(c *fold.Call, e *events.ToolStarted) wrong {
	free := e.Warrant.Kind == events.WarrantRule && c.Enforcement == events.Enforced
	if !free || !b.definitions.Asks || c.ToolDigest == "" || b.definitions.Accepts(c.Tool, c.ToolDigest) {
		return wrong{}
	}
	return wrong{ExecutedWithoutApproval, "it ran without being asked about, under a definition of the tool that nobody had accepted"}
}
