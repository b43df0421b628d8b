// Package countersign embeds Countersign's log and gate in another program.
//
// A Countersign is a durable, sealed log of tool calls in one folder, and the
// gate that holds protected calls until somebody decides:
//
//	cs, err := countersign.Open(ctx, "data", countersign.Options{Policy: p, Tools: tools})
//	go cs.Run(ctx)
//	<-cs.Ready()
//	err = cs.Gate.Propose(ctx, proposal)      // tool_call, approval_request
//	answer, err := cs.Gate.Decide(ctx, ruling) // decision
//	err = cs.Gate.Carry(ctx, session, key, run) // tool_started, run, tool_result
//	err = cs.Close()
//
// What it promises, and what not, is in docs/claims.md. The program agentd is
// built on it.
package countersign

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/policy"
)

// Options say how to open a Countersign. Policy is required.
type Options struct {
	Policy *policy.Policy
	Tools  []gate.Tool
	// Memory keeps everything in memory: for tests.
	Memory bool
	// Isolation is how tools are kept from this process, said in boot events.
	Isolation string
	// Names gives the name behind a person's id; nil shows ids.
	Names func(person string) string
	// HeadFile is where the log's head is noted, outside of the folder, so that it
	// shows when the folder is put back from a copy; "" nowhere.
	HeadFile string
	// QueueBytes bounds what waits for the log, a quarter of it kept for what ends
	// work; 0: 64 MiB. FreeBytes is the free space of the disk below which new work
	// is refused; 0: 64 MiB.
	QueueBytes int64
	FreeBytes  uint64
	// Metrics is where the instruments of log and gate are exported; nil:
	// nowhere.
	Metrics prometheus.Registerer
	Logger  *slog.Logger
	Clock   func() time.Time
}

// Countersign is an open log with its gate.
type Countersign struct {
	// Log appends events and reads them back.
	Log *bus.Producer
	// Gate is the one door.
	Gate *gate.Gate
	// Boot names this process in the log.
	Boot string

	journal *journal.Journal
	dir     string
	before  before
	beside  string // files of another log that were found beside this one
	o       Options
	logger  *slog.Logger

	rollback *events.Rollback // set: the log is open for reading only
	unnoted  bool             // there was no head file for a log that has records
	noted    int64            // rows that the head file tells of; of the goroutine of noteHeads, then of Run

	noteFailure  atomic.Pointer[noting]
	noteFailures prometheus.Counter
}

const (
	journalFile = "journal.db"
	// reserve is the room that is kept for what ends work, for when something
	// else has filled the disk.
	reserve = 32 << 20
	// bootWithin is how long the log may take to record a boot.
	bootWithin = 5 * time.Second
	// stopWithin is how long it may take to record the last events.
	stopWithin = 3 * time.Second
)

// Open opens the log in a folder, which is made where it is missing, and the
// gate over it. One process may have it open for writing. The journal is
// verified; one that is damaged, locked or from a newer version is refused and
// not changed.
func Open(ctx context.Context, dir string, o Options) (*Countersign, error) {
	o = o.withDefaults()
	c := &Countersign{Boot: events.NewID(), dir: dir, o: o, logger: o.Logger}
	files := c.files()
	if err := c.openJournal(ctx); err != nil {
		return nil, err
	}
	if c.journal.Head().Row == 0 {
		c.beside = files
	}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.journal.Close())
	}
	return c, nil
}

func (o Options) withDefaults() Options {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Isolation = cmp.Or(o.Isolation, "none")
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// openJournal opens the journal. Its errors name it.
func (c *Countersign) openJournal(ctx context.Context) (err error) {
	c.journal, err = journal.Open(ctx, journal.Options{
		Path: filepath.Join(c.dir, journalFile), Memory: c.o.Memory, Logger: c.logger, Clock: c.o.Clock, Names: names, ReserveBytes: reserve,
		QueueBytes: c.o.QueueBytes, FreeBytes: c.o.FreeBytes, Metrics: c.o.Metrics,
	})
	return err
}

// names reads what the journal's columns must say of an envelope.
func names(envelope []byte) (eventID, session string, err error) {
	e, err := events.DecodeEnvelope(envelope)
	return e.ID, e.SessionID, err
}

func (c *Countersign) open(ctx context.Context) error {
	var err error
	if c.before, err = lookBack(ctx, c.journal); err != nil {
		return err
	}
	if err := c.lookForRollback(ctx); err != nil {
		return err
	}
	if c.noteFailures, err = noteMetrics(c.o.Metrics, c.rollback != nil); err != nil {
		return err
	}
	metrics, err := bus.NewMetrics(c.o.Metrics)
	if err != nil {
		return err
	}
	c.Log = bus.NewProducer(bus.ProducerOptions{
		Journal: c.journal, Source: source(c.before.node, c.Boot), Clock: c.o.Clock, Metrics: metrics, Logger: c.logger,
	})
	gateDB := filepath.Join(c.dir, "gate.db")
	if c.o.Memory {
		gateDB = ""
	}
	c.Gate, err = gate.New(ctx, gate.Options{
		Log: c.Log, Policy: c.o.Policy, Tools: c.o.Tools, Path: gateDB, Node: c.before.node, Boot: c.Boot, Names: c.o.Names,
		Metrics: c.o.Metrics, Logger: c.logger, Clock: c.o.Clock,
	})
	if err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	if c.rollback == nil {
		c.rollback = c.rollbackOfGate()
	}
	if c.rollback != nil {
		return c.freeze(ctx)
	}
	if c.Gate.OfAnotherLog() && c.beside == "" {
		c.beside = "gate.db"
	}
	if c.beside != "" {
		c.logger.WarnContext(ctx, "this journal is not the one that was here before", "why", c.Warning())
	}
	return nil
}

// freeze makes the log one that is only read.
func (c *Countersign) freeze(ctx context.Context) error {
	why := c.ReadOnly()
	c.journal.Freeze(why)
	c.logger.ErrorContext(ctx, "the log is open for reading only", "why", why)
	return nil
}

// Heads returns the head of each partition's Merkle tree: what to keep
// elsewhere, so that a cut or exchanged log shows.
func (c *Countersign) Heads() []events.Head { return headsOf(c.journal.Head()) }

func headsOf(h journal.Head) []events.Head {
	heads := []events.Head{}
	for _, p := range h.Partitions {
		heads = append(heads, events.Head{Partition: p.Partition, Size: p.Size, Root: events.Digest(fmt.Sprintf("%x", p.Root[:]))})
	}
	return heads
}

// Room returns how many bytes the log's disk has free, and in all; ok is false
// where nobody can say.
func (c *Countersign) Room() (free, total uint64, ok bool) { return c.journal.Room() }

// Run writes the log and serves the gate until ctx ends. The boot is the first
// event and the shutdown the last: whoever uses the gate must be done before
// ctx ends. A log that cannot take the boot within five seconds is an error; one
// that cannot take the shutdown within three as well, and what waited for room
// then was not stored, and not acknowledged.
//
// A log that is open for reading only (ReadOnly) gets no boot and no shutdown,
// and its gate does not run: nothing is Ready.
func (c *Countersign) Run(ctx context.Context) error {
	if c.rollback != nil {
		<-ctx.Done()
		return nil
	}
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var writer errgroup.Group
	writer.Go(func() error {
		err := c.journal.Run(writing)
		stop()
		return err
	})
	err := c.serve(ctx, writing)
	stop()
	err = errors.Join(err, writer.Wait())
	c.noteHead(ctx)
	return err
}

// serve runs everything above the writer, between boot and shutdown.
func (c *Countersign) serve(ctx, writing context.Context) error {
	if err := c.boot(ctx, writing); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.Gate.Run(ctx) })
	group.Go(func() error { return c.pulse(ctx) })
	group.Go(func() error { return c.noteHeads(ctx) })
	group.Go(func() error {
		select {
		case <-writing.Done():
			return events.ErrLogStopped
		case <-ctx.Done():
			return nil
		}
	})
	err := group.Wait()
	if writing.Err() == nil {
		err = errors.Join(err, c.shutdown(writing, reason(err)))
	}
	return err
}

// shutdown records the end.
func (c *Countersign) shutdown(writing context.Context, why string) error {
	ctx, cancel := context.WithTimeout(writing, stopWithin)
	defer cancel()
	_, err := c.Log.Append(ctx, events.Draft{Data: &events.Shutdown{BootID: c.Boot, Reason: why, Heads: c.Heads()}})
	if err != nil {
		return fmt.Errorf("the log could not take the shutdown within %v: what still waited for it was not stored, and nothing of that was acknowledged: %w", stopWithin, err)
	}
	return nil
}

func reason(err error) string {
	if err != nil {
		return "failure"
	}
	return "asked"
}

// boot records the boot, and what the gate stands on. It is not broken off when
// the process is to stop already, unless the log takes too long.
func (c *Countersign) boot(ctx, writing context.Context) error {
	within, cancel := context.WithTimeoutCause(writing, bootWithin, fmt.Errorf("the log did not take it within %v: is the disk full, or the journal locked?", bootWithin))
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(stopWithin, cancel) })()
	if _, err := c.Log.Append(within, events.Draft{Data: c.bootEvent()}); err != nil {
		return fmt.Errorf("record the boot: %w", err)
	}
	return c.Gate.DefineAll(within)
}

func (c *Countersign) bootEvent() *events.Boot {
	name := "embedded"
	if c.o.Memory {
		name = "memory"
	}
	return &events.Boot{
		BootID: c.Boot, Node: c.before.node, Version: Version(), GoVersion: runtime.Version(), Previous: c.Heads(), LastBoot: c.before.boot,
		Clean: c.before.clean, Clock: events.At(c.o.Clock()), Isolation: c.o.Isolation, Bus: name, Beside: c.beside, AsksChanged: true,
	}
}

// Ready returns a channel that is closed when calls can be proposed.
func (c *Countersign) Ready() <-chan struct{} { return c.Gate.Ready() }

// Close closes the files. Run must have returned, or never have been called.
func (c *Countersign) Close() error { return errors.Join(c.Gate.Close(), c.journal.Close()) }

// Version names the build: its module version, or its revision.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	return "devel"
}
