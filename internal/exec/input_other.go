//go:build unix && !linux

package exec

import (
	"errors"
	"fmt"
	"os"
)

// inputFile returns a file without a name that holds the input, whole. A pipe
// that we fill would end early, as if that were all, when we die while the
// command reads.
func inputFile(input []byte) (_ *os.File, err error) {
	f, err := os.CreateTemp("", "stdin-")
	if err != nil {
		return nil, fmt.Errorf("hold the input: %w", err)
	}
	err = os.Remove(f.Name())
	if err == nil {
		_, err = f.Write(input)
	}
	if err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("hold the input: %w", err), f.Close())
	}
	return f, nil
}
