// Package events is the vocabulary of Countersign: what is recorded, and in
// which bytes.
//
// An event is an Envelope (CloudEvents 1.0, structured JSON, at most 32 KiB)
// with Payloads detached from it: whatever may be large or personal stands
// beside the envelope and is named in it by a Ref, a salted commitment. A
// producer mints an event once (Minter); from then on its bytes are carried,
// never encoded again. At its place in the log the envelope becomes a Record,
// and the record's bytes are what is sealed.
//
//	m := events.NewMinter("agentd/node-1/boot", clock)
//	minted, err := m.Mint(events.Draft{Session: "s1", Data: &events.ToolCall{…}})
//	// append minted.Envelope and minted.Payloads; later:
//	env, err := events.DecodeEnvelope(record.Envelope)
//	event, err := env.Event()
//
// The event types are a sealed sum: every type has a constant, a struct, a
// version and a JSON Schema (Schemas), tied together by one table in codec.go.
// A version, once released, is readable for ever; a change of meaning is a new
// version. What no build knows is carried and shown, and if it is marked
// critical it stops starts in its session (package fold).
//
// The package imports nothing of ours.
package events
