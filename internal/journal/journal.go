// Package journal is the append-only log of a node, in one SQLite file.
//
// An entry (an envelope that its producer minted, with payloads beside it) is
// appended to a partition. The journal gives it the next offset and a log time
// and stores it as a record, whose hash is the next leaf of the partition's
// Merkle tree; the tree's frontier is stored in the same transaction. Nothing
// but append is offered, and triggers refuse anything else: the file is
// append-only, and tamper-evident to whoever kept a head elsewhere.
//
//	j, err := journal.Open(ctx, journal.Options{Path: "data/journal.db", Logger: log})
//	go j.Run(ctx)
//	stored, err := j.Append(ctx, journal.Begins, entry)
//	for row := int64(0); ; {
//		head, err := j.Wait(ctx, row)
//		batch, err := j.Read(ctx, row, 1000)
//		...
//	}
//
// What it promises:
//
//   - What Append returned without an error survives the end of the process
//     and, on a disk that honours fsync, the loss of power.
//   - The entries of one Append stand next to each other in one commit, or
//     none is stored.
//   - Appending the same bytes under the same id again gives the first's
//     place; other bytes under that id get ErrConflict and an error in the log.
//   - Readers see committed records, in order, without gaps, and never hold up
//     the writer.
//   - Offsets of a partition are contiguous from 0, its log times never go
//     back. While the journal is open they move with the monotonic clock,
//     whatever the wall clock does; a start takes the later of the wall clock
//     and the log's end.
//
// One goroutine writes: it takes all that is queued into one commit, and lets
// the queue fill while the disk works. It does not linger.
package journal

import (
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// What Open, Append and the readers refuse. A journal that Open refuses is not
// changed; sqlite.ErrNewer and sqlite.ErrForeign are among its errors.
var (
	ErrLocked     = errors.New("the data directory is in use by another process")
	ErrDamaged    = errors.New("the journal is damaged")
	ErrOverloaded = errors.New("too much is waiting to be written; try again later")
	ErrDiskFull   = errors.New("there is no room on the disk for new work; free some, it goes on by itself")
	ErrConflict   = errors.New("the id is taken by an event with other bytes")
	ErrTooLarge   = errors.New("beyond the bounds of an event")
	ErrStopped    = errors.New("the journal does not take appends any more")
	ErrReadOnly   = errors.New("the journal is open for reading only")
	ErrNotFound   = errors.New("not in the journal")
	ErrErased     = errors.New("the payload was erased")
)

// Journal is an open journal. Its methods may be used by many goroutines.
type Journal struct {
	o     Options
	log   *slog.Logger
	db    *sqlite.DB
	lock  *DirLock // nil: read-only or in memory
	queue *queue
	disk  *disk

	metrics      *metrics
	writer       *writer        // of the goroutine of Run
	answers      sync.WaitGroup // goroutines of Run
	checkpointer *checkpointer  // nil: read-only or in memory
	tree         atomic.Pointer[tree]
	recent       *recent // what was appended last; empty on a journal open for reading only
	bell         bell
	refused      atomic.Pointer[refused] // nil: the last transaction was written
}

// Head returns where the journal ends. On a journal that is open for reading
// only it is where it ended at Open or at the last Wait.
func (j *Journal) Head() Head { return j.tree.Load().head() }

// Close closes the files and gives the directory's lock back. Run must have
// returned.
func (j *Journal) Close() error {
	err := j.db.Close()
	if j.checkpointer != nil {
		err = errors.Join(j.checkpointer.db.Close(), err)
	}
	if j.lock != nil {
		err = errors.Join(err, j.lock.Close())
	}
	return err
}
