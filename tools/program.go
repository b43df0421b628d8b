package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"
)

// ErrOtherProgram is a program that is not the one of the tool's definition.
var ErrOtherProgram = errors.New("the program was changed")

// program is what a tool runs. Its digest is in the tool's definition, so another
// file in its place is another tool: it is not started until agentd was, and then
// under a definition that changed. Between the last look and the start of the
// process lie some microseconds that are not bound, and what the program loads
// (an interpreter, libraries, other scripts) is not bound at all.
type program struct {
	path   string // absolute
	digest string // lower-case hex SHA-256 of its content
	now    func() time.Time

	mu   sync.Mutex
	seen stamp // of a file whose content was read, and cannot have changed unseen since; mu
}

func newProgram(path string) (*program, error) {
	p := &program{path: path, now: time.Now}
	digest, err := p.read()
	if err != nil {
		return nil, fmt.Errorf("%w: a tool's definition names the content of its program, so agentd must be able to read it", err)
	}
	p.digest = digest
	return p, nil
}

// Program is where the program is, and the lower-case hex SHA-256 of its content.
func (p *program) Program() (path, sha256 string) { return p.path, p.digest }

// Verify says why the program is not the one that the definition names.
func (p *program) Verify(context.Context) error {
	now, err := p.read()
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrOtherProgram, err)
	case now != p.digest:
		return fmt.Errorf("%w: %s is not the file that the tool was defined with; agentd must be restarted to offer it", ErrOtherProgram, p.path)
	}
	return nil
}

// read returns the digest of the program as it is now.
//
// A large native binary is not read again while device, inode, size and times
// are the same. That is sound for these alone: Linux refuses to start a file
// that anybody has open for writing, mapped ones included, so what is started
// was written to before, and nobody can set the time of change. A script has no
// such protection and is read each time, which takes far less than starting it.
func (p *program) read() (digest string, err error) {
	f, err := os.Open(p.path)
	if err != nil {
		return "", err
	}
	defer func() { _ = f.Close() }() // only read
	info, err := f.Stat()
	if err != nil {
		return "", err
	}
	if kind := kindOf(info.Mode()); kind != "" {
		return "", fmt.Errorf("%s: %w: it is a %s", p.path, ErrNotRegular, kind)
	}
	now, began := stampOf(info), p.now()
	p.mu.Lock()
	defer p.mu.Unlock()
	if now != (stamp{}) && now == p.seen {
		return p.digest, nil
	}
	digest, native, err := digestOf(f)
	if err == nil && native && digest == p.digest && info.Size() > readAgain && began.Sub(now.changed()) > settled {
		p.seen = now
	}
	return digest, err
}

const (
	readAgain = 4 << 20         // bytes of a program that is always read
	settled   = 3 * time.Second // since the last change: within less, another one may have the same time
)

// digestOf reads a program, and says whether it is native code (ELF).
func digestOf(r io.Reader) (digest string, native bool, err error) {
	h, magic := sha256.New(), make([]byte, 4)
	n, err := io.ReadFull(r, magic)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", false, err
	}
	h.Write(magic[:n])
	if _, err := io.Copy(h, r); err != nil {
		return "", false, err
	}
	return hex.EncodeToString(h.Sum(nil)), string(magic[:n]) == "\x7fELF", nil
}
