package exec_test

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

// TestMain is also a sandbox's init, and the hostile programs of these tests.
func TestMain(m *testing.M) {
	isolate.Stage()
	if len(os.Args) > 1 && os.Args[1] == hostileArg {
		exitOn(hostile(os.Args[2:]))
		os.Exit(0)
	}
	if hardened() {
		exitOn(isolate.Harden())
	}
	os.Exit(m.Run())
}

func exitOn(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// hardenEnv makes these tests run as agentd does: not dumpable.
const hardenEnv = "EXEC_TEST_HARDEN"

func hardened() bool { return os.Getenv(hardenEnv) != "" }

// hostileArg makes this program a hostile one.
const hostileArg = "hostile"

// world is what hostile programs are told of: an agentd's files and ports, and
// a workspace.
type world struct {
	Hidden, Secret, Config, Outside, Workspace string
	Program                                    string // this test binary, where a sandbox sees it
	Self                                       int    // the process id of the test, as agentd's
	Port                                       int    // a TCP port on the loopback device
	Abstract, Socket, Datagram                 string
	Other                                      int // a TCP port that may be reached with NetworkHost
	Free                                       int // a TCP port that nobody listens on
}

const secret = "the journal"

// newWorld makes the files and listens. It is not below /tmp, which sandboxes
// do not see anyway.
func newWorld(t *testing.T) *world {
	t.Helper()
	dir := lasting(t)
	w := &world{
		Hidden: filepath.Join(dir, "data"), Config: filepath.Join(dir, "etc", "agentd.yaml"), Outside: filepath.Join(dir, "outside"),
		Workspace: filepath.Join(dir, "work"), Self: os.Getpid(), Abstract: "@countersign-" + filepath.Base(dir),
	}
	w.Program = filepath.Join(dir, "hostile")
	copyProgram(t, w.Program)
	w.Secret = filepath.Join(w.Hidden, "journal.db")
	w.Socket, w.Datagram = filepath.Join(w.Outside, "socket"), filepath.Join(w.Outside, "datagram")
	for _, folder := range []string{w.Hidden, filepath.Dir(w.Config), w.Outside, w.Workspace} {
		require.NoError(t, os.MkdirAll(folder, 0o755))
	}
	for _, file := range []string{w.Secret, w.Config, filepath.Join(w.Outside, "file")} {
		require.NoError(t, os.WriteFile(file, []byte(secret), 0o666))
	}
	require.NoError(t, os.Symlink(w.Hidden, filepath.Join(w.Workspace, "link")))
	require.NoError(t, os.Symlink(w.Outside, filepath.Join(w.Workspace, "out")))
	w.listen(t)
	return w
}

func (w *world) listen(t *testing.T) {
	t.Helper()
	w.Port, w.Other, w.Free = listenTCP(t), listenTCP(t), freePort(t)
	for _, path := range []string{w.Abstract, w.Socket} {
		l, err := net.Listen("unix", path)
		require.NoError(t, err)
		t.Cleanup(func() { l.Close() })
	}
	datagrams, err := net.ListenPacket("unixgram", w.Datagram)
	require.NoError(t, err)
	t.Cleanup(func() { datagrams.Close() })
}

func listenTCP(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { l.Close() })
	return l.Addr().(*net.TCPAddr).Port
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// placeEnv is where lasting makes its folders, if not where it thinks best.
const placeEnv = "EXEC_TEST_PLACE"

// shutsOff skips a test, loudly, on a machine that cannot shut commands off: what
// a kernel forbids cannot be installed.
func shutsOff(t *testing.T) {
	t.Helper()
	if missing := isolate.Probe(t.Context()).Missing(); len(missing) > 0 {
		t.Skipf("SKIPPED, NOTHING IS PROVED: this machine cannot shut commands off: %+v", missing)
	}
}

// lasting makes a folder where a sandbox would see it.
func lasting(t *testing.T) string {
	t.Helper()
	shutsOff(t)
	parent := os.Getenv(placeEnv)
	if parent == "" && os.Geteuid() == 0 {
		parent = "/var/lib"
	} else if parent == "" {
		var err error
		parent, err = os.UserCacheDir()
		require.NoError(t, err)
	}
	dir, err := os.MkdirTemp(parent, "countersign-test-") //nolint:usetesting // it must not lie below /tmp
	require.NoError(t, err)
	t.Cleanup(func() { os.RemoveAll(dir) })
	require.NoError(t, os.Chmod(dir, 0o755))
	return dir
}

func copyProgram(t *testing.T, to string) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/exe")
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(to, text, 0o755))
}

// sandbox shuts off what an agentd in this world would.
func (w *world) sandbox(t *testing.T, change ...func(*isolate.Config)) *isolate.Sandbox {
	t.Helper()
	// The race detector's memory is larger than what there is; TestLimitsOfASandbox
	// has a bound that binds.
	c := isolate.Config{
		Hidden: []string{w.Hidden, w.Config}, Writable: []string{w.Workspace},
		Memory: 1 << 50, Tasks: 64, FileSize: 8 << 20, OpenFiles: 64, Temp: 16 << 20,
	}
	for _, f := range change {
		f(&c)
	}
	s, err := isolate.New(isolate.Probe(t.Context()), c)
	require.NoError(t, err)
	t.Cleanup(s.Close)
	return s
}

// attack runs attacks as one command and returns what came of each.
func (w *world) attack(t *testing.T, s *isolate.Sandbox, names []string) (outcomes map[string]string) {
	t.Helper()
	told, err := json.Marshal(w)
	require.NoError(t, err)
	result := run(t, exec.Command{
		Argv: slices.Concat([]string{w.Program, hostileArg, string(told)}, names), Dir: w.Workspace, Env: exec.Environment(nil),
		Timeout: time.Minute, Sandbox: s,
	})
	require.Zero(t, result.ExitCode, "%s%s", result.Stdout.Kept, result.Stderr.Kept)
	require.NoError(t, json.Unmarshal(result.Stdout.Kept, &outcomes), "%s", result.Stdout.Kept)
	require.Len(t, outcomes, len(names))
	return outcomes
}

// shell is a command of /bin/sh in the workspace.
func (w *world) shell(script string, s *isolate.Sandbox) exec.Command {
	return exec.Command{
		Argv: []string{"/bin/sh", "-c", script}, Dir: w.Workspace, Env: exec.Environment(nil),
		Timeout: 10 * time.Second, Grace: 200 * time.Millisecond, Sandbox: s,
	}
}
