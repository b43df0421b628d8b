package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/models"
)

// Options say what is measured.
type Options struct {
	Out io.Writer
	// Only are the parts to measure; none means all.
	Only []string
	// Rounds is how often ours and the limit take turns; 0 means 5.
	Rounds int
	// Events is the size of the journal that agentd starts with, and of the log
	// under the views; 0 means 1,000,000 and 200,000.
	Events int
	// Views makes part boot wait until the views are built, which takes minutes,
	// and tell how long it took.
	Views bool
	// Pending is how many calls wait for people; 0 means 10,000.
	Pending int
	// Agentd is the program, for parts that measure a process.
	Agentd string
	// Dir is where the files go, on the disk that is measured; "" is a
	// temporary folder.
	Dir string
}

// bench is one run.
type bench struct {
	o       Options
	folders int
	log     *viewLog // nil: not generated yet
}

// part is a group of rows.
type part struct {
	name    string
	measure func(*bench, context.Context) ([]Row, error)
}

func parts() []part {
	return []part{
		{"append", (*bench).measureAppends},
		{"start", (*bench).measureStart},
		{"free", (*bench).measureFree},
		{"isolation", (*bench).measureIsolation},
		{"boot", (*bench).measureBoot},
		{"memory", (*bench).measureMemory},
		{"streams", (*bench).measureStreams},
		{"rebuild", (*bench).measureRebuild},
		{"pages", (*bench).measurePages},
		{"searches", (*bench).measureSearches},
	}
}

// Run measures and prints. It fails where something could not be measured, not
// where a goal is missed.
func Run(ctx context.Context, o Options) (err error) {
	if o.Rounds == 0 {
		o.Rounds = 5
	}
	if o.Pending == 0 {
		o.Pending = 10_000
	}
	dir, err := os.MkdirTemp(o.Dir, "countersign-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	o.Dir = dir
	b := &bench{o: o}
	defer func() { err = errors.Join(err, b.log.close()) }()
	for _, p := range parts() {
		if len(o.Only) > 0 && !slices.Contains(o.Only, p.name) {
			continue
		}
		if err := b.part(ctx, p); err != nil {
			return fmt.Errorf("bench %s: %w", p.name, err)
		}
	}
	return nil
}

// part prints a part with what the machine was doing.
func (b *bench) part(ctx context.Context, p part) error {
	before := load()
	rows, err := p.measure(b, ctx)
	if err != nil {
		return err
	}
	fmt.Fprintf(b.o.Out, "%s (%s; load average %s before, %s after; medians of %d rounds)\n", p.name, machine(), before, load(), b.o.Rounds)
	return write(b.o.Out, rows)
}

// folder makes a new folder on the disk that is measured.
func (b *bench) folder() (string, error) {
	b.folders++
	dir := fmt.Sprintf("%s/%d", b.o.Dir, b.folders)
	return dir, os.Mkdir(dir, 0o700)
}

// rounds takes ours and the limit in turn, sample by sample.
func (b *bench) rounds(samples int, sample func() (ours, limit time.Duration, err error)) ([]pair, error) {
	for range samples / 4 { // connections, caches, the write-ahead log
		if _, _, err := sample(); err != nil {
			return nil, err
		}
	}
	var pairs []pair
	for range b.o.Rounds {
		ours, limits := make([]time.Duration, samples), make([]time.Duration, samples)
		for i := range samples {
			var err error
			if ours[i], limits[i], err = sample(); err != nil {
				return nil, err
			}
		}
		pairs = append(pairs, pair{summarize(ours), summarize(limits)})
	}
	return pairs, nil
}

// latency is the row of a time that should be at most some times the limit's.
func latency(what string, goal float64, pairs []pair, note string) Row {
	both := func(of func(pair) figures) string {
		return fmt.Sprintf("p50 %s, p99 %s", ms(median(pairs, func(p pair) time.Duration { return of(p).p50 })),
			ms(median(pairs, func(p pair) time.Duration { return of(p).p99 })))
	}
	ratio := median(pairs, pair.p50)
	return Row{
		What: what, Ours: both(func(p pair) figures { return p.ours }), Limit: both(func(p pair) figures { return p.limit }),
		Ratio: times(ratio), Tail: times(median(pairs, pair.p99)), Goal: fmt.Sprintf("≤ %.1f", goal), Met: ratio <= goal, Note: note,
	}
}

// scripted is the model's script, parsed.
func scripted() (*models.Scripted, error) {
	s, err := models.ParseScript("bench", []byte(script(freeTurns()...)))
	return models.NewScripted("bench", s), err
}

// PartNames lists what Options.Only may hold.
func PartNames() string {
	var names []string
	for _, p := range parts() {
		names = append(names, p.name)
	}
	return strings.Join(names, ", ")
}
