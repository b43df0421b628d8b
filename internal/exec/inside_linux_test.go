package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
	"github.com/countersign-dev/countersign/internal/isolate"
)

// A sandbox is the world of one command; what it writes into the workspace is
// agentd's, and stays.
func TestACommandsWorld(t *testing.T) {
	w := newWorld(t)
	s := w.sandbox(t)
	t.Setenv("SECRET", "x")
	for _, test := range []struct{ name, script, stdout string }{
		{"it works in the workspace", `pwd; echo hello >file; cat file`, w.Workspace + "\nhello\n"},
		{"home is there", `echo $HOME $TMPDIR $SECRET`, w.Workspace + " /tmp\n"},
		{"files can be moved about", `mkdir d; mv file d/; mv d/file .; rmdir d; cat file`, "hello\n"},
		{"temporary files can be made", `touch /tmp/mine /var/tmp/yours; ls /tmp`, "mine\nyours\n"},
		{"and are gone", `ls /tmp`, ""},
		{
			"harmless devices", `head -c 3 /dev/zero | wc -c; echo x >/dev/null; ls -m /dev`,
			"3\nfd, full, null, ptmx, pts, random, shm, stderr, stdin, stdout, urandom, zero\n",
		},
		{"its own processes", `for p in /proc/[0-9]*; do cat $p/comm; done`, "agentd-init\nsh\n"},
		{
			"no rights", `grep -E '^(Cap(Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):' /proc/self/status | tr -d '\t'`,
			"CapPrm:0000000000000000\nCapEff:0000000000000000\nCapBnd:0000000000000000\nCapAmb:0000000000000000\nNoNewPrivs:1\nSeccomp:2\n",
		},
		{"a kernel to look at", `for d in /proc /dev; do grep " $d " /proc/mounts | tail -1 | cut -d' ' -f4 | cut -c1-3; done`, "ro,\nro,\n"},
		{"nobody else's sockets", `ls -A /run | grep -v systemd`, ""}, // systemd/resolve tells who resolves names
		{"pipes by name", `mkfifo p; echo through >p & cat p; rm p`, "through\n"},
		{"its own loopback", `grep -c lo: /proc/net/dev; grep -vc lo: /proc/net/dev`, "1\n2\n"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := w.shell(test.script, s)
			c.Env = exec.Environment(os.Environ())
			result := run(t, c)
			require.Equal(t, test.stdout, string(result.Stdout.Kept), "%s", result.Stderr.Kept)
			require.Empty(t, result.Stderr.Kept)
		})
	}
	info, err := os.Stat(filepath.Join(w.Workspace, "file"))
	require.NoError(t, err)
	require.EqualValues(t, os.Geteuid(), info.Sys().(*syscall.Stat_t).Uid)
}

// The order of starts is not that of ends, and no sandbox sees another.
func TestManySandboxesAtOnce(t *testing.T) {
	w := newWorld(t)
	s := w.sandbox(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			result, err := exec.Run(t.Context(), w.shell(fmt.Sprintf("echo %d >/tmp/x; sleep 0.05; cat /tmp/x; ls /proc | grep -c '^[0-9]'", i), s))
			if err != nil || !strings.HasPrefix(string(result.Stdout.Kept), fmt.Sprintf("%d\n", i)) {
				t.Errorf("%d: %v %s%s", i, err, result.Stdout.Kept, result.Stderr.Kept)
			}
		})
	}
	all.Wait()
}

// /tmp is the command's own but for what is to be shown there, read-only.
func TestWhatIsShownBelowTmp(t *testing.T) {
	w := newWorld(t)
	shown, other := t.TempDir(), t.TempDir()
	require.NoError(t, os.WriteFile(shown+"/file", []byte("shown"), 0o600))
	require.NoError(t, os.WriteFile(other+"/file", []byte("other"), 0o600))
	s := w.sandbox(t, func(c *isolate.Config) { c.Readable = []string{shown} })
	result := run(t, w.shell("cat "+shown+"/file; cat "+other+"/file || echo x >"+shown+"/file", s))
	require.Equal(t, "shown", string(result.Stdout.Kept))
	require.Contains(t, string(result.Stderr.Kept), "Read-only file system")
}
