package countersign_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/events"
)

// once opens a Countersign on a folder and stops it again.
func once(t *testing.T, dir string, o countersign.Options) {
	t.Helper()
	_, stop := run(t, dir, o)
	stop()
}

// noted are options with a head file in a folder of its own.
func noted(t *testing.T) countersign.Options {
	t.Helper()
	o := options(t)
	o.HeadFile = filepath.Join(t.TempDir(), "head.json")
	return o
}

func swap(t *testing.T, dir, by string) {
	t.Helper()
	require.NoError(t, os.RemoveAll(dir))
	require.NoError(t, os.CopyFS(dir, os.DirFS(by)))
}

// However a data directory is exchanged, the head file tells.
func TestWhatTheHeadFileTells(t *testing.T) {
	for name, c := range map[string]struct {
		harm func(t *testing.T, dir, early string)
		want events.RollbackKind // "" where nothing is wrong
	}{
		"nothing happened":     {func(*testing.T, string, string) {}, ""},
		"put back from a copy": {swap, events.RollbackShorter},
		"removed":              {func(t *testing.T, dir, _ string) { require.NoError(t, os.RemoveAll(dir)) }, events.RollbackShorter},
		"put back, and gone on without the head file": {func(t *testing.T, dir, early string) {
			swap(t, dir, early)
			for range 3 {
				once(t, dir, options(t))
			}
		}, events.RollbackRewritten},
		"exchanged for another log": {func(t *testing.T, dir, _ string) {
			require.NoError(t, os.RemoveAll(dir))
			once(t, dir, options(t))
		}, events.RollbackOther},
		"gone on without the head file": {func(t *testing.T, dir, _ string) { once(t, dir, options(t)) }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir, early, o := filepath.Join(t.TempDir(), "data"), t.TempDir(), noted(t)
			once(t, dir, o)
			require.NoError(t, os.CopyFS(early, os.DirFS(dir)))
			once(t, dir, o)
			c.harm(t, dir, early)

			cs, err := countersign.Open(t.Context(), dir, o)
			require.NoError(t, err)
			if c.want == "" {
				require.NoError(t, cs.ReadOnly())
				require.NoError(t, cs.Close())
				once(t, dir, o)
				return
			}
			r := cs.Rollback()
			require.ErrorIs(t, cs.ReadOnly(), countersign.ErrRolledBack)
			require.Equal(t, c.want, r.Kind)
			require.Equal(t, events.NotedByHeadFile, r.By)
			_, err = cs.Log.Append(t.Context(), events.Draft{Data: &events.Alive{BootID: cs.Boot, Heads: cs.Heads()}})
			require.ErrorIs(t, err, events.ErrReadOnly)
			require.NoError(t, cs.Close())

			found, err := countersign.Recover(t.Context(), dir, o, true)
			require.NoError(t, err)
			require.Equal(t, r.Kind, found.Rollback.Kind)
			cs, stop := run(t, dir, o)
			require.NoError(t, cs.ReadOnly())
			told := of[*events.Recovered](logged(t, cs))
			require.Len(t, told, 1)
			require.Equal(t, found.Rollback, told[0].Rollback)
			stop()
		})
	}
}

// A recovery that is cut off is found again, and ends what is left.
func TestARecoveryThatIsCutOff(t *testing.T) {
	dir, early, o := filepath.Join(t.TempDir(), "data"), t.TempDir(), noted(t)
	once(t, dir, o)
	require.NoError(t, os.CopyFS(early, os.DirFS(dir)))
	for range 5 {
		once(t, dir, o)
	}
	swap(t, dir, early)
	note, err := os.ReadFile(o.HeadFile)
	require.NoError(t, err)
	_, err = countersign.Recover(t.Context(), dir, o, true)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(o.HeadFile, note, 0o600)) // as if it had ended before the last step
	cs, err := countersign.Open(t.Context(), dir, o)
	require.NoError(t, err)
	require.ErrorIs(t, cs.ReadOnly(), countersign.ErrRolledBack, "half a recovery is none")
	require.NoError(t, cs.Close())
	_, err = countersign.Recover(t.Context(), dir, o, true)
	require.NoError(t, err)
	once(t, dir, o)
}
