package eventstest

import (
	"crypto/sha256"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// The names that samples share, so that samples of different types are about
// the same call, request and run.
const (
	Session   = "session-1"
	RunID     = "run-1"
	BatchID   = "batch-1"
	RequestID = "3f0c1f6e-6a0e-4c39-9d53-0d8f2b1c7a11"
	BootID    = "0195f3a0-0000-7000-8000-0000000000b0"
	CallID    = "0195f3a0-0000-7000-8000-0000000000c0" // the event that carries the arguments
	Decision  = "0195f3a0-0000-7000-8000-0000000000d0"
	Alice     = "person-alice"
)

// Now is the instant of all samples.
func Now() time.Time { return time.Date(2026, 11, 30, 12, 3, 0, 120000000, time.UTC) }

// Sample returns a whole and valid draft of a type, the same at each call, with
// every field of its data set and its payloads beside it. The event's id is
// left to the minter. For a type that has no sample, Data is nil, which no
// minter takes.
func Sample(t events.Type) events.Draft {
	b := &builder{}
	data := b.data(t)
	return events.Draft{
		Session: Session, Data: data, Payloads: b.payloads, Causation: CallID,
		TraceParent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	}
}

// SampleOf is Sample in a version of the type: Sample has the first.
func SampleOf(t events.Type, version int) events.Draft {
	d := Sample(t)
	if recovered, ok := d.Data.(*events.Recovered); ok && version == 2 {
		recovered.Rollback = rollback()
	}
	return d
}

// builder gathers the payloads of one sample.
type builder struct{ payloads []events.Payload }

// own returns a reference to a payload of this event. Its salt follows from its
// text, which is good for golden files and bad for secrets.
func (b *builder) own(text, mediaType string) *events.Ref {
	p := payload(text)
	b.payloads = append(b.payloads, p)
	return p.Ref(mediaType)
}

// truncated returns a reference to a payload of this event that is the visible
// cut of a longer one.
func (b *builder) truncated(text string) *events.Ref {
	r := b.own(text, events.MediaText)
	whole := text + " and a megabyte more"
	r.TruncatedFrom = events.NewWhole(payload(text).Salt, int64(len(whole)), digest(whole))
	return r
}

// carried returns a reference to arguments that an earlier event carries.
func carried(text string) *events.Ref {
	return payload(text).Ref(events.MediaJSON).CarriedBy(CallID)
}

func payload(text string) events.Payload {
	return events.Payload{Salt: sha256.Sum256([]byte("salt of " + text)), Bytes: []byte(text)}
}

func digest(of string) events.Digest { return events.DigestOf([]byte(of)) }

const writeArguments = `{"path":"notes.txt","content":"hello\n"}`

func key() events.CallKey { return events.CallKey{BatchID: BatchID, Index: 1} }

func agent() events.Agent { return events.Agent{Name: "researcher", Path: "researcher/child"} }

func usage() events.Usage { return events.Usage{Prompt: 1200, Completion: 80, Total: 1280} }

func heads() []events.Head {
	return []events.Head{{Partition: 1, Size: 42, Root: digest("root")}}
}

func actor() events.Actor {
	return events.Actor{
		Person: Alice, Credential: "alice-laptop", Roles: []string{"reviewer"}, Groups: []string{"sre"}, Method: "session",
		At: events.At(Now().Add(-time.Hour)), AssertedBy: "node-2",
	}
}

func someone() *events.Actor {
	a := actor()
	return &a
}

func terms() events.Terms {
	return events.Terms{
		Rule: "required-tools", PolicyDigest: digest("policy"), Why: "Write is named in required-tools", Quorum: 2,
		Approvers: []string{"group:sre"}, FourEyes: true, Handlers: true,
		Timeout: events.Duration(3 * time.Minute), StartWithin: events.Duration(90500 * time.Millisecond),
	}
}

func warrant() events.Warrant {
	return events.Warrant{
		Kind: events.WarrantDecision, Decision: Decision, Rule: "required-tools", PolicyDigest: digest("policy"), ID: "bypass-1",
	}
}

func target() *events.Target {
	return &events.Target{Path: "notes.txt", Digest: digest("notes before")}
}
