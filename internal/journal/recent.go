package journal

import (
	"bytes"
	"slices"
	"sync"

	"github.com/countersign-dev/countersign/events"
)

const (
	recentRows  = 1024
	recentBytes = 2 << 20 // of records, and as much of payloads
	// recentPayload is the longest payload that is kept: one of a megabyte
	// would push out all others.
	recentPayload = 64 << 10
)

// recent is the end of the journal in memory: gate, views and streams follow
// the log, so what they read was nearly always written a moment ago. It holds
// what is committed and nothing else, and answers as the file would.
type recent struct {
	mu       sync.RWMutex
	rows     []Stored                   // the last ones, without a gap; mu
	bytes    int                        // of rows; mu
	payloads map[place][]events.Payload // mu
	order    []place                    // of payloads, oldest first; mu
	held     int                        // bytes of payloads; mu
}

// place names an event.
type place struct {
	partition uint32
	id        string
}

func newRecent() *recent { return &recent{payloads: map[place][]events.Payload{}} }

// add takes up what a commit stored.
func (m *recent) add(batch []*request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, r := range batch {
		if r.err != nil {
			continue
		}
		for i, s := range r.stored {
			if !s.Duplicate {
				m.addRow(s)
				m.addPayloads(&r.entries[i])
			}
		}
	}
	m.trim()
}

// addRow keeps a record, whose bytes are the writer's own.
func (m *recent) addRow(s Stored) {
	if n := len(m.rows); n > 0 && m.rows[n-1].Row+1 != s.Row {
		m.rows, m.bytes = nil, 0 // somebody else's row lies between; the file has it
	}
	m.rows = append(m.rows, s)
	m.bytes += len(s.Record.Envelope)
}

// addPayloads keeps all payloads of an event, or none.
func (m *recent) addPayloads(e *prepared) {
	size := 0
	for _, p := range e.Payloads {
		size += len(p.Bytes)
	}
	if size > recentPayload || len(e.Payloads) == 0 {
		return
	}
	kept := make([]events.Payload, len(e.Payloads))
	for i, p := range e.Payloads {
		kept[i] = events.Payload{Salt: p.Salt, Bytes: bytes.Clone(p.Bytes)}
	}
	at := place{e.Partition, e.ID}
	m.payloads[at] = kept
	m.order = append(m.order, at)
	m.held += size
}

// trim forgets the oldest, now and then: to move what stays costs more than to
// keep twice as much.
func (m *recent) trim() {
	if len(m.rows) > 2*recentRows || m.bytes > 2*recentBytes {
		n := 0
		for ; len(m.rows)-n > recentRows || m.bytes > recentBytes; n++ {
			m.bytes -= len(m.rows[n].Record.Envelope)
		}
		m.rows = slices.Delete(m.rows, 0, n)
	}
	if len(m.order) > 2*recentRows || m.held > 2*recentBytes {
		n := 0
		for ; len(m.order)-n > recentRows || m.held > recentBytes; n++ {
			m.forget(m.order[n])
		}
		m.order = slices.Delete(m.order, 0, n)
	}
}

// forget drops the payloads of an event.
func (m *recent) forget(at place) {
	for _, p := range m.payloads[at] {
		m.held -= len(p.Bytes)
	}
	delete(m.payloads, at)
}

// read is Journal.Read; ok says that all it asks for is here.
func (m *recent) read(after int64, most int) (found []Stored, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	rows, ok := m.after(after)
	return slices.Clone(rows[:min(len(rows), max(most, 0))]), ok
}

// readSession is Journal.ReadSession; ok as of read.
func (m *recent) readSession(session string, after int64, most int) (found []Stored, ok bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	rows, ok := m.after(after)
	for _, s := range rows {
		if len(found) < most && s.Session == session {
			found = append(found, s)
		}
	}
	return found, ok
}

// after returns the rows after one. mu is held.
func (m *recent) after(row int64) (rows []Stored, ok bool) {
	if len(m.rows) == 0 || row+1 < m.rows[0].Row {
		return nil, false
	}
	return m.rows[min(row+1-m.rows[0].Row, int64(len(m.rows))):], true
}

// payload returns a payload of an event by its commitment.
func (m *recent) payload(partition uint32, id, commitment string) (events.Payload, bool) {
	m.mu.RLock()
	defer m.mu.RUnlock()
	for _, p := range m.payloads[place{partition, id}] {
		if events.Commitment(p.Salt, p.Bytes) == commitment {
			return p, true
		}
	}
	return events.Payload{}, false
}
