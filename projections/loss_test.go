package projections_test

import (
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// served runs views over a log until the test ends, and waits until they hold it.
func served(t *testing.T, path string, source *pt.Held) *projections.Views {
	t.Helper()
	v, err := projections.Open(t.Context(), projections.Options{Path: path, Source: source})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		require.NoError(t, <-done)
		require.NoError(t, v.Close())
	})
	until(t, v, func(s projections.Status) bool { return s.CaughtUp })
	return v
}

// until waits until the views stand as they should.
func until(t *testing.T, v *projections.Views, so func(projections.Status) bool) {
	t.Helper()
	late := time.After(30 * time.Second)
	for {
		status, changed := v.Changed()
		if so(status) {
			return
		}
		select {
		case <-changed:
		case <-late:
			t.Fatalf("the views stand at %+v", v.Status())
		}
	}
}

// Whatever becomes of the file under views that run: while they are made anew
// they know nothing and say so, and after it they are as the log has it.
func TestViewsSayThatTheyKnowNothingWhileTheyAreMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"noise": func(t *testing.T, path string) {
			noise := make([]byte, 400<<10)
			_, _ = rand.Read(noise)
			f, err := os.OpenFile(path, os.O_WRONLY, 0)
			require.NoError(t, err)
			_, err = f.WriteAt(noise, 0)
			require.NoError(t, err)
			require.NoError(t, f.Close())
		},
		"nonsense in rows": func(t *testing.T, path string) { run(t, path, `UPDATE calls SET doc = '{"`+"\x01"+`nonsense'`) },
		"a table gone":     func(t *testing.T, path string) { run(t, path, "ALTER TABLE calls RENAME TO no_calls") },
		"deleted":          func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"replaced": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path+".other", []byte("something else"), 0o600))
			require.NoError(t, os.Rename(path+".other", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &pt.Held{Log: busyLog(t, 40)}
			path, want := made(t, l.Log)
			v := served(t, path, l)
			history := func() (int, error) {
				page, err := v.History(t.Context(), all(projections.Filter{}), "", 50)
				return len(page.Items), err
			}
			come, release := l.Hold()
			defer release()
			spoil(t, path)
			if n, err := history(); err != nil { // queries on open pages may go on until the file is looked for
				require.ErrorIs(t, err, projections.ErrDamaged)
				require.Zero(t, n)
			}
			select {
			case <-come:
			case <-time.After(30 * time.Second):
				t.Fatal("nobody makes them anew")
			}
			s := v.Status()
			require.Equal(t, []any{1, uint64(0), false, true}, []any{s.Lost, s.Records, s.CaughtUp, s.Behind(l.Now())})
			require.NotNil(t, s.Rebuilding)
			require.Positive(t, s.Lag(l.Now().Add(time.Minute)))
			require.NoFileExists(t, path, "what is of no use takes no room")
			n, err := history()
			require.NoError(t, err)
			require.Zero(t, n)
			release()
			until(t, v, func(s projections.Status) bool {
				return s.Records == uint64(l.Len()) && s.CaughtUp && s.Rebuilding == nil
			})
			n, err = history()
			require.NoError(t, err)
			require.Equal(t, 50, n)
			require.Equal(t, 1, v.Status().Lost)
			require.Equal(t, want, dump(t, path))
		})
	}
}

// A row that a rebuild does not mend fails its page, and nothing else: there is
// one rebuild, not one after the other.
func TestARowThatStaysUnreadableBeginsOneRebuild(t *testing.T) {
	l := &pt.Held{Log: busyLog(t, 3)}
	path, _ := made(t, l.Log)
	v := served(t, path, l)
	for i, want := range []struct{ mended bool }{{true}, {false}, {false}} {
		run(t, path, `UPDATE calls SET doc = 'nonsense'`)
		_, err := v.History(t.Context(), all(projections.Filter{}), "", 50)
		require.ErrorContains(t, err, "a stored row cannot be read")
		require.Equal(t, want.mended, errors.Is(err, projections.ErrDamaged), "the %d. time: %v", i+1, err)
		until(t, v, func(s projections.Status) bool { return s.CaughtUp && s.Lost == 1 && s.Rebuilding == nil })
		_, err = v.Sessions(t.Context(), projections.Everything(), "", 50)
		require.NoError(t, err, "other pages are there")
	}
}

// Views that stand still say how old they are, also where they had caught up
// before.
func TestViewsThatStandStillAreBehind(t *testing.T) {
	l := &pt.Held{Log: everything(t)}
	v := served(t, filepath.Join(t.TempDir(), "views.db"), l)
	require.False(t, v.Status().Behind(l.Now().Add(time.Hour)))
	l.Fail(os.ErrDeadlineExceeded)
	l.Run("late", "carla", "go on")
	until(t, v, func(s projections.Status) bool { return s.Fault != "" })
	s := v.Status()
	require.False(t, s.CaughtUp)
	require.True(t, s.Behind(l.Now().Add(time.Hour)))
	require.Positive(t, s.Lag(l.Now().Add(time.Hour)))
	l.Fail(nil)
	until(t, v, func(s projections.Status) bool { return s.CaughtUp && s.Fault == "" })
}
