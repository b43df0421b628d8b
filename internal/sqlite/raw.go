package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"

	"github.com/mattn/go-sqlite3"
)

// Conn is the connection that writes, below database/sql: statements are
// prepared once and their arguments are handed on as they are. It costs a few
// microseconds less for each statement. It is valid inside the function that
// DB.Raw calls, and its arguments are int64, string, []byte or nil.
type Conn struct {
	conn  *sqlite3.SQLiteConn
	stmts map[string]*sqlite3.SQLiteStmt
	args  []driver.NamedValue // reused
}

// Raw runs f with the connection that writes; nobody else has it meanwhile.
func (db *DB) Raw(ctx context.Context, f func(*Conn) error) error {
	conn, err := db.Write.Conn(ctx)
	if err != nil {
		return err
	}
	err = conn.Raw(func(dc any) error {
		c, ok := dc.(*sqlite3.SQLiteConn)
		if !ok {
			return fmt.Errorf("raw: the connection is a %T", dc)
		}
		if db.raw == nil || db.raw.conn != c {
			db.raw = &Conn{conn: c, stmts: map[string]*sqlite3.SQLiteStmt{}}
		}
		return f(db.raw)
	})
	return errors.Join(err, conn.Close())
}

// closeRaw closes the statements: SQLite keeps the file open while one lives.
func (db *DB) closeRaw() error {
	if db.raw == nil {
		return nil
	}
	return db.Raw(context.Background(), func(c *Conn) error {
		var errs []error
		for _, s := range c.stmts {
			errs = append(errs, s.Close())
		}
		clear(c.stmts)
		return errors.Join(errs...)
	})
}

// Exec runs one statement.
func (c *Conn) Exec(query string, args ...any) error {
	_, err := c.Insert(query, args...)
	return err
}

// Insert runs one statement and returns the rowid of the row that was inserted
// last.
func (c *Conn) Insert(query string, args ...any) (rowid int64, err error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	result, err := s.ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, err
	}
	return result.LastInsertId()
}

// QueryRow runs a query and returns its first row, or nil if there is none.
// Integers come as int64, blobs as []byte, text as string.
func (c *Conn) QueryRow(query string, args ...any) ([]driver.Value, error) {
	s, err := c.prepare(query)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return nil, err
	}
	row := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(row)
	if errors.Is(err, io.EOF) {
		return nil, rows.Close()
	}
	return row, errors.Join(err, rows.Close())
}

// Each runs a query and calls f with each row, whose values are f's own until it
// returns, in the types of QueryRow. f may run other statements.
func (c *Conn) Each(query string, f func(row []driver.Value) error, args ...any) (err error) {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	row := make([]driver.Value, len(rows.Columns()))
	for {
		switch err := rows.Next(row); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		if err := f(row); err != nil {
			return err
		}
	}
}

func (c *Conn) prepare(query string) (*sqlite3.SQLiteStmt, error) {
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	prepared, err := c.conn.Prepare(query)
	if err != nil {
		return nil, fmt.Errorf("prepare %q: %w", query, err)
	}
	s, ok := prepared.(*sqlite3.SQLiteStmt)
	if !ok {
		return nil, fmt.Errorf("prepare %q: got a %T", query, prepared)
	}
	c.stmts[query] = s
	return s, nil
}

func (c *Conn) bind(args []any) []driver.NamedValue {
	c.args = c.args[:0]
	for i, a := range args {
		c.args = append(c.args, driver.NamedValue{Ordinal: i + 1, Value: a})
	}
	return c.args
}

// InTx reports whether a transaction is open. SQLite ends one by itself after
// some errors.
func (c *Conn) InTx() bool { return !c.conn.AutoCommit() }
