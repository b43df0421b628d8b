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
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"time"

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
	Names  func(person string) string
	Logger *slog.Logger
	Clock  func() time.Time
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
	node    node
	clean   bool // the boot before ended as asked
	o       Options
	logger  *slog.Logger
}

// node is what a data directory knows of itself: data/node.json.
type node struct {
	ID   string `json:"node"`
	Boot string `json:"boot"` // the last one
}

// Open opens the log in a folder, which is made where it is missing, and the
// gate over it. One process may have it open for writing. The journal is
// verified; one that is damaged, locked or from a newer version is refused and
// not changed.
func Open(ctx context.Context, dir string, o Options) (*Countersign, error) {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.Isolation = cmp.Or(o.Isolation, "none")
	if o.Clock == nil {
		o.Clock = time.Now
	}
	c := &Countersign{Boot: events.NewID(), dir: dir, o: o, logger: o.Logger}
	var err error
	c.journal, err = journal.Open(ctx, journal.Options{
		Path: filepath.Join(dir, "journal.db"), Memory: o.Memory, Logger: o.Logger, Clock: o.Clock, Names: names,
	})
	if err != nil {
		return nil, err // it names the journal
	}
	if err := c.open(ctx); err != nil {
		return nil, errors.Join(err, c.journal.Close())
	}
	return c, nil
}

// names reads what the journal's columns must say of an envelope.
func names(envelope []byte) (eventID, session string, err error) {
	e, err := events.DecodeEnvelope(envelope)
	return e.ID, e.SessionID, err
}

func (c *Countersign) open(ctx context.Context) error {
	if err := c.readNode(); err != nil {
		return err
	}
	c.clean = c.endedAsAsked(ctx)
	c.Log = bus.NewProducer(bus.ProducerOptions{
		Journal: c.journal, Source: "agentd/" + c.node.ID + "/" + c.Boot, Clock: c.o.Clock, Logger: c.logger,
	})
	gateDB := filepath.Join(c.dir, "gate.db")
	if c.o.Memory {
		gateDB = ""
	}
	var err error
	c.Gate, err = gate.New(ctx, gate.Options{
		Log: c.Log, Policy: c.o.Policy, Tools: c.o.Tools, Path: gateDB, Node: c.node.ID, Boot: c.Boot, Names: c.o.Names,
		Logger: c.logger, Clock: c.o.Clock,
	})
	if err != nil {
		return fmt.Errorf("open the gate: %w", err)
	}
	return nil
}

func (c *Countersign) nodeFile() string { return filepath.Join(c.dir, "node.json") }

// readNode reads who this data directory is, and makes it up the first time.
func (c *Countersign) readNode() error {
	if c.o.Memory {
		c.node.ID = events.NewID()
		return nil
	}
	b, err := os.ReadFile(c.nodeFile())
	if errors.Is(err, fs.ErrNotExist) {
		c.node.ID = events.NewID()
		return nil
	}
	if err == nil {
		err = json.Unmarshal(b, &c.node)
	}
	if err == nil && c.node.ID == "" {
		err = errors.New(`it has no "node"`)
	}
	if err != nil {
		return fmt.Errorf("%s does not say which node this is: %w; restore it from a backup, or remove it: then calls that were running are not ended as ambiguous",
			c.nodeFile(), err)
	}
	return nil
}

func (c *Countersign) writeNode() error {
	if c.o.Memory {
		return nil
	}
	b, err := json.Marshal(node{ID: c.node.ID, Boot: c.Boot})
	if err != nil {
		return err
	}
	return replaceFile(c.nodeFile(), append(b, '\n'))
}

// replaceFile writes a file so that a crash leaves the old text or the new one.
func replaceFile(path string, text []byte) error {
	f, err := os.OpenFile(path+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600) //nolint:gosec // in the data directory
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(path+".new", path); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// endedAsAsked reports whether the log ends with the shutdown of the last boot.
func (c *Countersign) endedAsAsked(ctx context.Context) bool {
	last, err := c.journal.Read(ctx, c.journal.Head().Row-1, 1)
	if err != nil || len(last) == 0 {
		return false
	}
	e, err := events.DecodeEnvelope(last[0].Record.Envelope)
	return err == nil && e.Type == events.TypeShutdown
}

// Heads returns the head of each partition's Merkle tree: what to keep
// elsewhere, so that a cut or exchanged log shows.
func (c *Countersign) Heads() []events.Head {
	heads := []events.Head{}
	for _, p := range c.journal.Head().Partitions {
		heads = append(heads, events.Head{Partition: p.Partition, Size: p.Size, Root: events.Digest(fmt.Sprintf("%x", p.Root[:]))})
	}
	return heads
}

// Run writes the log and serves the gate until ctx ends. The boot is the first
// event and the shutdown the last: whoever uses the gate must be done before
// ctx ends.
func (c *Countersign) Run(ctx context.Context) error {
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
	return errors.Join(err, writer.Wait())
}

// serve runs everything above the writer, between boot and shutdown.
func (c *Countersign) serve(ctx, writing context.Context) error {
	if err := c.boot(writing); err != nil {
		return err
	}
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return c.Gate.Run(ctx) })
	group.Go(func() error { return c.pulse(ctx) })
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
		_, lastErr := c.Log.Append(writing, events.Draft{Data: &events.Shutdown{BootID: c.Boot, Reason: reason(err), Heads: c.Heads()}})
		err = errors.Join(err, lastErr)
	}
	return err
}

func reason(err error) string {
	if err != nil {
		return "failure"
	}
	return "asked"
}

// boot records the boot, and what the gate stands on.
func (c *Countersign) boot(ctx context.Context) error {
	name := "embedded"
	if c.o.Memory {
		name = "memory"
	}
	_, err := c.Log.Append(ctx, events.Draft{Data: &events.Boot{
		BootID: c.Boot, Node: c.node.ID, Version: Version(), GoVersion: runtime.Version(), Previous: c.Heads(), LastBoot: c.node.Boot,
		Clean: c.clean, Clock: events.At(c.o.Clock()), Isolation: c.o.Isolation, Bus: name,
	}})
	if err != nil {
		return fmt.Errorf("record the boot: %w", err)
	}
	if err := c.writeNode(); err != nil {
		return fmt.Errorf("note the boot beside the journal: %w", err)
	}
	return c.Gate.DefineAll(ctx)
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
