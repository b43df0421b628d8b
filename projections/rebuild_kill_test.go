package projections_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/generate"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/projections"
)

// rebuildingIn names, to a child process, the folder in which it rebuilds views
// until it is killed.
const rebuildingIn = "COUNTERSIGN_TEST_REBUILD_IN"

// TestHelperRebuilds is the child of TestKilledWhileTheyAreRebuilt.
func TestHelperRebuilds(t *testing.T) {
	dir := os.Getenv(rebuildingIn)
	if dir == "" {
		t.Skip("only for a process that is to be killed")
	}
	v := open(t, filepath.Join(dir, "views.db"), journalIn(t, dir))
	_, err := os.Stdout.WriteString("ready")
	require.NoError(t, err)
	for {
		require.NoError(t, v.Rebuild(t.Context()))
	}
}

// journalIn opens the journal of a folder for reading.
func journalIn(t *testing.T, dir string) *bus.Producer {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{Path: filepath.Join(dir, "journal.db"), ReadOnly: true})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "agentd/test/reader"})
}

// Invariant 8: killed at any point of a build or an exchange, again and again on
// what was left, views end as the log has them.
func TestKilledWhileTheyAreRebuilt(t *testing.T) {
	kills := 20
	if testing.Short() {
		kills = 4
	}
	dir := t.TempDir()
	j, err := journal.Open(t.Context(), journal.Options{Path: filepath.Join(dir, "journal.db")})
	require.NoError(t, err)
	made, err := generate.Fill(t.Context(), j, generate.Options{Events: 1500, Until: time.Date(2026, 11, 30, 17, 0, 0, 0, time.UTC)})
	require.NoError(t, err)
	require.NoError(t, j.Close())
	log := journalIn(t, dir)
	want := rowsOf(t, log, filepath.Join(t.TempDir(), "views.db"), made.Events)

	path := filepath.Join(dir, "views.db")
	for i := range kills {
		killed(t, dir, time.Duration(i*i)*time.Millisecond)
		if i%5 == 0 { // between two kills they are looked at
			require.Equal(t, want, rowsOf(t, log, path, made.Events))
		}
	}
	require.Equal(t, want, rowsOf(t, log, path, made.Events))
	require.NoFileExists(t, path+".new")
}

// rowsOf follows a log in a file, and returns what is in it.
func rowsOf(t *testing.T, log projections.Source, path string, records int) string {
	t.Helper()
	v := open(t, path, log)
	follow(t, v, records)
	require.NoError(t, v.Close())
	return dump(t, path)
}

// killed rebuilds views in a process that is killed after a while.
func killed(t *testing.T, dir string, after time.Duration) {
	t.Helper()
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=TestHelperRebuilds$")
	child.Env = append(os.Environ(), rebuildingIn+"="+dir)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	ready := make([]byte, 5)
	_, err = out.Read(ready)
	require.NoError(t, err)
	require.Equal(t, "ready", string(ready))
	<-time.After(after)
	require.NoError(t, child.Process.Kill())
	_ = child.Wait() // it was killed
}
