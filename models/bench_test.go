package models

import (
	"strings"
	"testing"

	"github.com/countersign-dev/countersign/agent"
)

// BenchmarkTurn decodes a turn of 1,000 tokens, a chunk each, and one call.
func BenchmarkTurn(b *testing.B) {
	const token = `{"id":"chatcmpl-1","object":"chat.completion.chunk","created":1700000000,"model":"m","choices":[{"index":0,"delta":{"content":" token"},"finish_reason":null}]}`
	stream := data(strings.Split(strings.Repeat(token+"\n", 1000)+callChunk+"\n"+callsChunk, "\n")...)
	b.SetBytes(int64(len(stream)))
	b.ReportAllocs()
	for b.Loop() {
		turn, err := newTurnReader(func(agent.Delta) {}).read(strings.NewReader(stream))
		if err != nil || len(turn.Calls) != 1 {
			b.Fatal(turn, err)
		}
	}
}
