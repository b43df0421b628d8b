package sqlite

import (
	"cmp"
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"

	"github.com/mattn/go-sqlite3"
)

// busyTimeout is how long a connection waits for a lock: milliseconds.
const busyTimeout = "busy_timeout = 5000"

// connector makes connections on which the pragmas hold. A pragma that is set
// once on a pool holds on one of its connections only.
type connector struct {
	dsn  string
	o    Options
	want string // the journal mode to set and to read back; "": leave it
}

// Connect implements driver.Connector.
func (c connector) Connect(context.Context) (driver.Conn, error) {
	d := sqlite3.SQLiteDriver{ConnectHook: c.configure}
	return d.Open(c.dsn)
}

// Driver implements driver.Connector.
func (c connector) Driver() driver.Driver { return &sqlite3.SQLiteDriver{} }

// configure runs on every new connection, before anything else.
func (c connector) configure(conn *sqlite3.SQLiteConn) error {
	for _, pragma := range c.pragmas() {
		if _, err := conn.Exec("PRAGMA "+pragma, nil); err != nil {
			return fmt.Errorf("PRAGMA %s: %w", pragma, err)
		}
	}
	return c.assert(conn)
}

func (c connector) pragmas() []string {
	p := []string{
		busyTimeout,
		fmt.Sprintf("cache_size = -%d", cmp.Or(c.o.CacheKiB, writerCacheKiB)),
		"temp_store = " + c.tempStore(),
		"foreign_keys = ON",
		"trusted_schema = OFF",
	}
	if c.o.ReadOnly {
		return append(p, "query_only = ON")
	}
	if c.want != "wal" && !c.o.Bulk {
		return p
	}
	p = append(p,
		fmt.Sprintf("page_size = %d", cmp.Or(c.o.PageBytes, 4096)), // of a new file, before its first page
		"journal_mode = "+c.want,
		fmt.Sprintf("synchronous = %d", c.o.Synchronous),
	)
	if c.o.CheckpointPages != 0 {
		p = append(p, fmt.Sprintf("wal_autocheckpoint = %d", max(c.o.CheckpointPages, 0)))
	}
	return p
}

// tempStore is where a sort goes that has no room in the page cache. In a file
// that is being made, sorts are as large as its tables.
func (c connector) tempStore() string {
	if c.o.Bulk {
		return "FILE"
	}
	return "MEMORY"
}

// assert reads back what durability and search stand on: a pragma that SQLite
// does not take is not an error by itself.
func (c connector) assert(conn *sqlite3.SQLiteConn) error {
	fts5, err := scalar(conn, "SELECT sqlite_compileoption_used('ENABLE_FTS5')")
	if err != nil {
		return err
	}
	if fts5 != int64(1) {
		return errors.New("SQLite was built without full-text search: build with -tags sqlite_fts5")
	}
	if c.o.ReadOnly {
		return nil
	}
	mode, err := scalar(conn, "PRAGMA journal_mode")
	if err != nil {
		return err
	}
	if mode != c.want {
		return fmt.Errorf("%w: journal_mode is %v, not %s (is the file on a network file system?)", ErrPragma, mode, c.want)
	}
	if c.want != "wal" && !c.o.Bulk {
		return nil
	}
	sync, err := scalar(conn, "PRAGMA synchronous")
	if err != nil {
		return err
	}
	if sync != int64(c.o.Synchronous) {
		return fmt.Errorf("%w: synchronous is %v, not %d", ErrPragma, sync, c.o.Synchronous)
	}
	return nil
}

// scalar returns the first column of the first row.
func scalar(conn *sqlite3.SQLiteConn, query string) (driver.Value, error) {
	rows, err := conn.Query(query, nil)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	row := make([]driver.Value, len(rows.Columns()))
	err = rows.Next(row)
	if errors.Is(err, io.EOF) {
		err = errors.New("no row")
	}
	if err = errors.Join(err, rows.Close()); err != nil {
		return nil, fmt.Errorf("%s: %w", query, err)
	}
	return row[0], nil
}

// dsn names a file. The path is escaped: one with a question mark would
// otherwise smuggle options in. SQLite need not lock a connection against other
// threads: database/sql gives it to one goroutine at a time.
func dsn(path, mode, lock string) string {
	escaped := (&url.URL{Path: path}).EscapedPath()
	return fmt.Sprintf("file:%s?mode=%s&_txlock=%s&_mutex=no", escaped, mode, lock)
}

// create makes an empty file that its owner alone can read, and its name
// durable. SQLite would make it readable by everybody; the files that SQLite
// puts beside it take its mode.
func create(path string) error {
	f, err := os.OpenFile(filepath.Clean(path), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create a database: %w", err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return fmt.Errorf("create a database: %w", err)
	}
	if err := syncDir(filepath.Dir(path)); err != nil {
		return fmt.Errorf("create a database: %w", err)
	}
	return nil
}

func syncDir(path string) error {
	dir, err := os.Open(filepath.Clean(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
