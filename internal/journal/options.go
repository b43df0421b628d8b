package journal

import (
	"cmp"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Options says how to open a journal. Path or Memory is needed, everything
// else has a default.
type Options struct {
	Path   string // the file; its directory is made if it is missing, and locked
	Memory bool   // keep the journal in memory instead: for tests, nothing survives

	// ReadOnly opens an existing journal without the lock, beside the process
	// that writes it.
	ReadOnly bool

	// Metrics is where the journal's instruments are exported; nil: nowhere.
	Metrics prometheus.Registerer

	Logger *slog.Logger     // nil: silence
	Clock  func() time.Time // where log time begins, asked once; nil: time.Now

	// Names reads an envelope's event id and session. The journal never looks
	// into envelopes; given this, VerifyAll also checks that the columns by
	// which records are found say what the envelopes say. An envelope for which
	// it returns an error is passed over: what cannot be read is kept as well.
	Names func(envelope []byte) (eventID, session string, err error)

	// QueueBytes bounds what waits for the writer, three quarters of it for what
	// begins work; an entry weighs at least 2 KiB. 0: 64 MiB.
	QueueBytes int64
	// FreeBytes is the free space below which new work is refused. 0: 64 MiB.
	FreeBytes uint64
	// ReserveBytes is room that is kept in a file beside the journal, for what
	// ends work when something else has filled the disk. 0: none.
	ReserveBytes int64
	// VerifyRows is how many of the last records Open verifies, at least. 0:
	// 10,000.
	VerifyRows int64

	// For tests.
	elapsed  func() time.Duration             // since Open, instead of the monotonic clock
	maxPages int64                            // bounds the file, so that it is full
	walBytes int64                            // instead of walBytes
	free     func(dir string) (uint64, error) // instead of the file system's
}

func (o Options) withDefaults() Options {
	o.QueueBytes = cmp.Or(o.QueueBytes, 64<<20)
	o.FreeBytes = cmp.Or(o.FreeBytes, 64<<20)
	o.VerifyRows = cmp.Or(o.VerifyRows, 10_000)
	o.walBytes = cmp.Or(o.walBytes, walBytes)
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.free == nil {
		o.free = freeBytes
	}
	return o
}
