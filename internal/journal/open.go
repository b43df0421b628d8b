package journal

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// applicationID marks a file as a journal of ours: "CSjr".
const applicationID = 0x43536a72

func schema() fs.FS {
	files, err := fs.Sub(schemaFiles, "schema")
	if err != nil {
		return schemaFiles // unreachable: the name is valid
	}
	return files
}

// Open opens a journal and creates it if it is missing. An existing one is
// verified before anything is changed: its version, its triggers, the frontier
// and the last records. Errors: ErrLocked, ErrDamaged, sqlite.ErrNewer,
// sqlite.ErrForeign.
//
// Open starts nothing; Append waits until Run is called.
func Open(ctx context.Context, o Options) (*Journal, error) {
	o = o.withDefaults()
	j := &Journal{o: o, log: o.Logger, recent: newRecent()}
	j.bell.next.Store(newBell())
	var err error
	switch {
	case o.Memory:
		err = j.openMemory(ctx)
	case o.ReadOnly:
		err = j.openReadOnly(ctx)
	default:
		err = j.openFile(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("open the journal %s: %w", o.Path, err)
	}
	if j.metrics, err = newMetrics(j, o.Metrics); err != nil {
		return nil, errors.Join(err, j.Close())
	}
	return j, nil
}

func (j *Journal) openMemory(ctx context.Context) error {
	db, err := sqlite.OpenMemory(ctx)
	if err != nil {
		return err
	}
	if err := j.adopt(ctx, db); err != nil {
		return errors.Join(err, db.Close())
	}
	j.disk = &disk{}
	return nil
}

func (j *Journal) openReadOnly(ctx context.Context) error {
	db, err := inspect(ctx, j.o)
	if err != nil {
		return err
	}
	j.db = db
	j.disk = &disk{dir: filepath.Dir(j.o.Path), floor: j.o.FreeBytes, free: j.o.free}
	t, err := j.loadTree(ctx)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	j.tree.Store(t)
	return nil
}

// openFile takes the lock, looks without touching, and only then opens for
// writing.
func (j *Journal) openFile(ctx context.Context) (err error) {
	dir := filepath.Dir(j.o.Path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	if j.lock, err = Lock(dir); err != nil {
		return err
	}
	if err = j.openLocked(ctx, dir); err != nil {
		return errors.Join(err, j.lock.Close())
	}
	return nil
}

func (j *Journal) openLocked(ctx context.Context, dir string) error {
	j.disk = &disk{dir: dir, floor: j.o.FreeBytes, free: j.o.free, ballast: newBallast(dir, j.o.ReserveBytes), log: j.log}
	j.disk.prepare()
	if info, err := os.Stat(j.o.Path); err == nil && info.Size() > 0 {
		db, err := inspect(ctx, j.o)
		if err != nil {
			return err
		}
		if err := db.Close(); err != nil {
			return err
		}
	}
	db, err := sqlite.Open(ctx, j.o.Path, sqlite.Options{Synchronous: sqlite.Full, CheckpointPages: -1})
	if err != nil {
		return err
	}
	err = j.adopt(ctx, db)
	if err == nil { // the writer asks again by itself, and must hear that it is to stop
		_, err = db.Write.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", lastRetry.Milliseconds()))
	}
	if err != nil {
		return errors.Join(err, db.Close())
	}
	j.checkpointer, err = newCheckpointer(ctx, j.o)
	if err != nil {
		return errors.Join(err, db.Close())
	}
	return nil
}

// adopt migrates a database and makes a writer for it.
func (j *Journal) adopt(ctx context.Context, db *sqlite.DB) error {
	if err := sqlite.Migrate(ctx, db.Write, schema(), applicationID); err != nil {
		return err
	}
	j.db = db
	t, err := j.loadTree(ctx)
	if err != nil {
		return err
	}
	j.tree.Store(t)
	if j.o.maxPages > 0 {
		if _, err := db.Write.ExecContext(ctx, fmt.Sprintf("PRAGMA max_page_count = %d", j.o.maxPages)); err != nil {
			return err
		}
	}
	j.queue = newQueue(j.o.QueueBytes)
	j.writer = &writer{db: db, clock: newClock(j.o, t), tree: t, stays: map[string]int64{}}
	return nil
}

// inspect opens a journal for reading and verifies its end. A journal of an
// older version is left to the migration.
func inspect(ctx context.Context, o Options) (*sqlite.DB, error) {
	db, err := sqlite.Open(ctx, o.Path, sqlite.Options{ReadOnly: true})
	if err != nil {
		return nil, damage(err, "opening it")
	}
	err = sqlite.Check(ctx, db.Read, schema(), applicationID)
	if errors.Is(err, sqlite.ErrOlder) && !o.ReadOnly {
		return db, nil
	}
	if err == nil {
		err = verifyEnd(ctx, db, o.VerifyRows)
	}
	if err != nil {
		return nil, errors.Join(damage(err, "reading it"), db.Close())
	}
	return db, nil
}

// damage says ErrDamaged where SQLite says that the file is malformed.
func damage(err error, doing string) error {
	if sqlite.IsCorrupt(err) && !errors.Is(err, ErrDamaged) {
		return fmt.Errorf("%w: %s: %w", ErrDamaged, doing, err)
	}
	return err
}

// loadTree reads where the journal ends, as of one moment.
func (j *Journal) loadTree(ctx context.Context) (*tree, error) {
	tx, err := j.db.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: j.db.Read != j.db.Write})
	if err != nil {
		return nil, err
	}
	t, err := readTree(ctx, tx)
	return t, errors.Join(err, tx.Rollback())
}

func readTree(ctx context.Context, q querier) (*tree, error) {
	t := &tree{}
	err := q.QueryRowContext(ctx, `SELECT coalesce((SELECT max(row) FROM records), 0),
		coalesce((SELECT max(row) FROM frontiers), 0), coalesce((SELECT max(no) FROM sessions), 0)`).
		Scan(&t.row, &t.snapped, &t.stays)
	if err != nil {
		return nil, fmt.Errorf("read the head: %w", err)
	}
	t.edges, err = readEdges(ctx, q, `SELECT partition, log_time, frontier FROM heads`)
	return t, err
}

// readEdges runs a query for partition, log time and frontier.
func readEdges(ctx context.Context, q querier, text string, args ...any) (_ map[uint32]*edge, err error) {
	rows, err := q.QueryContext(ctx, text, args...)
	if err != nil {
		return nil, fmt.Errorf("read a frontier: %w", err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	edges := map[uint32]*edge{}
	for rows.Next() {
		var partition uint32
		var b []byte
		e := &edge{}
		if err := rows.Scan(&partition, &e.logTime, &b); err != nil {
			return nil, fmt.Errorf("read a frontier: %w", err)
		}
		if err := e.frontier.UnmarshalBinary(b); err != nil {
			return nil, fmt.Errorf("%w: the frontier of partition %d: %w", ErrDamaged, partition, err)
		}
		edges[partition] = e
	}
	return edges, rows.Err()
}
