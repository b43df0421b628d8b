package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/agent"
)

// How long requests may take when agentd stops.
const (
	finishWithin = 3 * time.Second // to end by themselves
	answerCut    = time.Second     // to answer that they were cut
)

// listen serves HTTP until ctx ends. Then open streams end, and requests that
// are being served are served to their end: what is being recorded must not
// look lost to who asked.
func (s *server) listen(ctx context.Context, l net.Listener, h http.Handler) error {
	requests, cut := context.WithCancelCause(context.WithoutCancel(ctx))
	defer cut(nil)
	srv := &http.Server{
		Handler: usual().guard(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute,
		BaseContext: func(net.Listener) context.Context { return requests },
		ErrorLog:    slog.NewLogLogger(s.logger.Handler(), slog.LevelError), // panics of handlers, above all
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		<-ctx.Done()
		s.stopStreams()
		if err := finish(requests, srv, cut); err != nil {
			s.logger.WarnContext(ctx, "some connections were cut at the end", "error", err)
		}
	}()
	if err := srv.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", l.Addr(), err)
	}
	<-ended
	return nil
}

// finish ends a server. Requests that do not end in time are cut, and say so.
func finish(ctx context.Context, srv *http.Server, cut context.CancelCauseFunc) error {
	ctx = context.WithoutCancel(ctx)
	err := shutdown(ctx, srv, finishWithin)
	if err == nil {
		return nil
	}
	cut(agent.ErrStopping)
	if shutdown(ctx, srv, answerCut) == nil {
		return nil
	}
	return errors.Join(err, srv.Close())
}

func shutdown(ctx context.Context, srv *http.Server, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return srv.Shutdown(ctx)
}

// patience is how long clients may take, so that who sends or reads half of
// something does not hold its connection for ever. A server's own timeouts are
// no use here: they would end streams, which set deadlines of their own.
type patience struct {
	body   time.Duration // to send a body, from the end of the head
	answer time.Duration // to send it, and to read the answer
}

func usual() patience { return patience{body: 30 * time.Second, answer: 2 * time.Minute} }

// guard sets the deadlines of each request. What cannot have any goes without.
func (p patience) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		control := http.NewResponseController(w)
		_ = control.SetWriteDeadline(time.Now().Add(p.answer))
		if r.Body != nil && r.Body != http.NoBody {
			_ = control.SetReadDeadline(time.Now().Add(p.body))
			r.Body = &timely{r.Body, control}
		}
		next.ServeHTTP(w, r)
	})
}

// timely is a body that must come in time. After its end the connection is
// read for one thing alone, that the client goes away: for that it has all the
// time. A body that nobody reads keeps its deadline, because the server reads
// on before it answers.
type timely struct {
	io.ReadCloser
	control *http.ResponseController
}

// Read implements io.Reader.
func (t *timely) Read(b []byte) (int, error) {
	n, err := t.ReadCloser.Read(b)
	if errors.Is(err, io.EOF) {
		_ = t.control.SetReadDeadline(time.Time{})
	}
	return n, err
}
