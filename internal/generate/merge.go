package generate

import (
	"cmp"
	"container/heap"
	"math"

	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/journal"
)

// moment is one event at its place in log time.
type moment struct {
	journal.Entry

	idle fold.Reason // why the fold is to find that it does not count; "" where it counts
}

// size is what it holds, in bytes.
func (m moment) size() int64 {
	n := len(m.Envelope)
	for _, p := range m.Payloads {
		n += len(p.Bytes)
	}
	return int64(n)
}

// stream is the events of one session, in order.
type stream struct {
	no      int // settles who goes first at the same time
	moments []moment
}

// began is the log time of its first event, in microseconds.
func (s *stream) began() int64 { return s.moments[0].LogTime }

// merger puts streams into one order, that of log time.
type merger struct {
	streams queue
	batch   []moment
	bytes   int64
	count   int // of events that were added
	out     func([]moment) error
}

func (m *merger) add(s *stream) {
	if len(s.moments) > 0 {
		m.count += len(s.moments)
		heap.Push(&m.streams, s)
	}
}

// emit puts out everything before a log time: all streams that begin earlier
// have been added.
func (m *merger) emit(before int64) error {
	for len(m.streams) > 0 && m.streams[0].began() < before {
		s := m.streams[0]
		m.batch, m.bytes = append(m.batch, s.moments[0]), m.bytes+s.moments[0].size()
		s.moments = s.moments[1:]
		if len(s.moments) == 0 {
			heap.Pop(&m.streams)
		} else {
			heap.Fix(&m.streams, 0)
		}
		if len(m.batch) < atOnce && m.bytes < bytesAtOnce {
			continue
		}
		if err := m.flush(); err != nil {
			return err
		}
	}
	return nil
}

func (m *merger) flush() error {
	batch := m.batch
	m.batch, m.bytes = nil, 0
	return m.out(batch)
}

// finish puts out what is left.
func (m *merger) finish() error {
	if err := m.emit(math.MaxInt64); err != nil {
		return err
	}
	return m.flush()
}

// queue is a heap of streams by their next event.
type queue []*stream

// Len implements heap.Interface.
func (q *queue) Len() int { return len(*q) }

// Less implements heap.Interface.
func (q *queue) Less(i, j int) bool {
	a, b := (*q)[i], (*q)[j]
	return cmp.Or(cmp.Compare(a.began(), b.began()), cmp.Compare(a.no, b.no)) < 0
}

// Swap implements heap.Interface.
func (q *queue) Swap(i, j int) { (*q)[i], (*q)[j] = (*q)[j], (*q)[i] }

// Push implements heap.Interface.
func (q *queue) Push(x any) {
	if s, ok := x.(*stream); ok {
		*q = append(*q, s)
	}
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(*q) - 1
	s := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return s
}
