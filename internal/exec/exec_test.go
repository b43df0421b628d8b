package exec_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/exec"
)

// shell is a command of /bin/sh in a fresh directory.
func shell(t *testing.T, script string) exec.Command {
	t.Helper()
	return exec.Command{
		Argv: []string{"/bin/sh", "-c", script}, Dir: t.TempDir(), Env: exec.Environment(nil),
		Timeout: 20 * time.Second, Grace: 200 * time.Millisecond,
	}
}

func run(t *testing.T, c exec.Command) exec.Result {
	t.Helper()
	result, err := exec.Run(t.Context(), c)
	require.NoError(t, err)
	return result
}

func TestRunReportsHowItEnded(t *testing.T) {
	for name, test := range map[string]struct {
		script, stdin, stdout, stderr, signal string
		code                                  int
	}{
		"prints":             {script: `echo out; echo err >&2`, stdout: "out\n", stderr: "err\n"},
		"fails":              {script: `echo no >&2; exit 3`, stderr: "no\n", code: 3},
		"reads its input":    {script: `cat`, stdin: "{\"a\":\"\x00é\"}", stdout: "{\"a\":\"\x00é\"}"},
		"has no input":       {script: `cat; echo end`, stdout: "end\n"},
		"ignores its input":  {script: `exec 0<&-; echo ok`, stdin: strings.Repeat("x", 1<<20), stdout: "ok\n"},
		"kills itself":       {script: `kill -9 $$`, signal: "killed", code: -1},
		"prints odd bytes":   {script: `printf 'a\000b\377'`, stdout: "a\x00b\xff"},
		"pipeline's last":    {script: `(sleep 0.05; echo late) & echo now`, stdout: "now\nlate\n"},
		"not found in shell": {script: `nonesuch 2>/dev/null`, code: 127},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := shell(t, test.script)
			c.Stdin = []byte(test.stdin)
			result := run(t, c)
			require.Equal(t, test.stdout, string(result.Stdout.Kept))
			require.Equal(t, test.stderr, string(result.Stderr.Kept))
			require.Equal(t, test.code, result.ExitCode)
			require.Equal(t, test.signal, result.Signal)
			require.Empty(t, result.StoppedBy)
			require.Positive(t, result.Duration)
		})
	}
}

func TestRunMergesInTheOrderOfWriting(t *testing.T) {
	c := shell(t, `for i in 1 2 3; do echo o$i; echo e$i >&2; done`)
	c.Merge = true
	result := run(t, c)
	require.Equal(t, "o1\ne1\no2\ne2\no3\ne3\n", string(result.Stdout.Kept))
	require.Zero(t, result.Stderr)
}

func TestRunRefusesWhatCannotRun(t *testing.T) {
	dir := t.TempDir()
	notExecutable := filepath.Join(dir, "data")
	require.NoError(t, os.WriteFile(notExecutable, []byte("x"), 0o600))
	for name, test := range map[string]struct {
		argv []string
		dir  string
		want error
		text string
	}{
		"no program":       {argv: nil, dir: dir, want: exec.ErrBadCommand, text: "absolute path"},
		"relative program": {argv: []string{"sh"}, dir: dir, want: exec.ErrBadCommand, text: "absolute path"},
		"relative dir":     {argv: []string{"/bin/sh"}, dir: "x", want: exec.ErrBadCommand, text: "working directory"},
		"NUL":              {argv: []string{"/bin/sh", "a\x00b"}, dir: dir, want: exec.ErrBadCommand, text: "argument 1"},
		"long argument": {
			argv: []string{"/bin/sh", strings.Repeat("x", 128<<10)}, dir: dir,
			want: exec.ErrBadCommand, text: "131072 bytes; at most 131071",
		},
		"missing program": {argv: []string{"/nonesuch"}, dir: dir, want: exec.ErrNotStarted, text: "/nonesuch"},
		"missing dir":     {argv: []string{"/bin/sh"}, dir: dir + "/none", want: exec.ErrNotStarted, text: "/none"},
		"not executable":  {argv: []string{notExecutable}, dir: dir, want: exec.ErrNotStarted, text: "permission denied"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := exec.Run(t.Context(), exec.Command{Argv: test.argv, Dir: test.dir})
			require.ErrorIs(t, err, test.want)
			require.ErrorContains(t, err, test.text)
		})
	}
}

func TestRunStartsNothingUnderAnEndedContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := shell(t, `touch ran`)
	_, err := exec.Run(ctx, c)
	require.ErrorIs(t, err, exec.ErrNotStarted)
	require.ErrorIs(t, err, context.Canceled)
	require.NoFileExists(t, filepath.Join(c.Dir, "ran"))
}

func TestLongestArgumentRuns(t *testing.T) {
	c := shell(t, "")
	c.Argv = []string{"/bin/sh", "-c", `printf %s "${#1}"`, "sh", strings.Repeat("x", 128<<10-1)}
	require.Equal(t, "131071", string(run(t, c).Stdout.Kept))
}

func TestOutputBeyondTheBoundIsCountedAndHashed(t *testing.T) {
	const size = 3 << 20
	c := shell(t, `head -c 3145728 /dev/zero; echo no >&2`)
	c.MaxOutput = 1000
	result := run(t, c)
	whole := sha256.Sum256(make([]byte, size))
	require.Equal(t, exec.Stream{
		Kept: make([]byte, 1000), FullBytes: size, Digest: hex.EncodeToString(whole[:]),
	}, result.Stdout)
	require.True(t, result.Stdout.Cut())
	require.False(t, result.Stderr.Cut())
	require.Zero(t, result.ExitCode)
}

func TestEnvironmentIsAllowListed(t *testing.T) {
	kept := exec.Environment([]string{
		"PATH=/bin", "HOME=/root", "LANG=C.UTF-8", "LC_ALL=C", "TZ=UTC", "TMPDIR=/tmp",
		"COUNTERSIGN_TOKEN=s", "OPENAI_API_KEY=s", "LD_PRELOAD=/x.so", "BASH_ENV=/x", "path=/x", "broken", "=x",
	})
	require.Equal(t, []string{"PATH=/bin", "HOME=/root", "LANG=C.UTF-8", "LC_ALL=C", "TZ=UTC", "TMPDIR=/tmp"}, kept)
	require.Equal(t, []string{"PATH=/usr/local/bin:/usr/bin:/bin"}, exec.Environment([]string{"A=b"}))
}

func TestNothingOfOursReachesTheCommand(t *testing.T) {
	t.Setenv("COUNTERSIGN_TOKEN", "secret-one")
	t.Setenv("OPENAI_API_KEY", "secret-two")
	open, err := os.Create(filepath.Join(t.TempDir(), "secret-three"))
	require.NoError(t, err)
	defer open.Close()

	c := shell(t, `env; ls -l /proc/self/fd; (: </dev/tty) 2>/dev/null && echo has-terminal; true`)
	c.Env = nil // not even then
	out := string(run(t, c).Stdout.Kept)
	require.NotContains(t, out, "secret")
	require.NotContains(t, out, "has-terminal")
	require.NotRegexp(t, `\b[4-9] -> `, out, "0, 1, 2 and what ls itself opened")
}

func TestFind(t *testing.T) {
	dir := t.TempDir()
	program := filepath.Join(dir, "program")
	require.NoError(t, os.WriteFile(program, nil, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "data"), nil, 0o644))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "folder"), 0o755))
	t.Chdir(dir)
	for _, test := range []struct{ name, path, want, text string }{
		{name: program, path: "/bin", want: program},
		{name: "program", path: "/nonesuch:" + dir, want: program},
		{name: "program", path: "", text: "not in PATH"},
		{name: "program", path: ".:", text: "not in PATH"},
		{name: "data", path: dir, text: "not in PATH"},
		{name: "folder", path: dir, text: "not in PATH"},
		{name: "./program", path: dir, text: "absolute path"},
		{name: "", path: dir, text: "absolute path"},
		{name: filepath.Join(dir, "data"), text: "not an executable file"},
		{name: filepath.Join(dir, "none"), text: "no such file"},
	} {
		got, err := exec.Find(test.name, []string{"PATH=/early", "PATH=" + test.path})
		require.Equal(t, test.text == "", err == nil, test.name)
		if err != nil {
			require.ErrorIs(t, err, exec.ErrBadCommand)
			require.ErrorContains(t, err, test.text)
			continue
		}
		require.Equal(t, test.want, got)
	}
}
