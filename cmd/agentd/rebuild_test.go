package main_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// Invariant 8, by command: views.db is made anew without agentd, whatever became
// of it, and beside a running one, which serves meanwhile.
func TestRebuildMakesTheViewsAnew(t *testing.T) {
	dir := t.TempDir()
	none := agentd(t, dir, nil, "rebuild", "--data-dir", "data")
	require.Equal(t, 1, none.code)
	require.Contains(t, none.stderr, "there is no log to rebuild from")
	require.NoDirExists(t, filepath.Join(dir, "data"))

	require.Zero(t, agentd(t, dir, nil, "generate", "--data-dir", "data", "--events", "2000").code)
	views := filepath.Join(dir, "data", "views.db")
	for name, spoil := range map[string]func(){
		"missing": func() { _ = os.Remove(views) },
		"damaged": func() { require.NoError(t, os.WriteFile(views, []byte("rubbish, and no database at all"), 0o600)) },
		"whole":   func() {},
	} {
		spoil()
		done := agentd(t, dir, nil, "rebuild", "--data-dir", "data")
		require.Zero(t, done.code, "%s: %s", name, done.stderr)
		require.Regexp(t, `all \d+ records are read; making the indexes|100 %|rebuilt`, done.out)
		require.Regexp(t, `rebuilt: 2\d\d\d records in [\d.]+ s, \d+ events/s`, done.out)
		require.FileExists(t, views)
		require.NoFileExists(t, views+".new")
	}

	p := launch(t, dir, "--data-dir", "data", "--addr", "127.0.0.1:0")
	before, err := os.Stat(views)
	require.NoError(t, err)
	done := agentd(t, dir, nil, "rebuild", "--data-dir", "data")
	require.Zero(t, done.code, done.stderr)
	require.Regexp(t, `rebuilt: 2\d\d\d records in [\d.]+ s, \d+ events/s`, done.out)
	after, err := os.Stat(views)
	require.NoError(t, err)
	require.False(t, os.SameFile(before, after), "it is another file")
	code, _ := p.stop()
	require.Zero(t, code, "%s", p.errs)
}

func TestRebuildIsOfADataDirectory(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "agentd.yaml"), []byte("bus: memory\n"), 0o600))
	wrong := agentd(t, dir, nil, "rebuild", "--config", "agentd.yaml")
	require.Equal(t, 2, wrong.code)
	require.Contains(t, wrong.stderr, "agentd rebuild works on a data directory")
}
