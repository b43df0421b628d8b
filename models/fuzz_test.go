package models

import (
	"io"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/agent"
)

// FuzzTurn reads any bytes as a stream. It must not panic, must not depend on
// how the bytes are cut into reads, and must keep the turn's promises.
func FuzzTurn(f *testing.F) {
	files, err := filepath.Glob(casesDir + "/*/*.sse")
	require.NoError(f, err)
	for i, file := range files {
		if !strings.Contains(file, "022-") {
			f.Add(string(readFile(f, file)), 100*i)
		}
	}
	f.Fuzz(func(t *testing.T, stream string, cut int) {
		whole := readStream(strings.NewReader(stream))
		cut = max(0, min(cut, len(stream)))
		requireSame(t, whole, readStream(iotest.OneByteReader(strings.NewReader(stream))))
		requireSame(t, whole, readStream(io.MultiReader(strings.NewReader(stream[:cut]), strings.NewReader(stream[cut:]))))
		requireSound(t, whole)
	})
}

func requireSame(t require.TestingT, a, b result) {
	require.Equal(t, a.turn, b.turn)
	require.Equal(t, a.heard, b.heard)
	require.Equal(t, a.err, b.err)
}

// requireSound: what holds of every reading.
func requireSound(t require.TestingT, r result) {
	require.Equal(t, r.turn.Text, r.heard.text())
	require.Equal(t, r.turn.Reasoning, r.heard.reasoning())
	requireReplayable(t, r.turn)
	if r.err != nil {
		return
	}
	for _, call := range r.turn.Calls {
		require.NotEmpty(t, call.Name)
		require.NotEmpty(t, r.turn.Finish)
		require.NotContains(t, []finishKind{finishUnknown, finishCut, finishFailed}, finishOf(r.turn.Finish))
	}
}

// For all calls, cut into any pieces and interleaved in any way by index, what
// is put together is what was meant.
func TestAnyPiecesProperty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := drawCalls(t)
		pending := make([][]string, len(want))
		for i, call := range want {
			pending[i] = drawPieces(t, i, call)
		}
		var chunks []string
		for left := true; left; {
			left = false
			for _, i := range rapid.Permutation(indexes(len(want))).Draw(t, "order") {
				if len(pending[i]) == 0 {
					continue
				}
				chunks = append(chunks, pending[i][0])
				pending[i] = pending[i][1:]
				left = true
			}
		}
		got := readStream(strings.NewReader(data(chunksOf(chunks)...)))
		require.NoError(t, got.err)
		require.Equal(t, want, got.turn.Calls)
		requireSound(t, got)
	})
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func drawCalls(t *rapid.T) []agent.Call {
	var calls []agent.Call
	for range rapid.IntRange(1, 4).Draw(t, "calls") {
		calls = append(calls, agent.Call{
			ID:        rapid.StringMatching(`[a-z0-9]{1,4}`).Draw(t, "id"),
			Name:      rapid.StringMatching(`[A-Z][a-z]{2,6}`).Draw(t, "name"),
			Arguments: string(quote([]byte(`{"text":`), rapid.String().Draw(t, "text"))) + "}",
		})
	}
	return calls
}

// drawPieces cuts a call into entries of tool_calls: the arguments between any
// two characters, id and name repeated or not.
func drawPieces(t *rapid.T, index int, call agent.Call) []string {
	arguments := []rune(call.Arguments)
	first := true
	var pieces []string
	for len(arguments) > 0 {
		n := rapid.IntRange(1, len(arguments)).Draw(t, "cut")
		repeat := first || rapid.Bool().Draw(t, "repeat")
		pieces = append(pieces, pieceJSON(index, call, string(arguments[:n]), repeat))
		arguments, first = arguments[n:], false
	}
	return pieces
}

func pieceJSON(index int, call agent.Call, arguments string, repeat bool) string {
	id, name := call.ID, call.Name
	if !repeat {
		id, name = "", ""
	}
	b := append([]byte(`{"index":`), jsontext.Int(int64(index)).String()...)
	b = quote(append(b, `,"id":`...), id)
	b = quote(append(b, `,"function":{"name":`...), name)
	b = quote(append(b, `,"arguments":`...), arguments)
	return string(b) + "}}"
}
