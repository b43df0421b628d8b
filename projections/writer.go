package projections

import (
	"context"
	"database/sql"
)

// writer is a transaction that prepares each statement once.
type writer struct {
	tx    *sql.Tx
	stmts map[string]*sql.Stmt // closed with the transaction
}

func newWriter(tx *sql.Tx) *writer { return &writer{tx: tx, stmts: map[string]*sql.Stmt{}} }

// ExecContext runs a statement. Its text must be one of few.
func (w *writer) ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error) {
	ctx = context.WithoutCancel(ctx) // see transact
	s := w.stmts[query]
	if s == nil {
		var err error
		if s, err = w.tx.PrepareContext(ctx, query); err != nil {
			return nil, err
		}
		w.stmts[query] = s
	}
	return s.ExecContext(ctx, args...)
}
