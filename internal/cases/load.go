package cases

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/projections"
)

// loadTime bounds a load, whatever the case says: nobody waits longer for a
// line.
const loadTime = 4 * time.Second

// load is a house with its views under many writers and readers.
type load struct {
	*house
	views            *projections.Views
	writers, readers int
	lasts            time.Duration

	mu    sync.Mutex
	calls int             // proposed and decided; mu
	took  []time.Duration // of decisions; mu
	errs  []error         // mu
}

// judgeLoad writes, decides and reads at once, with a second reader of the
// journal verifying it meanwhile, and judges that nothing failed or was lost.
func judgeLoad(ctx context.Context, o Options, f *folder) error {
	l := &load{lasts: loadTime}
	if err := l.read(f); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	p := newProvider()
	defer p.Close()
	spec := houseSpec{Dir: dir, Policy: policy.Config{Timeout: time.Minute}, Stubs: []stubSpec{{Name: "Bash"}}, Provider: p.url()}
	if l.house, err = openHouse(ctx, spec, o.Logger); err != nil {
		return err
	}
	l.views, err = projections.Open(ctx, projections.Options{Path: filepath.Join(dir, "data", "views.db"), Source: l.cs.Log})
	if err != nil {
		return errors.Join(err, l.cs.Close())
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	err = l.run(running, l.views.Run, func(ctx context.Context) error {
		defer stop()
		return l.work(ctx, f)
	})
	return errors.Join(err, l.views.Close(), l.cs.Close())
}

func (l *load) read(f *folder) error {
	var seconds int
	var mix, processes []string
	w := f.readWants("load.json")
	w.take("writers", &l.writers)
	w.take("readers", &l.readers)
	w.take("mix", &mix) // all of it is always done
	w.take("processes", &processes)
	if w.take("seconds", &seconds) {
		l.lasts = min(loadTime, time.Duration(seconds)*time.Second)
	}
	if name := w.unknown(); name != "" {
		return notUnderstood("%q in load.json", name)
	}
	return nil
}

// work runs writers and readers for their time, and judges what is left.
func (l *load) work(ctx context.Context, f *folder) error {
	timed, cancel := context.WithTimeout(ctx, l.lasts)
	defer cancel()
	var group errgroup.Group
	for i := range l.writers {
		group.Go(func() error { return l.write(timed, fmt.Sprintf("writer-%d", i)) })
	}
	for range l.readers {
		group.Go(func() error { return l.look(timed) })
	}
	group.Go(func() error { return l.verify(timed) })
	l.note(group.Wait())
	return l.judge(ctx, f)
}

func (l *load) note(err error) {
	if err != nil {
		l.errs = append(l.errs, err)
	}
}

// write proposes a call and declines it, again and again.
func (l *load) write(timed context.Context, session string) error {
	ctx := context.WithoutCancel(timed) // what has begun is finished
	for timed.Err() == nil {
		batch := events.NewID()
		err := l.cs.Gate.Propose(ctx, gate.Proposal{
			Session: session, BatchID: batch, Agent: events.Agent{Name: "main"}, Model: "stub", Principal: session,
			Calls: []gate.ProposedCall{{CallID: batch, Tool: "Bash", Arguments: []byte(`{"command":"id"}`)}},
		})
		if err != nil {
			return err
		}
		if err := l.decline(ctx, session, batch); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) decline(ctx context.Context, session, batch string) error {
	var request string
	err := l.cs.Gate.View(ctx, session, func(s *foldSession) {
		request = s.Calls[events.CallKey{BatchID: batch}].Request.RequestID
	})
	if err != nil {
		return err
	}
	began := time.Now()
	a, err := l.cs.Gate.Decide(ctx, gate.Ruling{RequestID: request, Verdict: events.VerdictDecline, Actor: reviewer(), ActorName: "reviewer", Via: "console"})
	if err == nil && !a.Accepted {
		err = fmt.Errorf("a decision was not accepted: %s", a.Reason)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls++
	l.took = append(l.took, time.Since(began))
	return err
}

// look reads the lists, and searches, again and again.
func (l *load) look(timed context.Context) error {
	ctx := context.WithoutCancel(timed)
	all := projections.Reader{All: true}
	for timed.Err() == nil {
		if _, err := l.views.History(ctx, projections.Filter{Reader: all}, "", 50); err != nil {
			return err
		}
		if _, err := l.views.History(ctx, projections.Filter{Query: "command", Reader: all}, "", 50); err != nil {
			return err
		}
		if _, err := l.views.Pending(ctx, all, 50); err != nil {
			return err
		}
		if _, err := l.views.Sessions(ctx, all, "", 50); err != nil {
			return err
		}
	}
	return nil
}

// verify reads the whole journal beside its writer, as another process does.
func (l *load) verify(timed context.Context) error {
	ctx := context.WithoutCancel(timed)
	for timed.Err() == nil {
		j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(l.spec.Dir, "data", "journal.db"), ReadOnly: true})
		if err != nil {
			return err
		}
		if err := errors.Join(j.VerifyAll(ctx, func(int64) {}), j.Close()); err != nil {
			return err
		}
	}
	return nil
}

// judge waits for the views, and counts.
func (l *load) judge(ctx context.Context, f *folder) error {
	var want int
	if f.expect.take("errors", &want) {
		f.report.check("errors", len(l.errs) == want, "%v", errors.Join(l.errs...))
	}
	n := &node{house: l.house, views: l.views}
	n.catchUp(ctx)
	seen := map[events.CallKey]int{}
	for cursor := ""; ; {
		page, err := l.views.History(ctx, projections.Filter{Reader: projections.Reader{All: true}}, cursor, 1000)
		if err != nil {
			return err
		}
		for _, c := range page.Items {
			seen[c.CallKey]++
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	total := 0
	for _, times := range seen {
		total += times
	}
	if f.expect.take("lost", &want) {
		same(f.report, "lost", l.calls-len(seen), want)
	}
	if f.expect.take("duplicates", &want) {
		same(f.report, "duplicates", total-len(seen), want)
	}
	slices.Sort(l.took)
	if len(l.took) == 0 {
		f.report.fail("nothing was decided")
		return nil
	}
	p99 := l.took[len(l.took)*99/100]
	f.report.check("p99 of a decision", p99 < time.Second, "it is %v", p99)
	return nil
}
