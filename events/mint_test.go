package events_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestMintedEventsDecodeToWhatWasDrafted(t *testing.T) {
	m := events.NewMinter("agentd/node/boot", func() time.Time { return time.Unix(1796000000, 123456789) })
	args := events.NewPayload([]byte(`{"path":"a"}`))
	call := &events.ToolCall{
		CallKey: events.CallKey{BatchID: "b1", Index: 0}, CallID: "call-1", Tool: "Write", ToolSource: events.SourceBuiltin,
		ToolDigest: events.DigestOf([]byte("tool")), Arguments: args.Ref(events.MediaJSON), Agent: events.Agent{Name: "main"},
		Model: "default", Principal: "p1", Enforcement: events.Enforced, Effect: events.EffectAsk, Rule: "required-tools",
		PolicyDigest: events.DigestOf([]byte("policy")),
	}
	minted, err := m.Mint(events.Draft{Session: "s1", Data: call, Payloads: []events.Payload{args}})
	require.NoError(t, err)
	t.Log(string(minted[0].Envelope))

	env, err := events.DecodeEnvelope(minted[0].Envelope)
	require.NoError(t, err)
	require.Equal(t, "b1/0", env.Subject)
	require.Equal(t, "2026-11-30T00:53:20.123456Z"[:4], env.Time.Format("2006"))
	got, err := env.Event()
	require.NoError(t, err)
	require.Equal(t, call, got)
	require.True(t, args.Opens(*got.(*events.ToolCall).Arguments))
}

func TestDecodeArguments(t *testing.T) {
	for _, bad := range []string{`[1]`, `"x"`, `{"a":1,"a":2}`, `{"a":1} x`, `{"a":`, "{\"a\":\"\xff\"}", `{"a":"\ud800"}`, `{bad}`} {
		_, err := events.DecodeArguments([]byte(bad))
		require.ErrorIs(t, err, events.ErrArguments, bad)
	}
	for _, empty := range []string{"", "null", " ", "{}"} {
		a, err := events.DecodeArguments([]byte(empty))
		require.NoError(t, err)
		require.Equal(t, "{}", string(a.Text))
	}
}
