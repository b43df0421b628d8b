package exec_test

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// What hostile programs are made of. Each returns nil if it could.

func opened(path string, flags int) error {
	f, err := os.OpenFile(path, flags, 0)
	if err != nil {
		return err
	}
	return f.Close()
}

func readSecret(path string) error {
	text, err := os.ReadFile(path)
	if err == nil && string(text) != secret {
		return errors.New("something else is there")
	}
	return err
}

func created(path string) error {
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		return err
	}
	return os.Remove(path)
}

func deleted(folder string) error {
	if err := os.WriteFile(filepath.Join(folder, "victim"), nil, 0o600); err != nil {
		return err
	}
	return os.Remove(filepath.Join(folder, "victim"))
}

func moved(path string) error {
	if err := os.Rename(path, path+".moved"); err != nil {
		return err
	}
	return os.Rename(path+".moved", path)
}

func replaced(path string) error {
	if err := os.WriteFile(path+".new", []byte(secret), 0o666); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

func linked(from, to string) error {
	if err := os.Link(from, to); err != nil {
		return err
	}
	return os.Remove(to)
}

func replaceSelf() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	return moved(self)
}

// inherited finds a descriptor above the standard three that is not its own.
func inherited(world) error {
	for fd := 3; fd < 1024; fd++ {
		to, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", fd))
		if err == nil && !strings.HasPrefix(to, "anon_inode:") {
			return nil
		}
	}
	return errors.New("none")
}

// blockDevice looks for a disk.
func blockDevice() error {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Type()&os.ModeDevice != 0 && e.Type()&os.ModeCharDevice == 0 {
			return nil
		}
	}
	return errors.New("none")
}

func dialed(network, address string) error {
	c, err := net.DialTimeout(network, address, 2*time.Second)
	if err != nil {
		return err
	}
	return c.Close()
}

func socketed(family, kind, protocol int) error {
	fd, err := unix.Socket(family, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	return unix.Close(fd)
}

func connected(port, kind, protocol int) error {
	fd, err := unix.Socket(unix.AF_INET, kind|unix.SOCK_CLOEXEC, protocol)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Connect(fd, loopback(port))
}

// fastOpened connects by sending.
func fastOpened(port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Sendto(fd, []byte("x"), unix.MSG_FASTOPEN, loopback(port))
}

// bound listens where agentd would.
func bound(port int) error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return unix.Bind(fd, loopback(port))
}

func loopback(port int) *unix.SockaddrInet4 {
	return &unix.SockaddrInet4{Port: port, Addr: [4]byte{127, 0, 0, 1}}
}

// fromPair sends to a socket in the file system from one of a pair, which no
// call of socket has made.
func fromPair(path string) error {
	pair, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(pair[0])
	defer unix.Close(pair[1])
	return unix.Sendto(pair[0], []byte("x"), 0, &unix.SockaddrUnix{Name: path})
}
