package layering_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/countersign-dev/countersign/internal/layering"
)

// Each archive in testdata is a small module; the file "want" in it lists, a
// line each and in order, a part of what the checker must say about it, after
// "FILE:LINE: ". An empty "want" is a module that keeps to the map.
func TestCheck(t *testing.T) {
	archives, err := os.ReadDir("testdata")
	require.NoError(t, err)
	require.NotEmpty(t, archives)
	for _, entry := range archives {
		t.Run(strings.TrimSuffix(entry.Name(), ".txtar"), func(t *testing.T) {
			files, want := open(t, "testdata/"+entry.Name())
			problems, err := layering.Check(files, layering.Table(), layering.Keepers())
			require.NoError(t, err)
			require.Len(t, problems, len(want), "%v", problems)
			for i, p := range problems {
				require.True(t, matches(p, want[i]), "got  %s\nwant %s", p, want[i])
			}
		})
	}
}

// matches tells whether a problem is at the wanted place and says the wanted
// words.
func matches(p layering.Problem, want string) bool {
	at := fmt.Sprintf("%s:%d: ", p.File, p.Line)
	words, ok := strings.CutPrefix(want, at)
	return ok && strings.Contains(p.Text, words)
}

func open(t *testing.T, name string) (files fstest.MapFS, want []string) {
	t.Helper()
	archive, err := txtar.ParseFile(name)
	require.NoError(t, err)
	files = fstest.MapFS{}
	for _, f := range archive.Files {
		if f.Name == "want" {
			want = strings.FieldsFunc(string(f.Data), func(r rune) bool { return r == '\n' })
			continue
		}
		source := strings.ReplaceAll(string(f.Data), "MODULE", layering.Module)
		files[f.Name] = &fstest.MapFile{Data: []byte(source)}
	}
	require.NotEmpty(t, files)
	return files, want
}

// What cannot be judged is an error, never a pass.
func TestCheckFails(t *testing.T) {
	broken := fstest.MapFS{"gate/gate.go": {Data: []byte("package gate\n\nimport (\n")}}
	_, err := layering.Check(broken, layering.Table(), nil)
	require.ErrorContains(t, err, "gate/gate.go")

	noMap := []layering.Row{{Folder: "a", May: []string{"a"}}}
	_, err = layering.Check(fstest.MapFS{}, noMap, nil)
	require.ErrorIs(t, err, layering.ErrTable)
}
