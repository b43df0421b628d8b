package exec

import (
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"os"
	"sync"
	"sync/atomic"
)

// Stream is what a command printed on one of its outputs.
type Stream struct {
	// Kept are the first bytes, at most Command.MaxOutput.
	Kept []byte
	// FullBytes counts all bytes that were read.
	FullBytes int64
	// Digest is the SHA-256 of all bytes that were read, as lower-case hex.
	Digest string
}

// Cut says whether Kept is not all.
func (s Stream) Cut() bool { return s.FullBytes > int64(len(s.Kept)) }

// capture reads one output to its end. Its fields but file belong to the
// reading goroutine until done is closed.
type capture struct {
	file  *os.File // the read end; closing it ends the reading
	done  chan struct{}
	limit int
	kept  []byte
	full  int64
	sum   hash.Hash
	meter *meter
}

// newCapture makes a pipe, begins to read it, and returns the end that the
// command writes to.
func newCapture(limit int, m *meter) (*capture, *os.File, error) {
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	c := &capture{file: r, done: make(chan struct{}), limit: limit, sum: sha256.New(), meter: m}
	go c.read()
	return c, w, nil
}

// read ends with the last writer, or when the file is closed; in both cases
// what came until then is the stream, so the error says nothing more.
func (c *capture) read() {
	defer close(c.done)
	_, _ = io.Copy(c, c.file)
}

// Write takes everything, so that the command never waits for us.
func (c *capture) Write(b []byte) (int, error) {
	if room := c.limit - len(c.kept); room > 0 {
		c.kept = append(c.kept, b[:min(room, len(b))]...)
	}
	c.full += int64(len(b))
	c.meter.add(len(b))
	return c.sum.Write(b)
}

// stream ends the reading and returns what was read.
func (c *capture) stream() Stream {
	_ = c.file.Close() // a pipe's read end has nothing to lose
	<-c.done
	return Stream{Kept: c.kept, FullBytes: c.full, Digest: hex.EncodeToString(c.sum.Sum(nil))}
}

// meter adds up both outputs and tells when they are more than the limit.
type meter struct {
	limit int64 // 0: none
	total atomic.Int64
	once  sync.Once
	over  chan struct{}
}

func newMeter(limit int64) *meter { return &meter{limit: limit, over: make(chan struct{})} }

func (m *meter) add(n int) {
	if total := m.total.Add(int64(n)); m.limit > 0 && total > m.limit {
		m.once.Do(func() { close(m.over) })
	}
}
