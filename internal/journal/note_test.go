package journal

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Whatever head was noted, the journal can say later what it was then.
func TestHeadAtIsTheHeadThatWas(t *testing.T) {
	j, stop := running(t, Options{})
	heads := []Head{j.Head()}
	for i := range 300 {
		e := entry("s")
		e.Partition = uint32(i % 3)
		appended(t, j, Begins, e)
		heads = append(heads, j.Head())
	}
	for row, was := range heads {
		then, err := j.HeadAt(t.Context(), int64(row))
		require.NoError(t, err)
		require.True(t, was.Equal(then), "row %d: %+v, not %+v", row, then, was)
		require.False(t, then.Equal(heads[(row+1)%len(heads)]))
	}
	_, err := j.HeadAt(t.Context(), 301)
	require.ErrorIs(t, err, ErrNotFound)
	stop()
}

func TestANoteIsReadAsItWasWritten(t *testing.T) {
	j, _ := running(t, Options{})
	appended(t, j, Begins, entries(5, "s")...)
	id, err := j.LogID(t.Context())
	require.NoError(t, err)
	last, err := j.Leaf(t.Context(), 5)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "head.json")
	_, found, err := ReadNote(path)
	require.NoError(t, err)
	require.False(t, found)
	for _, boot := range []string{"b1", "b2"} { // over the one before
		n := NoteOf(j.Head(), id, last, boot, time.Unix(1e9, 0))
		require.NoError(t, WriteNote(path, n))
		read, found, err := ReadNote(path)
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, n, read)
		head, err := read.Head()
		require.NoError(t, err)
		require.True(t, j.Head().Equal(head))
	}
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
}

// What cannot be written leaves the note that there is.
func TestANoteThatCannotBeWritten(t *testing.T) {
	dir := t.TempDir()
	n := Note{Rows: 1}
	require.ErrorContains(t, WriteNote(filepath.Join(dir, "gone", "head.json"), n), "note the head")
	require.NoError(t, os.Mkdir(filepath.Join(dir, "head.json"), 0o700)) // a rename over it fails
	require.ErrorContains(t, WriteNote(filepath.Join(dir, "head.json"), n), "note the head")
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, left, 1, "nothing is left of the try")
}

func TestAFrozenJournalTakesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, stop := running(t, Options{Path: path})
	appended(t, j, Begins, entry("s"))
	stop()
	j, err := Open(t.Context(), Options{Path: path})
	require.NoError(t, err)
	j.Freeze(os.ErrInvalid)
	for _, class := range []Class{Begins, Ends} {
		_, err := j.Append(t.Context(), class, entry("s"))
		require.ErrorIs(t, err, ErrReadOnly)
		require.ErrorIs(t, err, os.ErrInvalid, "the reason")
	}
	found, err := j.Read(t.Context(), 0, 10)
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.NoError(t, j.Close())
}
