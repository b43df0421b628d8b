package exec

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// inputFile returns a file in memory that holds the input, whole, and that
// nobody can change any more. A pipe that we fill would end early, as if that
// were all, when we die while the command reads.
func inputFile(input []byte) (*os.File, error) {
	fd, err := unix.MemfdCreate("stdin", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("hold the input: %w", err)
	}
	f := os.NewFile(uintptr(fd), "stdin")
	_, err = f.Write(input)
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_WRITE|unix.F_SEAL_GROW|unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hold the input: %w", err), f.Close())
	}
	return f, nil
}
