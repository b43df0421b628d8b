package models

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

// answer is a handler that answers at once.
func answer(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(status)
		w.Write([]byte(body))
	}
}

// startThen sends a part of a stream and then does what goes wrong.
func startThen(stream string, then http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		w.Write([]byte(stream))
		w.(http.Flusher).Flush()
		then(w, r)
	}
}

func hang(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }

func cut(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }

// reset closes the connection so that the peer sees a reset.
func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	conn.(*net.TCPConn).SetLinger(0)
	conn.Close()
}

func TestRequestOnTheWire(t *testing.T) {
	var got *http.Request
	var body []byte
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		answer(200, "text/event-stream", data(textChunk, stopChunk, "[DONE]"))(w, r)
	}, func(o *OpenAIOptions) { o.APIKey = "secret-key"; o.BaseURL += "/?api-version=7" })
	r := ask(t.Context(), m)
	require.NoError(t, r.err)
	require.Equal(t, "POST /v1/chat/completions?api-version=7", got.Method+" "+got.URL.String())
	require.Equal(t, "Bearer secret-key", got.Header.Get("Authorization"))
	require.Equal(t, "application/json", got.Header.Get("Content-Type"))
	require.Equal(t, "text/event-stream", got.Header.Get("Accept"))
	require.Equal(t, `{"model":"m","messages":[{"role":"user","content":"hello"}],"stream":true,"stream_options":{"include_usage":true}}`, string(body)) //nolint:testifylint // to the byte
	require.Equal(t, "test", m.Name())
	require.Equal(t, "openai-chat", m.Dialect())
}

// TestFaults: what goes wrong on the way, and what the caller is told.
func TestFaults(t *testing.T) {
	const words = `{"error":{"message":"no such model","code":"model_not_found"}}`
	tests := []struct {
		name      string
		handler   http.HandlerFunc
		code      string
		message   string
		retryable bool
		text      string
	}{
		{"400", answer(400, "application/json", words), agent.CodeProviderError, "status 400: no such model (model_not_found)", false, ""},
		{"401", answer(401, "application/json", `{"error":"bad key"}`), agent.CodeProviderError, "status 401: bad key", false, ""},
		{"404 with a page", answer(404, "text/html", "<h1>nope</h1>"), agent.CodeProviderError, "<h1>nope</h1>", false, ""},
		{"422 with detail", answer(422, "application/json", `{"detail":"model required"}`), agent.CodeProviderError, "model required", false, ""},
		{"429", answer(429, "application/json", `{"message":"slow down"}`), agent.CodeUnavailable, "slow down", true, ""},
		{"500 without a body", answer(500, "text/plain", ""), agent.CodeUnavailable, "status 500: (nothing)", true, ""},
		{"503 with a huge body", answer(503, "text/plain", strings.Repeat("x", 1<<20)), agent.CodeUnavailable, "bytes more", true, ""},
		{"503 with a stream in it", answer(503, "text/event-stream", data(callChunk, callsChunk)), agent.CodeUnavailable, "503", true, ""},
		{"a page with status 200", answer(200, "text/html", "<h1>sign in</h1>"), agent.CodeInvalidStream, `"text/html", not with an event stream: <h1>sign in</h1>`, false, ""},
		{"an error with status 200", answer(200, "application/json", words), agent.CodeProviderError, "no such model", true, ""},
		{"an answer that is not streamed", answer(200, "application/json", `{"choices":[{"message":{"content":"hi"}}]}`), agent.CodeInvalidStream, "application/json", false, ""},
		{"an empty answer", answer(200, "text/event-stream", ""), agent.CodeUnexpectedEOF, "finish reason", true, ""},
		{"no answer", cut, agent.CodeUnavailable, "cannot be reached", true, ""},
		{"no answer but a reset", reset, agent.CodeUnavailable, "cannot be reached", true, ""},
		{"cut in the stream", startThen(data(textChunk, callChunk), cut), agent.CodeUnexpectedEOF, "lost", true, "hi"},
		{"cut after the finish reason", startThen(data(textChunk, callChunk, callsChunk), cut), agent.CodeUnexpectedEOF, "lost", true, "hi"},
		{"reset in the stream", startThen(data(textChunk, callChunk, callsChunk), reset), agent.CodeUnexpectedEOF, "lost", true, "hi"},
		{"ended in an event", startThen(data(textChunk)+`data: {"choices"`, func(http.ResponseWriter, *http.Request) {}), agent.CodeUnexpectedEOF, "finish reason", true, "hi"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ask(t.Context(), serve(t, test.handler))
			require.Equal(t, test.code, got.code(t))
			require.ErrorContains(t, got.err, test.message)
			var failure *agent.TurnError
			require.ErrorAs(t, got.err, &failure)
			require.Equal(t, test.retryable, failure.Retryable)
			require.Less(t, len(failure.Message), 3<<10)
			require.Equal(t, test.text, got.turn.Text)
		})
	}
}

// A stream is read whatever its content type says.
func TestWrongContentType(t *testing.T) {
	for _, contentType := range []string{"application/json", "text/plain; charset=utf-8", "nonsense/;"} {
		got := ask(t.Context(), serve(t, answer(200, contentType, data(textChunk, stopChunk))))
		require.NoError(t, got.err, contentType)
		require.Equal(t, "hi", got.turn.Text)
	}
}

func TestNobodyListens(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, listener.Close())
	m, err := NewOpenAI(OpenAIOptions{Name: "n", BaseURL: "http://" + listener.Addr().String(), Model: "m"})
	require.NoError(t, err)
	got := ask(t.Context(), m)
	require.Equal(t, agent.CodeUnavailable, got.code(t))
	require.ErrorContains(t, got.err, "refused")
}

func TestSilence(t *testing.T) {
	short := func(o *OpenAIOptions) { o.IdleTimeout = 300 * time.Millisecond }
	got := ask(t.Context(), serve(t, hang, short))
	require.Equal(t, agent.CodeUnavailable, got.code(t))
	require.ErrorContains(t, got.err, errIdle.Error())

	got = ask(t.Context(), serve(t, startThen(data(textChunk), hang), short))
	require.Equal(t, agent.CodeUnexpectedEOF, got.code(t))
	require.ErrorContains(t, got.err, errIdle.Error())
	require.Equal(t, "hi", got.turn.Text)
}

// Bytes that are no event, comments above all, are signs of life.
func TestKeepAliveIsNotSilence(t *testing.T) {
	stream := []byte(strings.Repeat(":", 30) + "\n" + data(textChunk, stopChunk))
	offsets := everyByte(stream)[:30]
	m := serve(t, writeInParts(stream, offsets, 25*time.Millisecond), func(o *OpenAIOptions) { o.IdleTimeout = 500 * time.Millisecond })
	require.NoError(t, ask(t.Context(), m).err)
}

// A sink that takes its time is not the provider's silence.
func TestSlowSinkIsNotSilence(t *testing.T) {
	m := serve(t, answer(200, "text/event-stream", data(textChunk, textChunk, stopChunk)), func(o *OpenAIOptions) { o.IdleTimeout = 300 * time.Millisecond })
	turn, err := m.Stream(t.Context(), hello(), func(agent.Delta) { <-time.After(400 * time.Millisecond) })
	require.NoError(t, err)
	require.Equal(t, "hihi", turn.Text)
}

// Cancelling ends the round at once, before the head and in the stream, with
// the cause and what had come.
func TestCancel(t *testing.T) {
	why := errors.New("the person cancelled")
	for name, handler := range map[string]http.HandlerFunc{"before the head": hang, "in the stream": startThen(data(textChunk), hang)} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			reached := make(chan struct{})
			m := serve(t, func(w http.ResponseWriter, r *http.Request) {
				close(reached)
				handler(w, r)
			})
			go func() {
				<-reached
				cancel(why)
			}()
			began := time.Now()
			require.Equal(t, why, ask(ctx, m).err)
			require.Less(t, time.Since(began), 5*time.Second)
		})
	}
}

// Cancelling from within the sink leaves what was heard in the turn.
func TestCancelKeepsWhatCame(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	m := serve(t, startThen(data(textChunk), hang))
	turn, err := m.Stream(ctx, hello(), func(agent.Delta) { cancel() })
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, "hi", turn.Text)
}

// What a provider says goes to clients and into the log; the key must not.
func TestKeyIsRedacted(t *testing.T) {
	var logged bytes.Buffer
	logger := slog.New(slog.NewTextHandler(&logged, &slog.HandlerOptions{Level: slog.LevelDebug}))
	m := serve(t, func(w http.ResponseWriter, r *http.Request) {
		answer(401, "text/plain", "you sent "+r.Header.Get("Authorization"))(w, r)
	}, func(o *OpenAIOptions) { o.APIKey = "secret-key"; o.Logger = logger })
	got := ask(t.Context(), m)
	require.ErrorContains(t, got.err, "you sent Bearer [API key]")
	require.Contains(t, logged.String(), "failed=true")
	require.NotContains(t, logged.String(), "secret-key")
}

// Rounds use one connection.
func TestConnectionIsReused(t *testing.T) {
	var connections atomic.Int32
	m := serve(t, writeInParts([]byte(data(textChunk, stopChunk, "[DONE]")), []int{10}, 0))
	m.options.HTTPClient = &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, network, addr string) (net.Conn, error) {
			connections.Add(1)
			return new(net.Dialer).DialContext(ctx, network, addr)
		},
	}}
	t.Cleanup(m.options.HTTPClient.CloseIdleConnections)
	for range 5 {
		require.NoError(t, ask(t.Context(), m).err)
	}
	require.EqualValues(t, 1, connections.Load())
}

func TestOptions(t *testing.T) {
	tests := map[string]OpenAIOptions{
		"want http(s)": {BaseURL: "ftp://host", Model: "m"},
		"base URL":     {BaseURL: "http://[", Model: "m"},
		"//host/path":  {Model: "m"},
		"model name":   {BaseURL: "http://host"},
		"white space":  {BaseURL: "http://host", Model: "m", APIKey: "key\n"},
	}
	for want, o := range tests {
		_, err := NewOpenAI(o)
		require.ErrorContains(t, err, want)
	}
}
