package cases_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/cases"
)

// run judges all cases of a folder.
func run(t *testing.T, dir string) []cases.Result {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	results, err := cases.Run(t.Context(), dir, cases.Options{Self: []string{self, cases.NodeArgument}})
	require.NoError(t, err)
	var all []cases.Result
	for r := range results {
		all = append(all, r)
	}
	return all
}

// runOne copies a case, changes it, and judges it.
func runOne(t *testing.T, number string, change func(dir string)) cases.Result {
	t.Helper()
	found, err := filepath.Glob("testdata/cases/" + number + "-*")
	require.NoError(t, err)
	require.Len(t, found, 1)
	dir := t.TempDir()
	one := filepath.Join(dir, filepath.Base(found[0]))
	require.NoError(t, os.CopyFS(one, os.DirFS(found[0])))
	change(one)
	results := run(t, dir)
	require.Len(t, results, 1)
	return results[0]
}

// set changes one value of a JSON file; "files/stream.sse/error" is where it
// stands, a number is a place in a list.
func set(t *testing.T, file, path string, value any) {
	t.Helper()
	b, err := os.ReadFile(file)
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(b, &doc))
	doc = replaced(t, doc, strings.Split(path, "|"), value)
	b, err = json.Marshal(doc)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, b, 0o600))
}

func replaced(t *testing.T, doc any, path []string, value any) any {
	t.Helper()
	if len(path) == 0 {
		return value
	}
	switch doc := doc.(type) {
	case map[string]any:
		doc[path[0]] = replaced(t, doc[path[0]], path[1:], value)
	case []any:
		i, err := strconv.Atoi(path[0])
		require.NoError(t, err)
		doc[i] = replaced(t, doc[i], path[1:], value)
	default:
		require.Fail(t, "nothing stands there", "%v in %T", path, doc)
	}
	return doc
}
