package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/countersign-dev/countersign/events"
)

const (
	sseClients = 1000
	sseEvents  = 90 // of a round
	ssePace    = time.Second / 30
	sseGoal    = 100 * time.Millisecond // p99, until the last client has it
	sseMemory  = 100.0                  // MB
)

// measureStreams measures from the append of an event to the moment when the
// last of a thousand browsers has its notice; and what these cost in memory.
// The limit is a program that writes the same bytes to as many connections.
func (b *bench) measureStreams(ctx context.Context) (rows []Row, err error) {
	err = b.withHouse(ctx, func(ctx context.Context, h *house, _ *rawFile) (err error) {
		console, err := newConsole(ctx, h)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, console.close()) }()
		bare, err := newFanOut(ctx)
		if err != nil {
			return err
		}
		defer func() { err = errors.Join(err, bare.close()) }()

		empty := held()
		limitClients, err := gather(ctx, bare.addr(), "")
		if err != nil {
			return err
		}
		defer limitClients.close()
		if err := bare.admit(sseClients); err != nil {
			return err
		}
		alone := held() - empty
		ourClients, err := gather(ctx, console.addr, h.token)
		if err != nil {
			return err
		}
		defer ourClients.close()
		cost := held() - empty - alone

		pairs, err := b.fanOuts(ctx, h, ourClients, limitClients, bare)
		if err != nil {
			return err
		}
		rows = streamRows(pairs, cost, alone)
		return nil
	})
	return rows, err
}

// fanOuts takes ours and the limit in turn, round by round.
func (b *bench) fanOuts(ctx context.Context, h *house, ours, limit *audience, bare *fanOut) (pairs []pair, err error) {
	for round := range b.o.Rounds + 1 { // the first warms up
		mine, err := ours.round(ctx, func(i int) error { return h.define(ctx, round*sseEvents+i) })
		if err != nil {
			return nil, err
		}
		if err := h.quiet(ctx); err != nil {
			return nil, err
		}
		frame := bytes.Clone(ours.sample)
		least, err := limit.round(ctx, func(int) error { return bare.write(frame) })
		if err != nil {
			return nil, err
		}
		if round > 0 {
			pairs = append(pairs, pair{mine, least})
		}
	}
	return pairs, nil
}

func streamRows(pairs []pair, cost, alone float64) []Row {
	row := latency(fmt.Sprintf("event appended to told %d streams, 30/s", sseClients), 0, pairs,
		"until the last client has read it, clients in this process too; the limit writes the same bytes to as many bare connections, and appends nothing")
	p99 := median(pairs, func(p pair) time.Duration { return p.ours.p99 })
	row.CPU = median(pairs, func(p pair) time.Duration { return p.ours.cpu })
	row.Goal, row.Met = "p99 < "+ms(sseGoal), p99 < sseGoal
	return []Row{row, {
		What: fmt.Sprintf("%d streams", sseClients), Ours: "+" + mb(cost), Limit: "+" + mb(alone), Goal: "< " + mb(sseMemory), Met: cost < sseMemory,
		Note: fmt.Sprintf("%.0f kB for a stream, with its client in the same process; heap and stacks", cost*1000/sseClients),
	}}
}

// held is the memory of this process that is in use, in MB.
func held() float64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapInuse+m.StackInuse) / 1e6
}

// define appends an event that everybody in the console hears of.
func (h *house) define(ctx context.Context, i int) error {
	p := events.NewPayload(fmt.Appendf(nil, "definition %d", i))
	_, err := h.cs.Log.Append(ctx, events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: events.DefineTools, Name: "bench", Digest: events.DigestOf(p.Bytes), Content: p.Ref(events.MediaText),
	}})
	return err
}
