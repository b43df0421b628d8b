package events_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func draftCall() events.Draft {
	args := events.NewPayload([]byte(`{"path":"a"}`))
	call := &events.ToolCall{
		CallKey: events.CallKey{BatchID: "b1", Index: 0}, CallID: "call-1", Tool: "Write", ToolSource: events.SourceBuiltin,
		ToolDigest: events.DigestOf([]byte("tool")), Arguments: args.Ref(events.MediaJSON), Agent: events.Agent{Name: "main"},
		Model: "default", Principal: "p1", Enforcement: events.Enforced, Effect: events.EffectAsk, Rule: "required-tools",
		PolicyDigest: events.DigestOf([]byte("policy")),
	}
	return events.Draft{Session: "s1", Data: call, Payloads: []events.Payload{args}}
}

func BenchmarkDecode(b *testing.B) {
	m := events.NewMinter("agentd/node/boot", time.Now)
	minted, err := m.Mint(draftCall())
	require.NoError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		env, err := events.DecodeEnvelope(minted[0].Envelope)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := env.Event(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMint(b *testing.B) {
	m := events.NewMinter("agentd/node/boot", time.Now)
	d := draftCall()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := m.Mint(d); err != nil {
			b.Fatal(err)
		}
	}
}
