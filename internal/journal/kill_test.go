package journal

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// childEnv makes the test binary a process that appends until it is killed.
const childEnv = "COUNTERSIGN_JOURNAL_CHILD"

func TestMain(m *testing.M) {
	if path := os.Getenv(childEnv); path != "" {
		fmt.Fprintln(os.Stderr, appendForEver(path, os.Stdout))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// appendForEver has 50 producers append, and prints the id of every event that
// was acknowledged.
func appendForEver(path string, out io.Writer) error {
	j, err := Open(context.Background(), Options{Path: path})
	if err != nil {
		return err
	}
	var mu sync.Mutex
	for p := range 50 {
		go func() {
			for i := 0; ; i++ {
				es := entries(1+i%3, fmt.Sprint(p))
				if _, err := j.Append(context.Background(), Ends, es...); err != nil {
					return
				}
				mu.Lock()
				for _, e := range es {
					_, _ = fmt.Fprintln(out, e.ID)
				}
				mu.Unlock()
			}
		}()
	}
	return j.Run(context.Background())
}

// Invariant 7: whenever the process is killed, everything that was acknowledged is there,
// and the tree fits the records.
func TestKilledAgainAndAgain(t *testing.T) {
	kills := 15
	if testing.Short() {
		kills = 3
	}
	path := filepath.Join(t.TempDir(), "journal.db")
	acknowledged := 0
	for kill := range kills {
		ids := runAndKill(t, path, time.Duration(20+rand.IntN(150))*time.Millisecond)
		acknowledged += len(ids)
		j, err := Open(t.Context(), Options{Path: path})
		require.NoError(t, err, "kill %d", kill)
		for _, id := range ids {
			_, err := j.Find(t.Context(), 0, id)
			require.NoError(t, err, "kill %d: an acknowledged event is lost", kill)
		}
		verified(t, j)
		require.GreaterOrEqual(t, j.Head().Row, int64(acknowledged))
		require.NoError(t, j.Close())
	}
	t.Logf("%d kills, %d acknowledged events, none lost", kills, acknowledged)
}

// runAndKill runs a child for some time after its first acknowledgement and
// returns what it acknowledged.
func runAndKill(t *testing.T, path string, alive time.Duration) (ids []string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+path)
	child.Stderr = os.Stderr
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	in := bufio.NewReader(out)
	for {
		line, err := in.ReadString('\n')
		if err != nil {
			break // the last line may be cut: it was not read as an acknowledgement
		}
		if len(ids) == 0 {
			time.AfterFunc(alive, func() { _ = child.Process.Kill() })
		}
		ids = append(ids, strings.TrimSpace(line))
	}
	require.Error(t, child.Wait(), "the child is killed")
	require.NotEmpty(t, ids)
	return ids
}

// The lock of another process holds, is named, and ends with it.
func TestLockOfAnotherProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childEnv+"="+path)
	out, err := child.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, child.Start())
	_, err = bufio.NewReader(out).ReadString('\n')
	require.NoError(t, err)

	_, err = Open(t.Context(), Options{Path: path})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, fmt.Sprintf("pid %d", child.Process.Pid))
	reader, err := Open(t.Context(), Options{Path: path, ReadOnly: true})
	require.NoError(t, err, "reading needs no lock")
	require.NoError(t, reader.Close())

	require.NoError(t, child.Process.Kill())
	require.Error(t, child.Wait())
	j, err := Open(t.Context(), Options{Path: path})
	require.NoError(t, err)
	require.NoError(t, j.Close())
}
