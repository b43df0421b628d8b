package projections

import (
	"github.com/countersign-dev/countersign/internal/sqlite"
)

// changes are the statements that a batch of records comes to, in order. They
// are worked out without the tables, so that one core can fold while another
// writes. Between the two, the grams of the texts are worked out.
type changes struct {
	ops      []op
	texts    []indexed
	segments []*segment // of the search index, with the texts of this batch and of those before
	delta    *delta     // what is counted
	row      int64      // behind the batch
	status   Status     // behind the batch
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
func (c *changes) write(conn *sqlite.Conn) error {
	for _, o := range c.ops {
		if err := conn.Exec(o.query, o.args...); err != nil {
			return err
		}
	}
	for _, s := range c.segments {
		if err := s.write(conn); err != nil {
			return err
		}
	}
	return c.delta.store(&writer{conn})
}
