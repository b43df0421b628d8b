package main_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

const failed = 1

// A data directory belongs to one agentd; the second says whose it is.
func TestLockedDataDirectory(t *testing.T) {
	h := newHome(t)
	p := h.start()
	want := fmt.Sprintf("agentd: open the journal DIR/data/journal.db: DIR/data: the data directory is in use by another process (pid %d); stop it first, or give this one another --data-dir", p.cmd.Process.Pid)
	require.Equal(t, want, refused(t, h.dir, failed, nil, "serve", "--config", "agentd.yaml"))
	s := p.as(agentToken).begin(t, "hello")
	require.Equal(t, "STOP", s.rest(t).Reason, "the first one goes on")
	p.stop()
}

func TestAddressInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	h := newHome(t)
	addr := l.Addr().String()
	require.Equal(t, "agentd: listen on "+addr+": listen tcp "+addr+": bind: address already in use; choose another with --addr",
		refused(t, h.dir, failed, nil, "serve", "--config", "agentd.yaml", "--addr", addr))
	h.start().stop() // what the refused one left behind does no harm
}

// A journal that is damaged, from a newer version or none at all is refused,
// and nothing in the data directory is changed.
func TestJournalRefused(t *testing.T) {
	h := newHome(t)
	p := h.start()
	p.as(agentToken).begin(t, plan{{count("Tally", "one")}}.query()).rest(t)
	p.stop()
	for name, c := range map[string]struct {
		harm func(t *testing.T, path string)
		want string
	}{
		"a byte of a record": {flipByte, "the journal is damaged"},
		"a newer version":    {newerVersion, "version 99, this build knows 1: the database was written by a newer version of this program; start that version"},
		"another file":       {otherFile, "the journal is damaged"},
		"cut short":          {cutShort, "the journal is damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			data := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.CopyFS(data, os.DirFS(h.path("data"))))
			c.harm(t, filepath.Join(data, "journal.db"))
			before := contents(t, data)
			line := refused(t, h.dir, failed, nil, "serve", "--config", "agentd.yaml", "--data-dir", data)
			require.Contains(t, line, "agentd: open the journal "+filepath.Join(data, "journal.db")+": ")
			require.Contains(t, line, c.want)
			require.Equal(t, before, contents(t, data))
			require.NoFileExists(t, filepath.Join(data, "control.sock"))
		})
	}
}

// flipByte changes one byte of the boot record, also where SQLite has left an
// old copy of its page.
func flipByte(t *testing.T, path string) {
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	was, now := []byte(`"type":"boot"`), []byte(`"type":"bolt"`)
	require.True(t, bytes.Contains(b, was))
	require.NoError(t, os.WriteFile(path, bytes.ReplaceAll(b, was, now), 0o600))
}

func newerVersion(t *testing.T, path string) {
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Synchronous: sqlite.Full})
	require.NoError(t, err)
	_, err = db.Write.ExecContext(context.Background(), "PRAGMA user_version = 99")
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func otherFile(t *testing.T, path string) {
	require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("This is not a journal. "), 1000), 0o600))
}

func cutShort(t *testing.T, path string) {
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.NoError(t, os.Truncate(path, info.Size()/2))
}

// contents are the hashes of a folder's files, but for the lock, which says who
// has it, and for SQLite's own files beside a database that hold nothing.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		b, err := os.ReadFile(filepath.Join(dir, e.Name()))
		require.NoError(t, err)
		if e.Name() == "lock" || strings.HasSuffix(e.Name(), "-shm") || strings.HasSuffix(e.Name(), "-wal") && len(b) == 0 {
			continue
		}
		found[e.Name()] = fmt.Sprintf("%x", sha256.Sum256(b))
	}
	return found
}
