package projections

import (
	"fmt"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// writer is the transaction in which a batch is written.
type writer struct{ conn *sqlite.Conn }

func (w *writer) exec(query string, args ...any) error {
	for i, a := range args {
		args[i] = stored(a)
	}
	return w.conn.Exec(query, args...)
}

// number returns the one number that a query finds; false where it finds none.
func (w *writer) number(query string, args ...any) (int64, bool, error) {
	row, err := w.conn.QueryRow(query, args...)
	if err != nil || len(row) == 0 || row[0] == nil {
		return 0, false, err
	}
	n, ok := row[0].(int64)
	if !ok {
		return 0, false, fmt.Errorf("%w: %s: found a %T, not a number", errRow, query, row[0])
	}
	return n, true, nil
}

// inTransaction runs f between BEGIN and COMMIT, or undoes what it did.
func inTransaction(conn *sqlite.Conn, f func() error) error {
	if err := conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	err := f()
	if err == nil {
		err = conn.Exec("COMMIT")
	}
	if err != nil && conn.InTx() {
		_ = conn.Exec("ROLLBACK") // the first error says what happened
	}
	return err
}
