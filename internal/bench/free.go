package bench

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// freeSamples is how many turns a round takes.
const freeSamples = 60

// stepsOfCall are the durable steps of a call that nobody is asked about: the
// call, its start, its result.
const stepsOfCall = 3

// measureFree measures what recording costs calls that nobody is asked about:
// from the end of the model's turn until the log has come back with the last
// result, the tools doing nothing.
func (b *bench) measureFree(ctx context.Context) ([]Row, error) {
	var rows []Row
	err := b.withHouse(ctx, func(ctx context.Context, h *house, raw *rawFile) error {
		for _, calls := range freeTurns() {
			more, err := b.freeRows(ctx, h, raw, calls)
			if err != nil {
				return err
			}
			rows = append(rows, more...)
		}
		return nil
	})
	return rows, err
}

func freeTurns() []int { return []int{1, 8} }

// freeRows measures turns of so many calls: what one call costs beside its raw
// appends, and what the whole turn costs beside those of a turn whose calls
// share each.
func (b *bench) freeRows(ctx context.Context, h *house, raw *rawFile, calls int) ([]Row, error) {
	var commits []int
	var turns, alone []pair
	took := make([]time.Duration, 0, freeSamples)
	turns, err := b.rounds(freeSamples, func() (ours, limit time.Duration, err error) {
		var t turned
		err = h.counted(func() error {
			t, err = h.freeTurn(ctx, calls)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		commits = append(commits, t.commits)
		one, err := rawSteps(raw, 1)
		if err != nil {
			return 0, 0, err
		}
		took = append(took, one)
		limit, err = rawSteps(raw, calls)
		return t.took, limit, err
	})
	if err != nil {
		return nil, err
	}
	one := summarize(took)
	for _, p := range turns {
		p.ours.p50, p.ours.p99 = p.ours.p50/time.Duration(calls), p.ours.p99/time.Duration(calls)
		alone = append(alone, pair{p.ours, one})
	}
	slices.Sort(commits)
	row := latency(fmt.Sprintf("free call, %d in a turn", calls), 1.5, alone,
		fmt.Sprintf("the limit: %d raw appends of 600 B for a call; the turn takes %d commits", stepsOfCall, commits[len(commits)/2]))
	row.CPU = h.account()
	if calls == 1 {
		return []Row{row}, nil
	}
	whole := latency(fmt.Sprintf("the whole turn of %d", calls), 0, turns, fmt.Sprintf("beside %d raw appends that all its calls share", stepsOfCall))
	whole.Goal = ""
	return []Row{row, whole}, nil
}

// turned is a turn as it was measured.
type turned struct {
	took    time.Duration
	commits int
}

// freeTurn runs a turn of free calls in a new conversation.
func (h *house) freeTurn(ctx context.Context, calls int) (turned, error) {
	session := events.NewRequestID()
	var watch errgroup.Group
	var done time.Time
	watch.Go(func() error {
		return h.cs.Gate.Watch(ctx, session, func(s *fold.Session) bool {
			done = time.Now()
			return results(s) == calls
		})
	})
	reader, err := h.begin(ctx, agent.Query{Session: session, Text: query(calls, "Look")})
	if err != nil {
		return turned{}, err
	}
	if err := watch.Wait(); err != nil {
		return turned{}, err
	}
	began := <-h.model.turned
	<-h.model.asked
	if err := h.end(ctx, reader); err != nil {
		return turned{}, err
	}
	commits, err := h.commits(ctx, session)
	return turned{done.Sub(began), commits}, err
}

func results(s *fold.Session) (n int) {
	for _, c := range s.Calls {
		if c.Result != nil {
			n++
		}
	}
	return n
}

// commits counts the commits from the calls of a session to their results: the
// records of one share a log time.
func (h *house) commits(ctx context.Context, session string) (int, error) {
	entries, err := h.cs.Log.Session(ctx, session, 0, 1000)
	if err != nil {
		return 0, err
	}
	times := map[int64]bool{}
	for _, e := range entries {
		switch fold.Decode(e.Record).Event.(type) { //nolint:gochecksumtype // the rest is not of the calls
		case *events.ToolCall, *events.ToolStarted, *events.ToolResult:
			times[e.Record.LogTime] = true
		}
	}
	return len(times), nil
}

// rawSteps are the raw appends of a turn whose calls share each.
func rawSteps(raw *rawFile, calls int) (time.Duration, error) {
	var b []byte
	for range calls {
		b = append(b, envelope(someID, someID)...)
	}
	began := time.Now()
	for range stepsOfCall {
		if err := raw.append(b); err != nil {
			return 0, err
		}
	}
	return time.Since(began), nil
}

// someID stands for any.
const someID = "0198c0de-0000-7000-8000-000000000000"
