//go:build amd64 || arm64

package isolate

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The rights of Landlock, by what they need; see landlock(7). Reading is
// granted beside what is hidden, changing only where the command may. Names
// in folders are not a secret here: what hides a folder's names is its mount.
const (
	landRead   = unix.LANDLOCK_ACCESS_FS_EXECUTE | unix.LANDLOCK_ACCESS_FS_READ_FILE
	landChange = unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_REMOVE_DIR | unix.LANDLOCK_ACCESS_FS_REMOVE_FILE |
		unix.LANDLOCK_ACCESS_FS_MAKE_CHAR | unix.LANDLOCK_ACCESS_FS_MAKE_DIR | unix.LANDLOCK_ACCESS_FS_MAKE_REG |
		unix.LANDLOCK_ACCESS_FS_MAKE_SOCK | unix.LANDLOCK_ACCESS_FS_MAKE_FIFO | unix.LANDLOCK_ACCESS_FS_MAKE_BLOCK |
		unix.LANDLOCK_ACCESS_FS_MAKE_SYM | unix.LANDLOCK_ACCESS_FS_REFER
	landNet   = unix.LANDLOCK_ACCESS_NET_BIND_TCP | unix.LANDLOCK_ACCESS_NET_CONNECT_TCP
	landScope = unix.LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET | unix.LANDLOCK_SCOPE_SIGNAL
)

// The versions of Landlock that brought what is used here.
const (
	landWithRefer    = 2 // without it nothing can be moved between folders
	landWithTruncate = 3
	landWithNet      = 4
	landWithScope    = 6
)

// landRulePort is LANDLOCK_RULE_NET_PORT, and landPort its attribute.
const landRulePort = 2

type landPort struct{ access, port uint64 }

// landVersion asks the kernel; an error means that it has no Landlock.
func landVersion() (int, error) {
	version, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, 0, 0, unix.LANDLOCK_CREATE_RULESET_VERSION)
	if errno != 0 {
		return 0, errno
	}
	return int(version), nil
}

// restrict puts this thread, and whatever it starts, into a Landlock domain.
func restrict(c Config) error {
	version, err := landVersion()
	if err != nil {
		return err
	}
	r, err := newRuleset(version, c.Network)
	if err != nil {
		return err
	}
	defer func() { _ = unix.Close(r.fd) }()
	if err := r.allow(c); err != nil {
		return err
	}
	if _, _, errno := unix.Syscall(unix.SYS_LANDLOCK_RESTRICT_SELF, uintptr(r.fd), 0, 0); errno != 0 {
		return errno
	}
	return nil
}

// ruleset is a Landlock ruleset that is being made.
type ruleset struct {
	fd     int
	change uint64 // the rights where the command may change things
}

func newRuleset(version int, network Network) (ruleset, error) {
	r := ruleset{change: landRead | landChange}
	if version < landWithRefer || network == NetworkHost && version < landWithNet {
		return r, fmt.Errorf("this kernel has version %d", version)
	}
	if version >= landWithTruncate {
		r.change |= unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	attr := unix.LandlockRulesetAttr{Handled_access_fs: r.change}
	if network == NetworkHost {
		attr.Handled_access_net = landNet
	}
	if version >= landWithScope {
		attr.Scoped = landScope
	}
	fd, _, errno := unix.Syscall(unix.SYS_LANDLOCK_CREATE_RULESET, uintptr(unsafe.Pointer(&attr)), unsafe.Sizeof(attr), 0) //nolint:gosec // as the kernel wants it
	if errno != 0 {
		return r, errno
	}
	r.fd = int(fd)
	return r, nil
}

func (r ruleset) allow(c Config) error {
	err := r.readBeside("/", c.Hidden)
	for _, path := range c.Readable {
		err = errors.Join(err, r.path(path, landRead))
	}
	for _, path := range append([]string{"/tmp", "/var/tmp", "/dev"}, c.Writable...) {
		err = errors.Join(err, r.path(path, r.change))
	}
	if c.Network == NetworkHost {
		for _, port := range c.Ports {
			rule := landPort{unix.LANDLOCK_ACCESS_NET_CONNECT_TCP, uint64(port)}
			err = errors.Join(err, r.add(landRulePort, unsafe.Pointer(&rule))) //nolint:gosec // as the kernel wants it
		}
	}
	return err
}

// readBeside allows reading what lies in a folder, but of the folders that
// lead to hidden paths only what lies beside those. What comes to lie there
// later is not allowed: it may be a hidden file that was replaced.
func (r ruleset) readBeside(folder string, hidden []string) error {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil //nolint:nilerr // who cannot list it is not shown more of it
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		switch leads, is := toward(path, hidden); {
		case is || entry.Type()&fs.ModeSymlink != 0: // a link's target has its own rule
		case leads:
			err = errors.Join(err, r.readBeside(path, hidden))
		default:
			err = errors.Join(err, r.path(path, landRead))
		}
	}
	return err
}

// toward says whether a path leads to something hidden, or is it.
func toward(path string, hidden []string) (leads, is bool) {
	for _, h := range hidden {
		is = is || h == path
		leads = leads || within(h, path)
	}
	return leads, is
}

// path allows rights beneath a path. One that is not there, or that nobody may
// enter, needs none.
func (r ruleset) path(path string, rights uint64) error {
	fd, err := unix.Open(path, unix.O_PATH|unix.O_CLOEXEC|unix.O_NOFOLLOW, 0)
	if errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EACCES) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	defer func() { _ = unix.Close(fd) }()
	var is unix.Stat_t
	if err := unix.Fstat(fd, &is); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	if is.Mode&unix.S_IFMT != unix.S_IFDIR {
		rights &= landRead | unix.LANDLOCK_ACCESS_FS_WRITE_FILE | unix.LANDLOCK_ACCESS_FS_TRUNCATE
	}
	rule := unix.LandlockPathBeneathAttr{Allowed_access: rights, Parent_fd: int32(fd)}    //nolint:gosec // a descriptor
	if err := r.add(unix.LANDLOCK_RULE_PATH_BENEATH, unsafe.Pointer(&rule)); err != nil { //nolint:gosec // as the kernel wants it
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func (r ruleset) add(kind uintptr, rule unsafe.Pointer) error {
	if _, _, errno := unix.Syscall6(unix.SYS_LANDLOCK_ADD_RULE, uintptr(r.fd), kind, uintptr(rule), 0, 0, 0); errno != 0 {
		return errno
	}
	return nil
}
