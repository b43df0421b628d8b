package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

func TestOpenMakesAPrivateDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "deep", "data")
	j, _ := running(t, Options{Path: filepath.Join(dir, "journal.db")})
	appended(t, j, Begins, entry("one"))
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		info, err := f.Info()
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), f.Name())
	}
}

func TestTheJournalSurvivesARestart(t *testing.T) {
	j, stop := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db")})
	want := appended(t, j, Begins, entries(20, "one")...)
	head := j.Head()
	stop()
	j, _ = running(t, Options{Path: j.o.Path})
	require.Equal(t, head, j.Head())
	want = append(want, appended(t, j, Begins, entry("one"))...)
	got, err := j.Read(t.Context(), 0, 100)
	require.NoError(t, err)
	requireStored(t, want, got)
	require.EqualValues(t, 20, got[20].Record.Offset)
	verified(t, j)
}

// What cannot be opened safely is refused, and not a byte of it is changed.
func TestOpenRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		damage func(t *testing.T, path string)
		want   error
		says   string
	}{
		"a newer version": {statements(`PRAGMA user_version = 99`), sqlite.ErrNewer, "version 99"},
		"another program's database": {
			statements(`PRAGMA application_id = 7`), sqlite.ErrForeign, "0x7",
		},
		"a text file": {func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, bytes.Repeat([]byte("hello\n"), 1000), 0o600))
		}, ErrDamaged, "not a database"},
		"a flipped byte in a late record": {flip(9950), ErrDamaged, "row 9950"},
		"a flipped byte in an envelope":   {flip(9000), ErrDamaged, "row 9000"},
		"a cut tail": {statements(`DROP TRIGGER records_no_delete; DELETE FROM records WHERE row > 9990; ` +
			`CREATE TRIGGER records_no_delete BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only: no DELETE'); END`), ErrDamaged, "row 9990"},
		"a cut file": {func(t *testing.T, path string) {
			info, err := os.Stat(path)
			require.NoError(t, err)
			require.NoError(t, os.Truncate(path, info.Size()/2))
		}, ErrDamaged, ""},
		"a trigger less": {statements(`DROP TRIGGER records_no_delete`), ErrDamaged, "records_no_delete"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "journal.db")
			j, stop := running(t, Options{Path: path})
			for range 10 {
				appended(t, j, Begins, entries(1000, "one")...)
			}
			stop()
			test.damage(t, path)
			before := digest(t, path)
			for _, readOnly := range []bool{false, true} {
				_, err := Open(t.Context(), Options{Path: path, ReadOnly: readOnly})
				require.ErrorIs(t, err, test.want)
				require.ErrorContains(t, err, test.says)
				require.Equal(t, before, digest(t, path), "the file was changed")
			}
		})
	}
}

func statements(text string) func(*testing.T, string) {
	return func(t *testing.T, path string) { tamper(t, path, text) }
}

// flip changes one bit in the file, in the envelope of a row.
func flip(row int) func(*testing.T, string) {
	return func(t *testing.T, path string) {
		db, err := sqlite.Open(t.Context(), path, sqlite.Options{ReadOnly: true})
		require.NoError(t, err)
		found, err := query(t.Context(), db.Read, readAll, row-1, 1)
		require.NoError(t, err)
		require.NoError(t, db.Close())
		id, _, err := namesOf(found[0].Record.Envelope)
		require.NoError(t, err)
		file, err := os.ReadFile(path)
		require.NoError(t, err)
		at := bytes.Index(file, []byte(id))
		require.Positive(t, at)
		file[at] ^= 1
		require.NoError(t, os.WriteFile(path, file, 0o600))
	}
}

func digest(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Open reads the end alone; what lies before it is VerifyAll's.
func TestOpenVerifiesTheEndVerifyAllTheRest(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	j, stop := running(t, Options{Path: path})
	for range 20 {
		appended(t, j, Begins, entries(1000, "one")...)
	}
	stop()
	flip(77)(t, path)
	j, stop = running(t, Options{Path: path})
	err := j.VerifyAll(t.Context(), func(int64) {})
	require.ErrorIs(t, err, ErrDamaged)
	require.ErrorContains(t, err, "row 77")
	stop()

	flip(9900)(t, path)
	_, err = Open(t.Context(), Options{Path: path, VerifyRows: 10_100})
	require.ErrorContains(t, err, "row 9900")
}

func TestVerifyAllReports(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	for range 10 {
		appended(t, j, Begins, entries(999, "one")...)
	}
	var rows []int64
	require.NoError(t, j.VerifyAll(t.Context(), func(row int64) { rows = append(rows, row) }))
	require.Equal(t, []int64{4096, 8192, 9990}, rows)
}

// A journal that was never finished being made is made anew.
func TestOpenAnEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	require.NoError(t, os.WriteFile(path, nil, 0o600))
	j, _ := running(t, Options{Path: path})
	appended(t, j, Begins, entry("one"))
}

func TestOpenReadOnlyNeedsAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "journal.db")
	_, err := Open(t.Context(), Options{Path: path, ReadOnly: true})
	require.Error(t, err)
	require.NoFileExists(t, path)
}

func TestTwoOpeners(t *testing.T) {
	j, stop := running(t, Options{Path: filepath.Join(t.TempDir(), "journal.db")})
	_, err := Open(t.Context(), Options{Path: j.o.Path})
	require.ErrorIs(t, err, ErrLocked)
	require.ErrorContains(t, err, "pid "+pid())
	appended(t, j, Begins, entry("one"))
	stop()
	_, stop = running(t, Options{Path: j.o.Path})
	stop()
}
