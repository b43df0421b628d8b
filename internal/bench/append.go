package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// crowd is a load of appends: so many callers append together, each so many
// entries at once.
type crowd struct {
	callers, batch, appends int
	goal                    float64 // of the ratio
	perSecond               float64 // a goal in events a second besides; 0: none
}

func crowds() []crowd {
	return []crowd{
		{callers: 1, batch: 1, appends: 2_000, goal: 0.8},
		{callers: 100, batch: 1, appends: 20_000, goal: 0.35},
		{callers: 1000, batch: 1, appends: 60_000, goal: 0.15},
		{callers: 1, batch: 1000, appends: 100, perSecond: 60_000},
	}
}

// measureAppends compares the journal with the raw log.
func (b *bench) measureAppends(ctx context.Context) ([]Row, error) {
	var rows []Row
	for _, c := range crowds() {
		dir, err := b.folder()
		if err != nil {
			return nil, err
		}
		pairs, err := c.compare(ctx, dir, b.o.Rounds)
		if err != nil {
			return nil, fmt.Errorf("append with %d callers: %w", c.callers, err)
		}
		rows = append(rows, c.row(pairs))
	}
	return rows, nil
}

func (c crowd) compare(ctx context.Context, dir string, rounds int) (pairs []pair, err error) {
	raw, err := newRawLog(filepath.Join(dir, "raw.log"))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, raw.close()) }()
	answers := make([]chan error, c.callers)
	for i := range answers {
		answers[i] = make(chan error, 1)
	}
	err = withJournal(ctx, dir, func(j *journal.Journal) error {
		for range rounds {
			limit, err := c.measure(func(caller int, es []journal.Entry) error { return raw.append(answers[caller], envelopes(es)) })
			if err != nil {
				return err
			}
			ours, err := c.measure(func(_ int, es []journal.Entry) error {
				_, err := j.Append(ctx, journal.Begins, es...)
				return err
			})
			if err != nil {
				return err
			}
			pairs = append(pairs, pair{ours, limit})
		}
		return nil
	})
	return pairs, err
}

// withJournal runs a journal around f.
func withJournal(ctx context.Context, dir string, f func(*journal.Journal) error) error {
	j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(dir, "journal.db")})
	if err != nil {
		return err
	}
	writing, stop := context.WithCancel(ctx)
	defer stop()
	var writer errgroup.Group
	writer.Go(func() error { return j.Run(writing) })
	err = f(j)
	stop()
	return errors.Join(err, writer.Wait(), j.Close())
}

func envelopes(es []journal.Entry) [][]byte {
	pieces := make([][]byte, len(es))
	for i := range es {
		pieces[i] = es[i].Envelope
	}
	return pieces
}

// measure is one round. The bytes are minted before the clock starts.
func (c crowd) measure(do func(caller int, es []journal.Entry) error) (figures, error) {
	minted := c.mint()
	took := make([]time.Duration, c.appends)
	var callers errgroup.Group
	cpu, start := cpuTime(), time.Now()
	for caller := range c.callers {
		callers.Go(func() error {
			for i := caller; i < c.appends; i += c.callers {
				began := time.Now()
				if err := do(caller, minted[i]); err != nil {
					return err
				}
				took[i] = time.Since(began)
			}
			return nil
		})
	}
	if err := callers.Wait(); err != nil {
		return figures{}, err
	}
	wall, n := time.Since(start), c.appends*c.batch
	f := summarize(took)
	f.perSecond, f.cpu = float64(n)/wall.Seconds(), (cpuTime()-cpu)/time.Duration(n)
	return f, nil
}

// mint makes the entries of a round, each caller with a session of its own.
func (c crowd) mint() [][]journal.Entry {
	minted := make([][]journal.Entry, c.appends)
	for i := range minted {
		session := fmt.Sprintf("session-%d", i%c.callers)
		for range c.batch {
			id := events.NewID()
			minted[i] = append(minted[i], journal.Entry{ID: id, Session: session, Type: "tool_call", Envelope: envelope(id, session)})
		}
	}
	return minted
}

// envelope is about 600 bytes long, as those of most events are.
func envelope(id, session string) []byte {
	return fmt.Appendf(nil, `{"specversion":"1.0","id":%q,"source":"bench","type":"tool_call","subject":"x",`+
		`"time":"2026-01-02T03:04:05.000006Z","sessionid":%q,"data":{"text":%q}}`, id, session, strings.Repeat("a", 380))
}

func (c crowd) row(pairs []pair) Row {
	rate := func(f figures) string { return fmt.Sprintf("%.0f/s, p50 %s", f.perSecond, ms(f.p50)) }
	ours := median(pairs, func(p pair) float64 { return p.ours.perSecond })
	ratio := median(pairs, pair.rate)
	r := Row{
		What: fmt.Sprintf("append, %d callers", c.callers), Ratio: times(ratio), Tail: times(median(pairs, pair.p99)),
		CPU:  median(pairs, func(p pair) time.Duration { return p.ours.cpu }),
		Goal: fmt.Sprintf("≥ %.2f", c.goal), Met: ratio >= c.goal,
	}
	if c.batch > 1 {
		r.What = fmt.Sprintf("append, %d at once", c.batch)
		r.Goal, r.Met = fmt.Sprintf("≥ %.0f/s", c.perSecond), ours >= c.perSecond
	}
	r.Ours = rate(figures{perSecond: ours, p50: median(pairs, func(p pair) time.Duration { return p.ours.p50 })})
	r.Limit = rate(figures{
		perSecond: median(pairs, func(p pair) float64 { return p.limit.perSecond }), p50: median(pairs, func(p pair) time.Duration { return p.limit.p50 }),
	})
	return r
}
