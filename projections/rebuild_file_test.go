package projections_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// openLong opens views for which every log is long: they are built beside the
// old ones.
func openLong(t *testing.T, path string, source projections.Source) *projections.Views {
	t.Helper()
	v, err := projections.Open(t.Context(), projections.Options{Path: path, Source: source, RebuildBeyond: 1})
	require.NoError(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// made follows a log in a file and closes it, and returns what is in it.
func made(t *testing.T, l *pt.Log) (path, rows string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	follow(t, v, l.Len())
	require.NoError(t, v.Close())
	return path, dump(t, path)
}

// Invariant 8: whatever becomes of the file of a long log, it is built anew,
// and ends as the log has it.
func TestViewsOfALongLogAreBuiltBesideTheOldOnes(t *testing.T) {
	l := everything(t)
	for name, spoil := range map[string]func(t *testing.T, path string){
		"missing":          func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"empty":            func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) },
		"not a database":   func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, make([]byte, 9999), 0o600)) },
		"cut":              func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 5000)) },
		"of another build": func(t *testing.T, path string) { run(t, path, "UPDATE progress SET stamp = 'other'") },
		"of another log":   func(t *testing.T, path string) { run(t, path, "UPDATE progress SET leaf = zeroblob(32)") },
		"of a newer build": func(t *testing.T, path string) { run(t, path, "PRAGMA user_version = 99") },
		"with a left-over": func(t *testing.T, path string) {
			require.NoError(t, os.Remove(path))
			require.NoError(t, os.WriteFile(path+".new", []byte("half of it"), 0o600))
		},
	} {
		t.Run(name, func(t *testing.T) {
			path, want := made(t, l)
			spoil(t, path)
			v := openLong(t, path, l)
			page, err := v.History(t.Context(), all(projections.Filter{}), "", 10)
			require.NoError(t, err, "there are answers meanwhile")
			if name != "empty" {
				require.Empty(t, page.Items)
			}
			follow(t, v, l.Len())
			require.NoError(t, v.Close())
			require.Equal(t, want, dump(t, path))
			require.NoFileExists(t, path+".new")
		})
	}
}

// Views that are far behind serve what they have, and are built anew.
func TestViewsThatAreFarBehindServeMeanwhile(t *testing.T) {
	l := everything(t)
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l.Cut(6))
	follow(t, v, 6)
	require.NoError(t, v.Close())

	v = openLong(t, path, l)
	require.Equal(t, uint64(6), v.Status().Records)
	require.Equal(t, uint64(l.Len()), v.Status().Head)
	page, err := v.History(t.Context(), all(projections.Filter{}), "", 10)
	require.NoError(t, err)
	require.Len(t, page.Items, 1)
	follow(t, v, l.Len())
	require.NoError(t, v.Close())
	_, want := made(t, l)
	require.Equal(t, want, dump(t, path))
}

// No query fails by an exchange, however many there are.
func TestQueriesGoOnWhileViewsAreRebuilt(t *testing.T) {
	l := everything(t)
	path, want := made(t, l)
	v := open(t, path, l)
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	failed := make(chan error, 8)
	for range 4 {
		group.Go(func() {
			for ctx.Err() == nil {
				page, err := v.History(t.Context(), all(projections.Filter{Query: "path"}), "", 50)
				if err == nil && len(page.Items) != 2 {
					err = fmt.Errorf("found %d calls", len(page.Items))
				}
				if err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for range 5 {
		require.NoError(t, v.Rebuild(t.Context()))
	}
	cancel()
	group.Wait()
	close(failed)
	require.NoError(t, <-failed)
	require.Equal(t, uint64(l.Len()), v.Status().Records)
	require.Nil(t, v.Status().Rebuilding)
	require.NoError(t, v.Close())
	require.Equal(t, want, dump(t, path))
}

// What comes while they are rebuilt is in them.
func TestViewsFollowWhileTheyAreRebuilt(t *testing.T) {
	l := everything(t)
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	done := make(chan error, 1)
	go func() {
		for i := range 20 {
			l.Run(fmt.Sprint("late-", i), "carla", "go on")
			if err := v.Rebuild(t.Context()); err != nil && !errors.Is(err, projections.ErrRebuilding) {
				done <- err
				return
			}
		}
		done <- nil
	}()
	follow(t, v, l.Len())
	require.NoError(t, <-done)
	follow(t, v, l.Len())
	require.NoError(t, v.Close())
	_, want := made(t, l)
	require.Equal(t, want, dump(t, path))
}

func TestOneRebuildAtATime(t *testing.T) {
	l := everything(t)
	slow := &slowSource{Log: l, begun: make(chan struct{}), go_: make(chan struct{})}
	v := open(t, filepath.Join(t.TempDir(), "views.db"), slow)
	done := make(chan error, 1)
	go func() { done <- v.Rebuild(t.Context()) }()
	<-slow.begun
	require.ErrorIs(t, v.Rebuild(t.Context()), projections.ErrRebuilding)
	r := v.Status().Rebuilding
	require.NotNil(t, r)
	require.Equal(t, uint64(l.Len()), r.Total)
	close(slow.go_)
	require.NoError(t, <-done)
}

// slowSource waits in its first Payloads.
type slowSource struct {
	*pt.Log

	once       sync.Once
	begun, go_ chan struct{}
}

func (s *slowSource) Payloads(ctx context.Context, first, last int64, f func(int64, int, string, []byte) bool) error {
	s.once.Do(func() { close(s.begun) })
	<-s.go_
	return s.Log.Payloads(ctx, first, last, f)
}

// A rebuild that is cut off leaves the old views and nothing else.
func TestARebuildThatIsCutOffChangesNothing(t *testing.T) {
	l := everything(t)
	path, want := made(t, l)
	v := open(t, path, l)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, v.Rebuild(ctx), context.Canceled)
	l.Fail(errors.New("the disk is away"))
	require.ErrorContains(t, v.Rebuild(t.Context()), "the disk is away")
	l.Fail(nil)
	require.NoFileExists(t, path+".new")
	page, err := v.History(t.Context(), all(projections.Filter{}), "", 10)
	require.NoError(t, err)
	require.NotEmpty(t, page.Items)
	require.NoError(t, v.Close())
	require.Equal(t, want, dump(t, path))
}

// A record that the tables refuse does not stop a rebuild: see
// TestARecordThatCannotBeStoredIsSetAsideAlone for following.
func TestARebuildSetsAsideWhatItCannotRead(t *testing.T) {
	l := everything(t)
	for range 3 {
		l.AppendRaw("s1", []byte("\xff no JSON"))
		l.Propose("s1", "", "b9", l.Len(), "Read", `{}`, events.EffectAllow)
	}
	path, want := made(t, l)
	v := openLong(t, path, l)
	before := v.Status().Aside
	require.NoError(t, v.Rebuild(t.Context()))
	require.Equal(t, before, v.Status().Aside)
	require.NoError(t, v.Close())
	require.Equal(t, want, dump(t, path))
}

// A file that cannot be opened for now: there are answers, if empty ones, and
// it is opened when that is possible.
func TestAFileThatCannotBeOpenedIsTriedAgain(t *testing.T) {
	l := everything(t)
	path := filepath.Join(t.TempDir(), "views.db")
	require.NoError(t, os.Mkdir(path, 0o700))
	v := open(t, path, l)
	page, err := v.History(t.Context(), all(projections.Filter{}), "", 10)
	require.NoError(t, err)
	require.Empty(t, page.Items)
	require.NotEmpty(t, v.Status().Fault)
	require.NoError(t, os.Remove(path))
	follow(t, v, l.Len())
	require.Empty(t, v.Status().Fault)
	require.NoError(t, v.Close())
	_, want := made(t, l)
	require.Equal(t, want, dump(t, path))
}

// Another process has the file locked: it is read, and followed once that ends.
func TestALockedFileIsReadAndFollowedLater(t *testing.T) {
	l := everything(t)
	path, _ := made(t, l)
	v := open(t, path, l)
	other, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	defer other.Close()
	tx, err := other.Write.BeginTx(t.Context(), nil) // immediate: nobody else writes
	require.NoError(t, err)
	l.Run("late", "carla", "go on")
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for status, changed := v.Changed(); status.Fault == ""; status, changed = v.Changed() {
		select {
		case <-changed:
		case <-time.After(20 * time.Second):
			t.Fatal("that the file is locked was not said")
		}
	}
	page, err := v.History(t.Context(), all(projections.Filter{}), "", 10)
	require.NoError(t, err)
	require.NotEmpty(t, page.Items)
	require.NoError(t, tx.Rollback())
	cancel()
	require.NoError(t, <-done)
	follow(t, v, l.Len())
	require.Empty(t, v.Status().Fault)
}

// waitFor runs views until something holds.
func waitFor(t *testing.T, v *projections.Views, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for !holds() {
		require.NoError(t, ctx.Err())
	}
	cancel()
	require.NoError(t, <-done)
}
