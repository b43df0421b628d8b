package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"time"

	"golang.org/x/sync/errgroup"
)

// audience is a thousand clients that read streams.
type audience struct {
	conns  []net.Conn
	lines  []*bufio.Reader
	sample []byte // a frame as it came, of the last round
}

// gather opens the clients' connections; with a token they ask for the stream.
func gather(ctx context.Context, addr, token string) (*audience, error) {
	a := &audience{}
	var d net.Dialer
	for range sseClients {
		c, err := d.DialContext(ctx, "tcp", addr)
		if err != nil {
			return a, errors.Join(err, a.close())
		}
		a.conns, a.lines = append(a.conns, c), append(a.lines, bufio.NewReaderSize(c, 4<<10))
		if token == "" {
			continue
		}
		// HTTP/1.0: without chunks, so that lines are whole.
		if _, err := fmt.Fprintf(c, "GET /live HTTP/1.0\r\nHost: %s\r\nAuthorization: Bearer %s\r\n\r\n", addr, token); err != nil {
			return a, errors.Join(err, a.close())
		}
	}
	if token == "" {
		return a, nil
	}
	for _, lines := range a.lines { // the state, with which a stream begins
		if _, err := readFrame(lines, nil); err != nil {
			return a, errors.Join(fmt.Errorf("a stream does not begin: %w", err), a.close())
		}
	}
	return a, nil
}

func (a *audience) close() error {
	var errs []error
	for _, c := range a.conns {
		errs = append(errs, c.Close())
	}
	return errors.Join(errs...)
}

// readFrame reads up to the end of the next frame that has data, into b.
func readFrame(lines *bufio.Reader, b []byte) ([]byte, error) {
	for data := false; ; {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return b, err
		}
		b = append(b, line...)
		if data && len(line) == 1 {
			return b, nil
		}
		data = data || bytes.HasPrefix(line, []byte("data: "))
		if len(line) == 1 {
			b = b[:0] // a comment
		}
	}
}

// round sends the events of a round at their pace, whatever becomes of them, and
// tells how long each took until the last client had it.
func (a *audience) round(ctx context.Context, send func(i int) error) (figures, error) {
	sent := make([]time.Time, sseEvents)
	came := make([][]time.Time, len(a.conns))
	var group errgroup.Group
	for c := range a.conns {
		came[c] = make([]time.Time, sseEvents)
		group.Go(func() error { return a.read(c, came[c]) })
	}
	cpu := cpuTime()
	pace := time.NewTicker(ssePace)
	defer pace.Stop()
	for i := range sseEvents {
		select {
		case <-pace.C:
		case <-ctx.Done():
			return figures{}, context.Cause(ctx)
		}
		sent[i] = time.Now()
		if err := send(i); err != nil {
			return figures{}, err
		}
	}
	if err := group.Wait(); err != nil {
		return figures{}, err
	}
	took := make([]time.Duration, sseEvents)
	for i := range took {
		for c := range came {
			took[i] = max(took[i], came[c][i].Sub(sent[i]))
		}
	}
	f := summarize(took)
	f.cpu = (cpuTime() - cpu) / sseEvents
	return f, nil
}

// read notes when each event of a round came to a client.
func (a *audience) read(c int, came []time.Time) error {
	var frame []byte
	for i := range came {
		var err error
		if frame, err = readFrame(a.lines[c], frame[:0]); err != nil {
			return fmt.Errorf("client %d, event %d: %w", c, i, err)
		}
		came[i] = time.Now()
	}
	if c == 0 {
		a.sample = bytes.Clone(frame)
	}
	return nil
}
