package projections

import (
	"cmp"
	"context"
	"slices"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// changes are the statements that a batch of records comes to, in order. They
// are worked out without the tables, so that one core can fold while another
// writes.
type changes struct {
	ops    []op
	texts  []indexed
	delta  *delta // what is counted
	row    int64  // behind the batch
	status Status // behind the batch
}

// op is a statement with its parameters. Its text is one of few.
type op struct {
	query string
	args  []any
}

func (c *changes) exec(query string, args ...any) {
	for i, a := range args {
		args[i] = stored(a)
	}
	c.ops = append(c.ops, op{query, args})
}

// stored is a value as the driver takes it.
func stored(a any) any {
	switch a := a.(type) {
	case int:
		return int64(a)
	case uint32:
		return int64(a)
	case bool:
		if a {
			return int64(1)
		}
		return int64(0)
	default:
		return a
	}
}

// write runs the statements, in a transaction.
func (c *changes) write(ctx context.Context, conn *sqlite.Conn, grams *gramSet) error {
	for _, o := range c.ops {
		if err := conn.Exec(o.query, o.args...); err != nil {
			return err
		}
	}
	if err := c.writeTexts(conn, grams); err != nil {
		return err
	}
	return c.delta.store(ctx, &writer{conn})
}

// writeTexts fills the search index, in the order of the texts' ids: it begins a
// new segment at every step back.
func (c *changes) writeTexts(conn *sqlite.Conn, grams *gramSet) error {
	slices.SortFunc(c.texts, func(a, b indexed) int { return cmp.Compare(a.id, b.id) })
	for _, t := range c.texts {
		if err := conn.Exec("INSERT INTO grams (rowid, text) VALUES (?, ?)", t.id, string(grams.of(t.plain()))); err != nil {
			return err
		}
	}
	return nil
}
