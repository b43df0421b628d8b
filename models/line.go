package models

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// errIdle ends a request whose provider has fallen silent.
var errIdle = errors.New("the provider has sent nothing for too long")

// idleLine is the connection of one request with a limit on silence. The limit
// runs only while something is waited for, so that a slow consumer is not
// mistaken for a silent provider. It is for one goroutine.
type idleLine struct {
	ctx    context.Context // ends with the caller's, or with errIdle as cause
	end    context.CancelCauseFunc
	limit  time.Duration
	silent *time.Timer // ends ctx
}

// newIdleLine returns a line and what releases it.
func newIdleLine(ctx context.Context, limit time.Duration) (*idleLine, func()) {
	inner, end := context.WithCancelCause(ctx)
	line := &idleLine{ctx: inner, end: end, limit: limit}
	line.silent = time.AfterFunc(limit, func() { end(errIdle) })
	return line, func() {
		line.silent.Stop()
		end(context.Canceled)
	}
}

// do sends a request and waits for the head of its answer.
func (l *idleLine) do(client *http.Client, req *http.Request) (*http.Response, error) {
	l.silent.Reset(l.limit)
	defer l.silent.Stop()
	return client.Do(req)
}

// reader returns body with the limit on its reads.
func (l *idleLine) reader(body io.Reader) io.Reader { return lineReader{line: l, body: body} }

type lineReader struct {
	line *idleLine
	body io.Reader
}

func (r lineReader) Read(p []byte) (int, error) {
	if err := r.line.ctx.Err(); err != nil {
		return 0, err
	}
	r.line.silent.Reset(r.line.limit)
	defer r.line.silent.Stop()
	return r.body.Read(p)
}

// drain reads the little that follows the end of a turn, so that the connection
// can be used again. It waits for a moment only.
func (l *idleLine) drain(body io.Reader) {
	l.silent.Reset(drainTime)
	defer l.silent.Stop()
	_, _ = io.CopyN(io.Discard, body, 4<<10)
}

// cause returns why the line ended where it has, and else err.
func (l *idleLine) cause(err error) error {
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return err
}
