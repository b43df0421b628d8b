package journal

import (
	"os"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// rawLog is the physical limit that the journal is measured against: a file to
// which one goroutine appends all that is queued, waits for the disk, and
// answers. It stores the same bytes and does nothing else with them.
type rawLog struct {
	f    *os.File
	wake chan struct{}
	quit chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	waiting []rawAppend // guarded by mu
	spare   []rawAppend // of the writer
	buf     []byte      // of the writer
}

type rawAppend struct {
	entries []Entry
	done    chan error
}

func newRawLog(t testing.TB, path string) *rawLog {
	t.Helper()
	f, err := os.Create(path)
	require.NoError(t, err)
	l := &rawLog{f: f, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	l.wg.Go(l.run)
	t.Cleanup(func() {
		close(l.quit)
		l.wg.Wait()
		require.NoError(t, f.Close())
	})
	return l
}

func (l *rawLog) append(done chan error, entries ...Entry) error {
	l.mu.Lock()
	l.waiting = append(l.waiting, rawAppend{entries, done})
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
	return <-done
}

func (l *rawLog) run() {
	for {
		select {
		case <-l.wake:
		case <-l.quit:
			return
		}
		l.mu.Lock()
		batch := l.waiting
		l.waiting = l.spare[:0]
		l.mu.Unlock()
		err := l.write(batch)
		for _, a := range batch {
			a.done <- err
		}
		l.spare = batch
	}
}

func (l *rawLog) write(batch []rawAppend) error {
	l.buf = l.buf[:0]
	for _, a := range batch {
		for i := range a.entries {
			l.buf = append(l.buf, a.entries[i].Envelope...)
		}
	}
	if _, err := l.f.Write(l.buf); err != nil {
		return err
	}
	return unix.Fdatasync(int(l.f.Fd()))
}
