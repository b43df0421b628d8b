package isolate

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

var (
	// ErrCannot means that this machine lacks something that isolation needs;
	// the text names what, and what to do.
	ErrCannot = errors.New("tools cannot be isolated on this machine")
	// ErrConfig is a configuration that would not isolate.
	ErrConfig = errors.New("isolation")
	// ErrNotStarted means that the sandbox could not be made: nothing was run.
	ErrNotStarted = errors.New("sandbox")
)

// None is the mode of a command that runs without a sandbox.
const None = "none"

// Network is what a command may reach.
type Network string

const (
	// NetworkNone is a loopback device of the command's own, and nothing else.
	NetworkNone Network = "none"
	// NetworkHost is the machine's network: TCP to Config.Ports, at any address,
	// and UDP. No TCP port can be listened on.
	NetworkHost Network = "host"
)

// The values of a Config that says nothing else.
const (
	DefaultMemory    = 2 << 30
	DefaultTasks     = 512
	DefaultFileSize  = 1 << 30
	DefaultOpenFiles = 1024
	DefaultTemp      = 512 << 20
)

// Config is what commands may see and use. All paths are absolute.
type Config struct {
	// Hidden are files and folders that commands neither read nor write, through
	// whatever path. They need not exist.
	Hidden []string
	// Writable are folders that commands may change; all else is read-only.
	Writable []string
	// Readable are files and folders to show, read-only, although they lie
	// below /tmp, /var/tmp or /run, which commands do not see.
	Readable []string
	// Network is NetworkNone if empty.
	Network Network
	// Ports are the TCP ports that may be connected to with NetworkHost; none
	// means 53, 80 and 443.
	Ports []uint16
	// OwnPorts are those that this process listens on: they may not be in Ports.
	OwnPorts []uint16

	// Memory is how many bytes a command's processes may hold together.
	Memory int64
	// Tasks is how many processes and threads a command may have.
	Tasks int
	// FileSize is how many bytes a file may grow to.
	FileSize int64
	// OpenFiles is how many files a process may hold open.
	OpenFiles int
	// Temp is how many bytes /tmp, /var/tmp and /dev/shm hold together.
	Temp int64
}

// Sandbox starts commands, each in a world of its own. Many may use it at once.
// After the first command it keeps a process ready for the next; Close ends it.
type Sandbox struct {
	config Config

	mu     sync.Mutex // over the rest
	next   *coming    // waits for an order, or soon does; nil if none is there
	closed bool
}

// New returns a sandbox, or says why there can be none: ErrCannot or ErrConfig.
func New(m Machine, c Config) (*Sandbox, error) {
	c = c.withDefaults()
	if err := m.cannot(c.Network); err != nil {
		return nil, err
	}
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	c, err := c.resolve()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	return &Sandbox{config: c}, nil
}

// Mode is how commands are shut off, for tool_started: the version of the
// measures that the package comment lists, and the network with its ports.
func (s *Sandbox) Mode() string {
	mode := "linux/1;network=" + string(s.config.Network)
	if s.config.Network == NetworkNone {
		return mode
	}
	ports := make([]string, len(s.config.Ports))
	for i, port := range s.config.Ports {
		ports[i] = strconv.Itoa(int(port))
	}
	return mode + ":" + strings.Join(ports, ",")
}

func (c Config) withDefaults() Config {
	c.Network = cmp.Or(c.Network, NetworkNone)
	if len(c.Ports) == 0 {
		c.Ports = []uint16{53, 80, 443}
	}
	c.Memory = cmp.Or(c.Memory, DefaultMemory)
	c.Tasks = cmp.Or(c.Tasks, DefaultTasks)
	c.FileSize = cmp.Or(c.FileSize, DefaultFileSize)
	c.OpenFiles = cmp.Or(c.OpenFiles, DefaultOpenFiles)
	c.Temp = cmp.Or(c.Temp, DefaultTemp)
	return c
}

func (c Config) check() error {
	for _, path := range slices.Concat(c.Hidden, c.Writable, c.Readable) {
		if !filepath.IsAbs(path) || strings.ContainsRune(path, 0) {
			return fmt.Errorf("the path %q must be absolute", path)
		}
	}
	if c.Network != NetworkNone && c.Network != NetworkHost {
		return fmt.Errorf("network %q: expected %s or %s", c.Network, NetworkNone, NetworkHost)
	}
	for _, port := range c.OwnPorts {
		if c.Network == NetworkHost && slices.Contains(c.Ports, port) {
			return fmt.Errorf("tools may connect to TCP port %d, which this process listens on; "+
				"listen on another, or take it from the ports that tools may connect to", port)
		}
	}
	if c.Memory < 0 || c.Tasks < 0 || c.FileSize < 0 || c.OpenFiles < 0 || c.Temp < 0 {
		return errors.New("a limit is negative")
	}
	return nil
}

// resolve follows links, so that what is hidden is the thing and not its name,
// and refuses what could not be told apart.
func (c Config) resolve() (Config, error) {
	writable, err := existing(c.Writable)
	if err != nil {
		return c, err
	}
	readable, err := existing(c.Readable)
	if err != nil {
		return c, err
	}
	var hidden []string
	for _, path := range c.Hidden {
		hidden = append(hidden, realPath(path))
	}
	hidden = outermost(hidden)
	for _, h := range hidden {
		for _, w := range slices.Concat(writable, readable) {
			if within(h, w) || within(w, h) {
				return c, fmt.Errorf("%s is for tools and %s is hidden from them: neither may contain the other", w, h)
			}
		}
		if err := refuseLinked(h); err != nil {
			return c, err
		}
	}
	c.Hidden, c.Writable, c.Readable = hidden, writable, readable
	return c, nil
}

func existing(paths []string) ([]string, error) {
	var all []string
	for _, path := range paths {
		path, err := filepath.EvalSymlinks(path)
		if err != nil {
			return nil, err
		}
		all = append(all, path)
	}
	return all, nil
}

// realPath follows the links of the part of a path that exists.
func realPath(path string) string {
	path = filepath.Clean(path)
	if followed, err := filepath.EvalSymlinks(path); err == nil {
		return followed
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(realPath(parent), filepath.Base(path))
}

// outermost drops paths that lie within others.
func outermost(paths []string) []string {
	slices.Sort(paths)
	var kept []string
	for _, path := range paths {
		if !slices.ContainsFunc(kept, func(k string) bool { return within(path, k) }) {
			kept = append(kept, path)
		}
	}
	return kept
}

// within says whether a path is a folder or lies in it.
func within(path, folder string) bool {
	return path == folder || folder == "/" || strings.HasPrefix(path, folder+"/")
}
