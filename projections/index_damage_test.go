package projections_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/projections"
)

// A search that comes by damage in the index has the views made anew.
func TestASearchReportsADamagedIndex(t *testing.T) {
	l := busyLog(t, 40)
	for name, spoil := range map[string]func(t *testing.T, path string){
		"a page": func(t *testing.T, path string) { flip(t, path, "grams") },
		"a set":  func(t *testing.T, path string) { run(t, path, "UPDATE grams SET page = x'80'") },
		"fewer":  func(t *testing.T, path string) { run(t, path, "UPDATE segments SET texts = texts + 1") },
		"counts": func(t *testing.T, path string) { run(t, path, "UPDATE segments SET texts = 0") },
		"gone":   func(t *testing.T, path string) { run(t, path, "DELETE FROM grams") },
	} {
		t.Run(name, func(t *testing.T) {
			path, want := made(t, l)
			spoil(t, path)
			v := open(t, path, l)
			search := func() error {
				page, err := v.History(t.Context(), all(projections.Filter{Query: "content"}), "", 5)
				if err == nil {
					require.Len(t, page.Items, 5)
				}
				return err
			}
			require.ErrorIs(t, search(), projections.ErrDamaged)
			waitFor(t, v, func() bool { return v.Status().Lost == 1 && v.Status().CaughtUp })
			require.NoError(t, search())
			require.NoError(t, v.Close())
			require.Equal(t, want, dump(t, path))
		})
	}
}
