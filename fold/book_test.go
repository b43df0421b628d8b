package fold_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// epoch is log time 0 of every book.
var epoch = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

const (
	me      = "n/b1" // the executor that starts
	request = "0f0f0f0f-0000-4000-8000-000000000001"
	timeout = 180 * time.Second
	within  = 60 * time.Second
)

var (
	hour = time.Hour
	key  = events.CallKey{BatchID: "b", Index: 0}
	rule = events.DigestOf([]byte("policy"))
)

// A book is a session's log, written step by step, with the fold beside it.
type book struct {
	t testing.TB
	*fold.Session
	minter  *events.Minter
	records []events.Record
	reasons []fold.Reason // what the fold said of each; "" counts
	now     time.Time

	last     map[events.Type]events.Minted // the last of each type
	args     *events.Ref                   // the text that would run, as later events name it
	current  events.Digest                 // what decisions and starts must name
	approval string                        // the id of the last approve or modification that counted
}

// step is one record, and what the fold must say of it.
type step struct {
	at   time.Duration // log time since the epoch
	what draft
	want fold.Reason // "": it counts
}

// draft makes the next record from what the book holds.
type draft func(b *book) events.Draft

func newBook(t testing.TB) *book {
	b := &book{t: t, Session: fold.NewSession("s"), reasons: []fold.Reason{}, last: map[events.Type]events.Minted{}, now: epoch}
	b.minter = events.NewMinter("agentd/n/b1", func() time.Time { return b.now })
	return b
}

// write returns the book after some steps, each of which must be judged as it
// says.
func write(t testing.TB, steps ...step) *book {
	t.Helper()
	b := newBook(t)
	for i, s := range steps {
		b.now = epoch.Add(s.at)
		o := b.add(s.what(b))
		require.Equal(t, s.want, o.Reason, "step %d", i+1)
		require.Equal(t, s.want == "", o.Counts, "step %d", i+1)
	}
	return b
}

func (b *book) add(d events.Draft) fold.Outcome {
	d.Session = "s"
	minted, err := b.minter.Mint(d)
	require.NoError(b.t, err)
	o := b.apply(minted[0].Envelope)
	b.note(d, minted[0], o)
	return o
}

// apply appends the bytes of an envelope and folds them.
func (b *book) apply(envelope []byte) fold.Outcome {
	r := events.Record{Offset: uint64(len(b.records)), LogTime: b.now.UnixMicro(), Envelope: envelope}
	b.records = append(b.records, r)
	o := b.Apply(fold.Decode(r))
	b.reasons = append(b.reasons, o.Reason)
	return o
}

// note remembers what later steps refer to.
func (b *book) note(d events.Draft, m events.Minted, o fold.Outcome) {
	b.last[m.Type] = m
	if !o.Counts {
		return
	}
	switch e := d.Data.(type) {
	case *events.ToolCall:
		b.args, b.current = e.Arguments.CarriedBy(m.ID), m.Digest()
	case *events.ApprovalRequest:
		b.current = m.Digest()
	case *events.Revision:
		if e.Outcome == events.RevisionAsks {
			b.args, b.current = e.Arguments, m.Digest()
		}
	case *events.Decision:
		if e.Verdict != events.VerdictDecline {
			b.approval = m.ID
		}
	}
}

// text is the reference to a payload that is never read.
func text(s string) *events.Ref {
	return events.Payload{Bytes: []byte(s)}.Ref(events.MediaJSON)
}

// raw is a record whose bytes differ from what a draft mints: another build's.
func raw(t testing.TB, b *book, d draft, was, now string) fold.Outcome {
	t.Helper()
	e := d(b)
	e.Session = "s"
	minted, err := b.minter.Mint(e)
	require.NoError(t, err)
	changed := bytes.ReplaceAll(minted[0].Envelope, []byte(was), []byte(now))
	require.NotEqual(t, minted[0].Envelope, changed)
	return b.apply(changed)
}

// replay folds the book's records anew, up to n of them.
func (b *book) replay(n int) (*fold.Session, []fold.Reason) {
	s := fold.NewSession("s")
	reasons := []fold.Reason{}
	for _, r := range b.records[:n] {
		reasons = append(reasons, s.Apply(fold.Decode(r)).Reason)
	}
	return s, reasons
}

func (b *book) request() *fold.Request { return b.Requests[request] }
func (b *book) call() *fold.Call       { return b.Calls[key] }

func person(id string, groups ...string) *events.Actor {
	return &events.Actor{Person: id, Roles: []string{"reviewer"}, Groups: append([]string{}, groups...), Method: "token", At: events.At(epoch)}
}

func ident(n int) string { return fmt.Sprintf("0195f3a0-0000-7000-8000-%012d", n) }
