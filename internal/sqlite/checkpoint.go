package sqlite

import (
	"context"
	"database/sql"
	"fmt"
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
