package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// Checkpoint copies the write-ahead log into the file, as far as readers
// allow, without waiting for anybody and without stopping a writer (PASSIVE).
// It returns how many pages the log holds, and how many of them are copied.
// Once all are, the next transaction begins the log anew, unless a reader is
// still in it.
func Checkpoint(ctx context.Context, db *sql.DB) (pages, copied int64, err error) {
	var busy int
	row := db.QueryRowContext(ctx, "PRAGMA wal_checkpoint(PASSIVE)")
	if err := row.Scan(&busy, &pages, &copied); err != nil {
		return 0, 0, fmt.Errorf("checkpoint: %w", err)
	}
	return pages, copied, nil
}

// Restart is Checkpoint that waits for the readers that are in the log, at most
// so long; no writer can write meanwhile (RESTART). Readers that come later do
// not matter. It reports whether the next transaction will begin the log anew.
func Restart(ctx context.Context, db *sql.DB, wait time.Duration) (anew bool, err error) {
	conn, err := db.Conn(ctx)
	if err != nil {
		return false, fmt.Errorf("restart the write-ahead log: %w", err)
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	if _, err := conn.ExecContext(ctx, fmt.Sprintf("PRAGMA busy_timeout = %d", wait.Milliseconds())); err != nil {
		return false, fmt.Errorf("restart the write-ahead log: %w", err)
	}
	var busy, pages, copied int
	err = conn.QueryRowContext(ctx, "PRAGMA wal_checkpoint(RESTART)").Scan(&busy, &pages, &copied)
	_, resetErr := conn.ExecContext(ctx, "PRAGMA "+busyTimeout)
	if err = errors.Join(err, resetErr); err != nil {
		return false, fmt.Errorf("restart the write-ahead log: %w", err)
	}
	return busy == 0, nil
}
