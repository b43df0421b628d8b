package bench

import (
	"os"
	"sync"

	"golang.org/x/sys/unix"
)

// rawFile is a file whose appends wait for the disk: what one durable append
// costs at least.
type rawFile struct{ f *os.File }

func newRawFile(path string) (*rawFile, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600) //nolint:gosec // a temporary folder of ours
	return &rawFile{f}, err
}

func (r *rawFile) append(b []byte) error {
	if _, err := r.f.Write(b); err != nil {
		return err
	}
	return unix.Fdatasync(int(r.f.Fd()))
}

// rawLog is the limit of a log with many callers: one goroutine appends all
// that is queued to a file, waits for the disk, and answers. It stores the same
// bytes as the journal does and does nothing else with them.
type rawLog struct {
	file *rawFile
	wake chan struct{} // capacity 1
	quit chan struct{}
	wg   sync.WaitGroup

	mu      sync.Mutex
	waiting []rawAppend // mu
	spare   []rawAppend // of the writer
	buf     []byte      // of the writer
}

type rawAppend struct {
	pieces [][]byte
	done   chan error
}

func newRawLog(path string) (*rawLog, error) {
	f, err := newRawFile(path)
	if err != nil {
		return nil, err
	}
	l := &rawLog{file: f, wake: make(chan struct{}, 1), quit: make(chan struct{})}
	l.wg.Go(l.run)
	return l, nil
}

func (l *rawLog) close() error {
	close(l.quit)
	l.wg.Wait()
	return l.file.f.Close()
}

// append stores pieces in one commit; done is the caller's, and is reused.
func (l *rawLog) append(done chan error, pieces [][]byte) error {
	l.mu.Lock()
	l.waiting = append(l.waiting, rawAppend{pieces, done})
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default: // the writer has been told
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
		for _, piece := range a.pieces {
			l.buf = append(l.buf, piece...)
		}
	}
	return l.file.append(l.buf)
}
