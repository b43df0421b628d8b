package main

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// dial opens a connection and sends the beginning of something.
func dial(t *testing.T, addr net.Addr, text string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(t.Context(), addr.Network(), addr.String())
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	return conn
}

// Half a body holds its connection for a while, whether somebody reads it or
// not; then the connection ends.
func TestHalfABodyEnds(t *testing.T) {
	for name, handle := range map[string]http.HandlerFunc{
		"read by a form": func(w http.ResponseWriter, r *http.Request) {
			if r.ParseForm() != nil {
				http.Error(w, "cut", http.StatusBadRequest)
			}
		},
		"not read": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusUnauthorized) },
	} {
		t.Run(name, func(t *testing.T) {
			s := httptest.NewServer(patience{body: 50 * time.Millisecond, answer: time.Minute}.guard(handle))
			t.Cleanup(s.Close)
			conn := dial(t, s.Listener.Addr(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\ntoken=")
			require.NoError(t, conn.SetReadDeadline(time.Now().Add(10*time.Second)))
			_, err := io.ReadAll(conn)
			require.NoError(t, err, "the server ends the connection")
		})
	}
}

// Who does not read the answer is cut off; who has sent a whole body may listen
// for longer than bodies may take.
func TestAnAnswerTakesItsTime(t *testing.T) {
	const body = 50 * time.Millisecond
	cut := make(chan error, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("POST /slow", func(w http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
			err = context.Cause(r.Context())
		case <-time.After(4 * body):
		}
		cut <- err
		w.WriteHeader(http.StatusNoContent)
	})
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) {
		var err error
		for block := make([]byte, 1<<20); err == nil; {
			_, err = w.Write(block)
		}
		cut <- err
	})
	s := httptest.NewServer(patience{body: body, answer: time.Second}.guard(mux))
	t.Cleanup(s.Close)
	conn := dial(t, s.Listener.Addr(), "POST /slow HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\nab")
	require.NoError(t, <-cut)
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	require.NoError(t, err)
	require.NoError(t, answer.Body.Close())
	require.Equal(t, http.StatusNoContent, answer.StatusCode)

	dial(t, s.Listener.Addr(), "GET /large HTTP/1.1\r\nHost: x\r\n\r\n")
	require.ErrorContains(t, <-cut, "timeout")
}

// A request that is being served when agentd is asked to stop is served to its
// end; one that does not end is cut, and its context says why.
func TestRequestsInFlightAtTheStop(t *testing.T) {
	began, finish := make(chan struct{}, 2), make(chan struct{})
	mux := http.NewServeMux()
	mux.HandleFunc("POST /quick", func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-finish
		if r.Context().Err() == nil {
			w.WriteHeader(http.StatusCreated)
		}
	})
	mux.HandleFunc("POST /stuck", func(w http.ResponseWriter, r *http.Request) {
		began <- struct{}{}
		<-r.Context().Done()
		http.Error(w, context.Cause(r.Context()).Error(), http.StatusServiceUnavailable)
	})
	s := &server{logger: slog.New(slog.DiscardHandler), stopStreams: func() { close(finish) }}
	var lc net.ListenConfig
	l, err := lc.Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.listen(ctx, l, mux) }()
	quick := dial(t, l.Addr(), "POST /quick HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	stuck := dial(t, l.Addr(), "POST /stuck HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\n\r\n")
	<-began
	<-began
	stop()
	for conn, want := range map[net.Conn]int{quick: http.StatusCreated, stuck: http.StatusServiceUnavailable} {
		answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, want, answer.StatusCode)
	}
	require.NoError(t, <-ended)
}
