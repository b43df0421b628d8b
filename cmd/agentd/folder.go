package main

import (
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/countersign-dev/countersign/internal/config"
)

// socketName is the control socket in the data directory.
const socketName = "control.sock"

func (s *server) controlPath() string { return filepath.Join(s.folder, socketName) }

// openFolder finds where token and control socket go: to the data directory,
// which the journal locks. In memory there is no journal, and another agentd may
// use the data directory, so that they get a folder of their own, which goes
// when this process does.
func (s *server) openFolder() (err error) {
	if s.cfg.Bus != config.BusMemory {
		s.folder = s.cfg.DataDir
		if err := checkSocketFolder(s.folder); err != nil {
			return s.cfg.Blame("data-dir", err)
		}
		return nil
	}
	if s.folder, err = os.MkdirTemp("", "agentd-"); err == nil {
		err = checkSocketFolder(s.folder)
	}
	if err != nil {
		return fmt.Errorf("a temporary folder for token and control socket: %w; set TMPDIR to another", err)
	}
	return nil
}

// checkSocketFolder refuses a folder in which the control socket could not be
// made, before anything is touched: the system bounds such a path.
func checkSocketFolder(folder string) error {
	most := len(syscall.RawSockaddrUnix{}.Path) - 1 - len("/"+socketName)
	if len(folder) <= most {
		return nil
	}
	return fmt.Errorf("expected a path of at most %d bytes, found %d in %q: the control socket in it would have a longer path than this system allows; choose another folder",
		most, len(folder), folder)
}
