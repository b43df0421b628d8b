package projections_test

import (
	"context"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

const kept = 64 << 20 // what is kept for deciding

// disk is a disk of which a test says what is free.
type disk struct{ free atomic.Uint64 }

func (d *disk) room() (free, total uint64, ok bool) { return d.free.Load(), 1 << 40, true }

// onDisk opens views for which every log is long.
func onDisk(t *testing.T, path string, source projections.Source, d *disk) *projections.Views {
	t.Helper()
	v, err := projections.Open(t.Context(), projections.Options{Path: path, Source: source, RebuildBeyond: 1, Room: d.room})
	require.NoError(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// A rebuild leaves the room that is kept for deciding: it does not begin where
// there is less than it needs besides, ends where that is reached, and leaves
// nothing of what it made.
func TestARebuildLeavesTheRoomForDeciding(t *testing.T) {
	for name, c := range map[string]struct {
		free, meanwhile uint64 // at the begin, and once it has begun
		fails           bool
	}{
		"enough":                        {free: 1 << 40, meanwhile: 1 << 40},
		"just enough until it has come": {free: kept + 1<<20, meanwhile: kept},
		"what is kept, and no more":     {free: kept, fails: true},
		"less":                          {free: kept / 2, fails: true},
		"something else takes it":       {free: kept + 1<<20, meanwhile: kept - 1, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := &pt.Held{Log: everything(t)}
			path, want := made(t, l.Log)
			d := &disk{}
			d.free.Store(c.free)
			v := onDisk(t, path, l, d)
			come, release := l.Hold()
			defer release()
			done := make(chan error, 1)
			go func() { done <- v.Rebuild(t.Context()) }()
			var err error
			select {
			case <-come:
				if d.free.Store(c.meanwhile); !c.fails {
					release()
				}
				select {
				case err = <-done:
				case <-time.After(30 * time.Second):
					t.Fatal("the rebuild goes on")
				}
			case err = <-done:
			}
			if !c.fails {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, projections.ErrRoom)
				require.ErrorContains(t, err, "64 MiB are kept for deciding")
			}
			require.NoFileExists(t, path+".new")
			require.NoError(t, v.Close())
			require.Equal(t, want, dump(t, path), "the old ones, or new ones that are equal")
		})
	}
}

// On a small disk a damaged file goes first, so that the new one has its room;
// where that is not enough, the views say why they stand still.
func TestADamagedFileMakesRoomForTheNewOne(t *testing.T) {
	l := everything(t)
	path, want := made(t, l)
	require.NoError(t, os.WriteFile(path, make([]byte, 9999), 0o600))
	d := &disk{}
	d.free.Store(kept)
	v := onDisk(t, path, l, d)
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	until(t, v, func(s projections.Status) bool { return s.Fault != "" })
	require.Contains(t, v.Status().Fault, "there is not room enough to make the views anew: 64 MiB are free")
	require.NoFileExists(t, path)
	require.NoFileExists(t, path+".new")
	d.free.Store(1 << 40)
	until(t, v, func(s projections.Status) bool { return s.CaughtUp })
	require.Empty(t, v.Status().Fault)
	cancel()
	require.NoError(t, <-done)
	require.NoError(t, v.Close())
	require.Equal(t, want, dump(t, path))
}

// Views that are far behind and cannot be made anew follow in place, and not into
// the room that is kept either.
func TestViewsThatCatchUpLeaveTheRoomForDeciding(t *testing.T) {
	l := busyLog(t, 400)
	require.Greater(t, l.Len(), 4000)
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l.Cut(6))
	follow(t, v, 6)
	require.NoError(t, v.Close())
	d := &disk{}
	d.free.Store(kept - 1)
	v = onDisk(t, path, l, d)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	require.NoError(t, v.Run(ctx))
	require.Equal(t, uint64(6), v.Status().Records)
	require.Contains(t, v.Status().Fault, "there is not room enough")
	d.free.Store(kept) // for what there is, not for all of it twice
	follow(t, v, l.Len())
	require.False(t, sqlite.IsCorrupt(v.Close()))
}
