//go:build amd64 || arm64

package isolate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// link is one end of the pair of sockets between agentd and an init. Down it
// goes one order, as descriptors: the order's text in a sealed file, and the
// command's three files. Up go reports, a message each. When one side is gone,
// the other reads the end.
type link struct{ file *os.File }

// maxReport is the longest report; init cuts what it says.
const maxReport = 8 << 10

func newLink() (ours link, theirs *os.File, err error) {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return link{}, nil, err
	}
	return link{os.NewFile(uintptr(pair[0]), "link")}, os.NewFile(uintptr(pair[1]), "link"), nil
}

func (l link) close() error { return l.file.Close() }

// sendOrder sends the order's text and the command's files.
func (l link) sendOrder(files []*os.File) error {
	fds := make([]int, len(files))
	for i, f := range files {
		fds[i] = int(f.Fd())
	}
	return unix.Sendmsg(l.fd(), []byte{0}, unix.UnixRights(fds...), nil, unix.MSG_NOSIGNAL)
}

// receiveOrder waits for the order; io.EOF means that there will be none.
func (l link) receiveOrder() (order, []*os.File, error) {
	rights := make([]byte, unix.CmsgSpace(4*4))
	n, used, err := l.receive(make([]byte, 1), rights)
	if err != nil || n == 0 {
		return order{}, nil, errors.Join(err, io.EOF)
	}
	messages, err := unix.ParseSocketControlMessage(rights[:used])
	if err != nil || len(messages) != 1 {
		return order{}, nil, fmt.Errorf("%d control messages: %w", len(messages), err)
	}
	fds, err := unix.ParseUnixRights(&messages[0])
	if err != nil || len(fds) != 4 {
		return order{}, nil, fmt.Errorf("%d files: %w", len(fds), err)
	}
	var files []*os.File
	for _, fd := range fds {
		files = append(files, os.NewFile(uintptr(fd), "ordered"))
	}
	o, err := readOrder(files[0])
	return o, files[1:], err
}

func readOrder(told *os.File) (o order, err error) {
	defer func() { _ = told.Close() }()
	text, err := io.ReadAll(told)
	if err != nil {
		return o, err
	}
	return o, json.Unmarshal(text, &o)
}

// report says something to agentd. An error means that agentd is gone.
func (l link) report(r report) error {
	r.Failed = r.Failed[:min(len(r.Failed), maxReport/4)] // JSON may need six bytes for one, as a rule one
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return unix.Sendmsg(l.fd(), text[:min(len(text), maxReport)], nil, nil, unix.MSG_NOSIGNAL)
}

// receiveReport waits for a report; an error means that init is gone.
func (l link) receiveReport() (r report, err error) {
	text := make([]byte, maxReport)
	n, _, err := l.receive(text, nil)
	if err != nil || n == 0 {
		return r, errors.Join(err, io.EOF)
	}
	return r, json.Unmarshal(text[:n], &r)
}

func (l link) receive(text, rights []byte) (n, used int, err error) {
	for {
		n, used, _, _, err = unix.Recvmsg(l.fd(), text, rights, unix.MSG_CMSG_CLOEXEC)
		if !errors.Is(err, unix.EINTR) {
			return n, used, err
		}
	}
}

func (l link) fd() int { return int(l.file.Fd()) }

// tell returns a file in memory with the order that nobody can change.
func tell(o order) (*os.File, error) {
	text, err := json.Marshal(o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	fd, err := unix.MemfdCreate("order", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotStarted, err)
	}
	f := os.NewFile(uintptr(fd), "order")
	_, err = f.Write(text)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("%w: %w", ErrNotStarted, err), f.Close())
	}
	return f, nil
}
