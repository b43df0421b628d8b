package main_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// entry is a record of the log, read as an outsider with the file would.
type entry struct {
	row     int64
	logTime int64 // microseconds
	events.Envelope
	digest events.Digest // of the envelope
	event  events.Event
}

// log is a journal file, whole and verified.
type log struct {
	t       *testing.T
	journal *journal.Journal
	entries []entry
}

// readLog opens the journal for reading, without its lock, and verifies all of
// it.
func readLog(t *testing.T, path string) *log {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{Path: path, ReadOnly: true, Names: func(b []byte) (string, string, error) {
		e, err := events.DecodeEnvelope(b)
		return e.ID, e.SessionID, err
	}})
	require.NoError(t, err)
	t.Cleanup(func() { j.Close() })
	require.NoError(t, j.VerifyAll(t.Context(), func(int64) {}))
	l := &log{t: t, journal: j}
	stored, err := j.Read(t.Context(), 0, 1<<20)
	require.NoError(t, err)
	for _, s := range stored {
		e := entry{row: s.Row, logTime: s.Record.LogTime, digest: events.DigestOf(s.Record.Envelope)}
		e.Envelope, err = events.DecodeEnvelope(s.Record.Envelope)
		require.NoError(t, err)
		e.event, err = e.Event()
		require.NoError(t, err)
		l.entries = append(l.entries, e)
	}
	return l
}

// text returns the bytes that an event refers to, "" where it refers to none.
func (l *log) text(e entry, r *events.Ref) string {
	l.t.Helper()
	if r == nil {
		return ""
	}
	carrier := e.ID
	if r.In != "" {
		carrier = r.In
	}
	p, err := l.journal.Payload(l.t.Context(), 0, carrier, r.Commitment)
	require.NoError(l.t, err, "%s %s", e.Type, e.ID)
	return string(p.Bytes)
}

// last returns the last record.
func (l *log) last() entry { return l.entries[len(l.entries)-1] }

// all returns the events of a kind, in log order.
func all[E events.Event](l *log) []E {
	var found []E
	for _, e := range l.entries {
		if d, ok := e.event.(E); ok {
			found = append(found, d)
		}
	}
	return found
}
