package journal

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// Whether new work is taken is known without trying.
func TestTakes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	var free atomic.Uint64
	free.Store(1 << 30)
	j, stop := running(t, Options{Path: path, FreeBytes: 1 << 20, free: func(string) (uint64, error) { return free.Load(), nil }})
	takes := func(want error) {
		t.Helper()
		require.Eventually(t, func() bool { return errors.Is(j.Takes(), want) }, 20*time.Second, 20*time.Millisecond, "%v", want)
	}
	require.NoError(t, j.Takes())

	free.Store(1)
	takes(ErrDiskFull)
	free.Store(1 << 30)
	takes(nil)

	other, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	defer other.Close()
	tx, err := other.Write.BeginTx(t.Context(), nil) // immediate: nobody else writes
	require.NoError(t, err)
	ended := make(chan error, 1)
	go func() {
		_, err := j.Append(context.Background(), Ends, entry("one"))
		ended <- err
	}()
	takes(ErrOverloaded)
	require.NoError(t, tx.Rollback())
	require.NoError(t, <-ended)
	require.NoError(t, j.Takes())

	stop()
	require.ErrorIs(t, j.Takes(), ErrStopped)
	ro, err := Open(t.Context(), Options{Path: path, ReadOnly: true})
	require.NoError(t, err)
	defer ro.Close()
	require.ErrorIs(t, ro.Takes(), ErrReadOnly)
}
