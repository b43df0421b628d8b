package ui_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/ui"
)

// frame is an event of a stream, as a compliant parser reads it.
type frame struct {
	id, event, data string
	other           []string // fields that the console does not send
}

// notice is what a frame carries.
type notice struct {
	Seq            uint64
	Kind, Type     string
	Session, Batch string
	Index          int
	Request        string
	Waits          bool
	Pending        *int
}

// notice reads the frame, which has nothing else in it.
func (f frame) notice(t testing.TB) (n notice) {
	t.Helper()
	require.Empty(t, f.other)
	require.Regexp(t, `^[0-9_-]+$`, f.id)
	require.NoError(t, json.Unmarshal([]byte(f.data), &n))
	require.Equal(t, n.Kind == "reset", f.event == "reset")
	return n
}

// offset is the place of the frame's record in the only partition; -1 before
// the first.
func (f frame) offset(t testing.TB) int {
	t.Helper()
	if f.id == "0" {
		return -1
	}
	parts := strings.Split(f.id, "-")
	require.Len(t, parts, 3)
	n, err := strconv.Atoi(parts[2])
	require.NoError(t, err)
	return n
}

// listen opens a live stream after a place; "" is none.
func (p *person) listen(ctx context.Context, after string, header map[string]string) (http.Header, <-chan frame) {
	p.w.t.Helper()
	url := p.w.server.URL + "/live"
	if after != "" {
		url += "?after=" + after
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	require.NoError(p.w.t, err)
	for k, v := range header {
		r.Header.Set(k, v)
	}
	res, err := p.client.Do(r) //nolint:bodyclose // who reads it closes it
	require.NoError(p.w.t, err)
	require.Equal(p.w.t, http.StatusOK, res.StatusCode)
	frames := make(chan frame, 20_000)
	go func() {
		defer close(frames)
		defer res.Body.Close()
		parse(bufio.NewScanner(res.Body), frames)
	}()
	return res.Header, frames
}

// parse reads frames as the standard says.
func parse(lines *bufio.Scanner, frames chan<- frame) {
	for f := (frame{}); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ":")
		value = strings.TrimPrefix(value, " ")
		switch {
		case lines.Text() == "" && f.data != "":
			frames <- f
			f = frame{id: f.id}
		case name == "id":
			f.id = value
		case name == "event":
			f.event = value
		case name == "data":
			f.data += value
		case name != "" && name != "retry":
			f.other = append(f.other, lines.Text())
		}
	}
}

func next(t *testing.T, frames <-chan frame) frame {
	t.Helper()
	select {
	case f, ok := <-frames:
		require.True(t, ok, "the stream has ended")
		return f
	case <-time.After(5 * time.Second):
		t.Fatal("nothing came")
		return frame{}
	}
}

// upTo reads frames up to the one of a record.
func upTo(t *testing.T, frames <-chan frame, offset int) (all []frame) {
	t.Helper()
	for {
		f := next(t, frames)
		all = append(all, f)
		if f.offset(t) >= offset {
			return all
		}
	}
}

// offsets are the places of frames in order.
func offsets(t *testing.T, frames []frame) (all []int) {
	t.Helper()
	for _, f := range frames {
		all = append(all, f.offset(t))
	}
	return all
}

// span is the numbers from a to b, b too.
func span(a, b int) (all []int) {
	for i := a; i <= b; i++ {
		all = append(all, i)
	}
	return all
}

// end is the offset of the last record, when the views have it.
func (w *world) end() int {
	w.t.Helper()
	w.settle()
	return w.log.Len() - 1
}

// ended waits until a stream is over, and fails where it is not in time.
func ended(t *testing.T, frames <-chan frame, within time.Duration) {
	t.Helper()
	late := time.After(within)
	for {
		select {
		case _, open := <-frames:
			if !open {
				return
			}
		case <-late:
			t.Fatalf("the stream is still open after %s", within)
		}
	}
}

// live changes the bounds of streams.
func live(l ui.Live) func(*ui.Options) { return func(o *ui.Options) { o.Live = l } }

// raw opens a stream over a connection of its own, without chunks, as somebody, and
// reads nothing of it.
func (w *world) raw(name, after string) net.Conn {
	w.t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(w.t.Context(), "tcp", strings.TrimPrefix(w.server.URL, "http://"))
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close() })
	_, err = fmt.Fprintf(conn, "GET /live?after=%s HTTP/1.0\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n\r\n", after, w.tokens[name])
	require.NoError(w.t, err)
	return conn
}

// readUntilCut reads what comes until the connection ends.
func readUntilCut(r io.Reader) string {
	b, _ := io.ReadAll(r) // the cut is an error
	return string(b)
}

// firstByte is how long the first byte of an answer takes.
func (w *world) firstByte(t *testing.T, p *person, url string) time.Duration {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	require.NoError(t, err)
	began := time.Now()
	res, err := p.client.Do(r)
	require.NoError(t, err)
	defer res.Body.Close()
	_, err = res.Body.Read(make([]byte, 1))
	require.NoError(t, err)
	return time.Since(began)
}

// hostileNames are names that try to be frames.
func hostileNames(t *testing.T) map[string]string {
	t.Helper()
	var values map[string]string
	require.NoError(t, json.Unmarshal(caseFile(t, "103/values.json"), &values))
	return values
}

// gathered is the value of a metric whose labels are as said, "name=value".
func gathered(t *testing.T, reg *prometheus.Registry, metric string, labels ...string) float64 {
	t.Helper()
	families, err := reg.Gather()
	require.NoError(t, err)
	for _, f := range families {
		for _, m := range f.GetMetric() {
			var have []string
			for _, l := range m.GetLabel() {
				have = append(have, l.GetName()+"="+l.GetValue())
			}
			slices.Sort(have)
			if f.GetName() == metric && slices.Equal(have, labels) {
				return m.GetGauge().GetValue() + m.GetCounter().GetValue() + float64(m.GetHistogram().GetSampleCount())
			}
		}
	}
	t.Fatalf("there is no %s %v", metric, labels)
	return 0
}
