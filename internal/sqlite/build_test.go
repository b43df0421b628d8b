package sqlite_test

import (
	"go/build"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

// Case 086: without full-text search, or without cgo, the build fails with a
// name that says what to do, and not the first search.
func TestBuildNamesWhatIsMissing(t *testing.T) {
	for file, test := range map[string]struct {
		right, wrong build.Context
		says         string
	}{
		"build_fts5.go": {build.Context{BuildTags: []string{"sqlite_fts5"}}, build.Context{}, "build_with_tags_sqlite_fts5"},
		"build_cgo.go":  {build.Context{CgoEnabled: true}, build.Context{}, "build_with_CGO_ENABLED_1"},
	} {
		t.Run(file, func(t *testing.T) {
			for context, want := range map[*build.Context]bool{&test.right: false, &test.wrong: true} {
				context.Compiler = "gc"
				compiled, err := context.MatchFile(".", file)
				require.NoError(t, err)
				require.Equal(t, want, compiled)
			}
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			require.Contains(t, string(text), "var _ = "+test.says)
		})
	}
}

func TestBuildWithoutCgo(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "go", "build", ".") // no C is compiled: this is fast
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Contains(t, string(out), "build_with_CGO_ENABLED_1")
	require.Contains(t, string(out), "build_with_tags_sqlite_fts5")
}
