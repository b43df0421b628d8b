package main_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// attack is a command that a person approved by mistake. It prints GOT where it
// got what it wanted.
type attack struct {
	name, command string
	told          string // of the result, a pattern; "": anything
	stopped       string // why the tool was stopped, as the record says it
}

// reaching are the ways to what is agentd's. What is in capitals is the home's.
func reaching() []attack {
	return []attack{
		{name: "reads the data", command: `for f in DATA/journal.db DATA/gate.db DATA/views.db DATA/auth.db DATA/lock; do head -c 1 "$f" | grep -q . && echo GOT "$f"; done`},
		{name: "lists the data", command: `ls -A DATA | grep -q . && echo GOT`},
		{name: "reads the configuration", command: `grep -q tokens CONFIG && echo GOT`},
		{name: "by another way", command: `cat WORK/../agentd.yaml WORK/../data/journal.db /proc/self/cwd/../agentd.yaml /proc/1/root/CONFIG /proc/self/root/CONFIG | grep -q . && echo GOT`},
		{name: "through a link", command: `ln -s CONFIG WORK/link; cat WORK/link | grep -q . && echo GOT`},
		{name: "through a hard link", command: `ln CONFIG WORK/hard && echo GOT; ln DATA/journal.db WORK/hard && echo GOT`},
		{name: "writes the configuration", command: `(echo >> CONFIG) && echo GOT; mv CONFIG CONFIG.old && echo GOT; rm -f CONFIG && echo GOT`, told: `denied|No such file|Read-only`},
		{name: "writes the journal", command: `(echo >> DATA/journal.db) && echo GOT; rm -rf DATA/journal.db && [ ! -e DATA ] && echo GOT`},
		{name: "writes outside", command: `(echo > HOME/escaped) && echo GOT; (echo > /usr/local/escaped) && echo GOT; (echo > /etc/escaped) && echo GOT`},
		{name: "writes another tool's program", command: `(echo >> HOME/note.sh) && echo GOT`},
		{name: "sees agentd", command: `for p in /proc/[0-9]*; do tr '\0' ' ' < $p/cmdline | grep -q 'serve [-]-config' && echo GOT; done; ls /proc/PID/fd /proc/PID/mem`},
		{name: "kills agentd", command: `kill -9 PID && echo GOT`},
		{name: "kills everybody", command: `kill -9 -1; echo still here`},
		{name: "connects to the console", command: `(exec 3<>/dev/tcp/127.0.0.1/PORT) && echo GOT; (exec 3<>/dev/tcp/::1/PORT) && echo GOT; (exec 3<>/dev/tcp/$(hostname)/PORT) && echo GOT`},
		{name: "finds the control socket", command: `[ -S DATA/control.sock ] && echo GOT; find / -xdev -name control.sock -type s 2>/dev/null | grep -q . && echo GOT`},
		{name: "makes a namespace of its own", command: `unshare -Ur true && echo GOT; mount -t tmpfs none /mnt && echo GOT`},
		{name: "takes the host's folders", command: `umount DATA && echo GOT; umount -l / && echo GOT; mknod WORK/disk b 8 0 && echo GOT`},
		{name: "sees agentd's environment", command: `env | grep -q '^COUNTERSIGN_\|_KEY=\|_TOKEN=' && echo GOT`},
		{name: "sets a mode", command: `cp /bin/sh WORK/sh && chmod u+s WORK/sh && echo GOT; chmod 6755 WORK/sh && echo GOT; install -m 4755 /bin/sh WORK/sh2 && echo GOT; mkdir -m 2755 WORK/group && echo GOT`},
	}
}

// misbehaving are programs that will not end, or not be small.
func misbehaving() []attack {
	return []attack{
		{name: "leaves a daemon", command: `setsid sleep 7919 >/dev/null 2>&1 & (setsid sh -c 'sleep 7919 & exit' >/dev/null 2>&1 &); sleep 0.2; echo left`, told: `left`},
		{name: "forks", command: `for i in $(seq 900); do sleep 7919 & done; wait`, stopped: "process-limit"},
		{name: "fills the temporary folder", command: `head -c 2G /dev/zero > /tmp/big && echo GOT`, told: `No space left`},
		{name: "prints without end", command: `yes`, stopped: "output-limit"},
		{name: "does not listen", command: `trap '' TERM INT HUP; while :; do sleep 7919; done`, stopped: "timeout"},
		{name: "says nothing", command: `exec >&- 2>&-; sleep 7919`, stopped: "timeout"},
	}
}

// onlyShutOff ends a command that has the processes of this machine before it:
// a test of a wall that is not there must not do what the wall is for.
const onlyShutOff = `[ $$ -lt 100 ] && [ ! -e /proc/PID ] || { echo not shut off; exit; }; `

// Invariant 11 by the real program: a person approves what is hostile, and
// nothing of agentd's is read, written, reached or stopped. The record tells what
// happened, and how the tool was shut off.
func TestAnApprovedToolThatIsHostile(t *testing.T) {
	h := newHomeIn(t, seenByTools(t))
	if !h.isolates() {
		t.Skip("SKIPPED, NOTHING IS PROVED: this machine cannot shut tools off; agentd doctor says why")
	}
	p := h.start()
	config, err := os.ReadFile(h.path("agentd.yaml"))
	require.NoError(t, err)
	script, err := os.ReadFile(h.path("note.sh"))
	require.NoError(t, err)
	place := strings.NewReplacer("CONFIG", h.path("agentd.yaml"), "DATA", h.path("data"), "WORK", h.path("workspace"), "HOME", h.dir,
		"PID", strconv.Itoa(p.cmd.Process.Pid), "PORT", p.base[strings.LastIndexByte(p.base, ':')+1:])
	attacks := append(reaching(), misbehaving()...)
	for _, a := range attacks {
		t.Run(a.name, func(t *testing.T) {
			query := plan{{{"Bash", fmt.Sprintf(`{"command":%q,"timeout_ms":%d}`, place.Replace(onlyShutOff+a.command), a.patience())}}}.query()
			s := p.as(agentToken).begin(t, query)
			p.as(aliceToken).approve(t, s.until(t, "approval_request").RequestID)
			require.Contains(t, []string{"ok", "error"}, s.until(t, "tool_result").ToolResults[0].Status)
			require.Equal(t, "STOP", s.rest(t).Reason)
			got := h.model.told(query, callID(0, 0))
			require.NotContains(t, got, "GOT")
			require.NotContains(t, got, "not shut off")
			require.Regexp(t, a.told, got)
			require.Empty(t, leftovers(t), "it lives on")
		})
	}
	p.refusesNothing(t)
	code, _ := p.stop()
	require.Zero(t, code)
	for name, before := range map[string][]byte{"agentd.yaml": config, "note.sh": script} {
		after, err := os.ReadFile(h.path(name))
		require.NoError(t, err)
		require.Equal(t, string(before), string(after))
	}
	require.NoError(t, filepath.WalkDir(h.path("workspace"), func(path string, e os.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)
		require.Zero(t, info.Mode()&(os.ModeSetuid|os.ModeSetgid), path)
		return nil
	}))
	for _, escaped := range []string{h.path("escaped"), "/usr/local/escaped", "/etc/escaped"} {
		require.NoFileExists(t, escaped)
	}
	l := readLog(t, h.path("data", "journal.db"))
	seen := check(l)
	seen.ended()
	require.Empty(t, seen.problems)
	starts, results := all[*events.ToolStarted](l), all[*events.ToolResult](l)
	require.Len(t, starts, len(attacks))
	require.Len(t, results, len(attacks))
	for i, a := range attacks {
		require.Regexp(t, `^linux/`, starts[i].Isolation)
		require.Equal(t, a.stopped, results[i].StoppedBy, a.name)
	}
}

// seenByTools makes a folder that is not below those of which every tool has its
// own, so that what is in it is hidden or is not.
func seenByTools(t *testing.T) string {
	t.Helper()
	for _, parent := range []string{os.Getenv("HOME"), "/var/lib", "."} {
		parent, err := filepath.Abs(parent)
		if err != nil || strings.HasPrefix(parent, "/tmp/") || strings.HasPrefix(parent, "/var/tmp/") {
			continue
		}
		if dir, err := os.MkdirTemp(parent, ".countersign-test-"); err == nil { //nolint:usetesting // not below /tmp
			t.Cleanup(func() { require.NoError(t, os.RemoveAll(dir)) })
			return dir
		}
	}
	needed(t, "no folder can be written that tools would see", errors.New("tried the home folder, /var/lib and this one"))
	return ""
}

// patience is how long a command has, in milliseconds.
func (a attack) patience() int {
	if a.stopped == "timeout" {
		return 500
	}
	return 20_000
}

// refusesNothing holds that agentd still takes work.
func (p *process) refusesNothing(t *testing.T) {
	t.Helper()
	s := p.as(agentToken).begin(t, plan{}.query())
	require.Equal(t, "STOP", s.rest(t).Reason)
}

// leftovers are processes on this machine that only our tools can have started.
func leftovers(t *testing.T) (found []string) {
	t.Helper()
	mine := regexp.MustCompile(`^sleep\x007919\x00$`)
	require.Eventually(t, func() bool {
		found = nil
		paths, err := filepath.Glob("/proc/[0-9]*/cmdline")
		require.NoError(t, err)
		for _, path := range paths {
			if text, err := os.ReadFile(path); err == nil && mine.Match(text) {
				found = append(found, path)
			}
		}
		return len(found) == 0
	}, 5*time.Second, 20*time.Millisecond, "%v", found)
	return found
}
