package models

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

// heard collects what a sink is given.
type heard struct{ deltas []agent.Delta }

func (h *heard) sink(d agent.Delta) { h.deltas = append(h.deltas, d) }

func (h *heard) text() string {
	var b strings.Builder
	for _, d := range h.deltas {
		b.WriteString(d.Text)
	}
	return b.String()
}

func (h *heard) reasoning() string {
	var b strings.Builder
	for _, d := range h.deltas {
		b.WriteString(d.Reasoning)
	}
	return b.String()
}

// texts are the pieces of text, one string each.
func (h *heard) texts() []string {
	var out []string
	for _, d := range h.deltas {
		if d.Text != "" {
			out = append(out, d.Text)
		}
	}
	return out
}

// result is all that one reading of a stream gives.
type result struct {
	turn  agent.Turn
	heard heard
	err   error
}

// code is the class of the result's error, or "".
func (r result) code(t *testing.T) string {
	t.Helper()
	if r.err == nil {
		return ""
	}
	var failure *agent.TurnError
	require.ErrorAs(t, r.err, &failure)
	return failure.Code
}

// readStream reads a stream without a network.
func readStream(r io.Reader) result {
	var res result
	var err error
	res.turn, err = newTurnReader(res.heard.sink).read(r)
	res.err = streamFailure(err)
	return res
}

// data wraps chunks as an event stream.
func data(chunks ...string) string {
	var b strings.Builder
	for _, c := range chunks {
		b.WriteString("data: " + c + "\n\n")
	}
	return b.String()
}

// serve starts a provider with this handler and returns a client of it.
func serve(t *testing.T, handler http.HandlerFunc, change ...func(*OpenAIOptions)) *OpenAI {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// A server notices that its client has gone only when the body is read.
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		handler(w, r)
	}))
	t.Cleanup(server.Close)
	o := OpenAIOptions{Name: "test", BaseURL: server.URL + "/v1", Model: "m", IdleTimeout: 10 * time.Second}
	for _, c := range change {
		c(&o)
	}
	m, err := NewOpenAI(o)
	require.NoError(t, err)
	return m
}

// hello is a request that any provider accepts.
func hello() agent.Request {
	return agent.Request{Messages: []agent.Message{{User: new("hello")}}}
}

// ask sends hello to m.
func ask(ctx context.Context, m agent.Model) result {
	var r result
	r.turn, r.err = m.Stream(ctx, hello(), r.heard.sink)
	return r
}

// writeInParts is a handler that writes a stream with a flush, and a pause,
// before each of the offsets.
func writeInParts(stream []byte, offsets []int, pause time.Duration) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		at := 0
		for _, offset := range offsets {
			w.Write(stream[at:offset])
			w.(http.Flusher).Flush()
			at = offset
			select {
			case <-r.Context().Done():
				return
			case <-time.After(pause):
			}
		}
		w.Write(stream[at:])
	}
}

// everyByte returns all offsets inside stream.
func everyByte(stream []byte) []int {
	offsets := make([]int, len(stream))
	for i := range offsets {
		offsets[i] = i
	}
	return offsets
}

// deliveries are ways to get a stream across that must not matter.
func deliveries(t *testing.T, stream []byte) map[string]func() result {
	crlf := bytes.ReplaceAll(stream, []byte("\n"), []byte("\r\n"))
	cr := bytes.ReplaceAll(stream, []byte("\n"), []byte("\r"))
	over := func(handler http.HandlerFunc) func() result {
		return func() result { return ask(t.Context(), serve(t, handler)) }
	}
	ways := map[string]func() result{
		"at once":                over(writeInParts(stream, nil, 0)),
		"CRLF":                   over(writeInParts(crlf, nil, 0)),
		"CR":                     func() result { return readStream(bytes.NewReader(cr)) },
		"byte by byte":           func() result { return readStream(iotest.OneByteReader(bytes.NewReader(stream))) },
		"CRLF byte by byte":      func() result { return readStream(iotest.OneByteReader(bytes.NewReader(crlf))) },
		"data and EOF in one":    func() result { return readStream(iotest.DataErrReader(bytes.NewReader(stream))) },
		"half of what was asked": func() result { return readStream(iotest.HalfReader(bytes.NewReader(stream))) },
	}
	if len(stream) < 4<<10 {
		ways["byte by byte over HTTP"] = over(writeInParts(stream, everyByte(stream), 0))
	}
	return ways
}

func readFile(t testing.TB, path ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(path...))
	require.NoError(t, err)
	return b
}

func readJSON(t testing.TB, to any, path ...string) {
	t.Helper()
	require.NoError(t, json.Unmarshal(readFile(t, path...), to), "%v", path)
}
