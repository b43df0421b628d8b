// Package sqlite opens and migrates SQLite databases. It is the only importer
// of the driver, so that what makes a database safe is said in one place:
//
//   - the write-ahead log, with synchronous as asked and read back on every
//     connection (the driver's own default in WAL mode loses what was
//     acknowledged when the power fails);
//   - one connection that writes, whose transactions begin immediate, so that
//     no transaction fails half-way because it read first;
//   - connections that only read, and cannot write by mistake;
//   - files that only their owner can read.
//
// A program opens, migrates, uses database/sql, and closes:
//
//	db, err := sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Full})
//	err = sqlite.Migrate(ctx, db.Write, files, applicationID)
//	rows, err := db.Read.QueryContext(ctx, "SELECT ...")
//	err = db.Close()
//
// Where an append is counted in microseconds, DB.Raw goes below database/sql.
package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
)

// Synchronous is how a commit waits for the disk (PRAGMA synchronous).
type Synchronous int

// Full waits for the disk at every commit: what was committed survives the
// loss of power. Normal waits at checkpoints alone: the last commits may be
// lost, the file stays whole. Off never waits: for files that can be rebuilt.
const (
	Off    Synchronous = 0
	Normal Synchronous = 1
	Full   Synchronous = 2
)

// Options says how to open a database. The zero value of each field but
// Synchronous is a good choice; the zero value of Synchronous is Off.
type Options struct {
	Synchronous Synchronous
	ReadOnly    bool // open Read alone; the file must exist and is not changed
	Readers     int  // most connections of Read; 0: 4
	CacheKiB    int  // page cache of each connection; 0: 8192 to write, 2048 to read
	PageBytes   int  // page size of a new file; 0: 4096
	// CheckpointPages is the length of the write-ahead log at which a commit
	// also copies it into the file; 0: SQLite's own 1000; negative: never, the
	// owner calls Checkpoint.
	CheckpointPages int
	// Bulk is for a file that is being made and that nobody else opens: no
	// write-ahead log, what a rollback needs is kept in memory, large sorts go to
	// files in its folder, and Synchronous is Off. A process that dies leaves a
	// file that is good for nothing; once it is made, close it, and open it as any
	// other.
	Bulk bool
}

// DB is an open database. Both pools are ordinary database/sql.
type DB struct {
	Write *sql.DB // one connection, transactions begin immediate; nil when read-only
	Read  *sql.DB // connections that cannot write; the same pool as Write in memory

	raw *Conn // owned by whoever holds the connection of Write
}

// Open opens the database file at path and creates it, readable by its owner
// alone, when it is missing. It fails when the pragmas do not hold.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.ReadOnly {
		return openReadOnly(ctx, path, o)
	}
	if err := create(path); err != nil {
		return nil, err
	}
	want := "wal"
	if o.Bulk {
		want, o.Synchronous = "memory", Off
		sortIn(filepath.Dir(path))
	}
	db := &DB{
		Write: pool(connector{dsn: dsn(path, "rw", "immediate"), o: o, want: want}, 1),
		Read:  reader(path, o),
	}
	if err := db.Write.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), db.Close())
	}
	return db, nil
}

// OpenMemory opens a database that lives in memory as long as it is open. It
// has one connection, which readers and the writer share.
func OpenMemory(ctx context.Context) (*DB, error) {
	one := pool(connector{dsn: "file::memory:?_txlock=immediate&_mutex=no", want: "memory"}, 1)
	db := &DB{Write: one, Read: one}
	if err := one.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open a database in memory: %w", err), db.Close())
	}
	return db, nil
}

func openReadOnly(ctx context.Context, path string, o Options) (*DB, error) {
	db := &DB{Read: reader(path, o)}
	if err := db.Read.PingContext(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open %s for reading: %w", path, err), db.Close())
	}
	return db, nil
}

// The page cache of a connection: one that writes keeps the pages of all indexes
// that a commit touches; what one that reads does not keep, the system does.
const (
	writerCacheKiB = 8192
	readerCacheKiB = 2048
)

func reader(path string, o Options) *sql.DB {
	o.ReadOnly, o.CacheKiB = true, cmp.Or(o.CacheKiB, readerCacheKiB)
	return pool(connector{dsn: dsn(path, "ro", "deferred"), o: o}, cmp.Or(o.Readers, 4))
}

// pool keeps its connections: opening one costs a page cache and a dozen
// pragmas.
func pool(c connector, most int) *sql.DB {
	db := sql.OpenDB(c)
	db.SetMaxOpenConns(most)
	db.SetMaxIdleConns(most)
	return db
}

// Close closes both pools. The last writer to close copies the write-ahead log
// into the file.
func (db *DB) Close() error {
	if db.Write == nil {
		return db.Read.Close()
	}
	err := db.closeRaw()
	if db.Read != db.Write {
		err = errors.Join(err, db.Read.Close())
	}
	return errors.Join(err, db.Write.Close())
}
