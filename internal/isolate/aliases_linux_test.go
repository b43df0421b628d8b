//go:build amd64 || arm64

package isolate

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAliases(t *testing.T) {
	table := []mounted{
		{"8:1", "/", "/"},
		{"0:5", "/", "/proc"},
		{"8:1", "/", "/mnt/all"},
		{"8:1", "/srv/data", "/twice"},
		{"8:1", "/srv/data/keys", "/part"},
		{"8:1", "/srv/other", "/other"},
		{"8:2", "/", "/home"},
		{"8:2", "/vol", "/srv/vol"},
		{"8:3", "/", "/srv/vol"}, // over the last
	}
	for path, want := range map[string][]string{
		"/srv/data":        {"/srv/data", "/mnt/all/srv/data", "/twice", "/part"},
		"/srv/data/x":      {"/srv/data/x", "/mnt/all/srv/data/x", "/twice/x"},
		"/srv/database":    {"/srv/database", "/mnt/all/srv/database"},
		"/home/me":         {"/home/me"},
		"/home/vol/me":     {"/home/vol/me", "/srv/vol/me"},
		"/srv/vol/me":      {"/srv/vol/me"},
		"/twice/keys/of/x": {"/twice/keys/of/x", "/srv/data/keys/of/x", "/mnt/all/srv/data/keys/of/x", "/part/of/x"},
	} {
		require.Subset(t, aliasesOf(path, table), want, path)
		require.Subset(t, want, aliasesOf(path, table), path)
	}
}

func TestUnescape(t *testing.T) {
	require.Equal(t, "a b\tc\nd\\e", unescape(`a\040b\011c\012d\134e`))
	require.Equal(t, `a\040b`, unescape(`a\134040b`))
}

func TestOutermost(t *testing.T) {
	require.Equal(t, []string{"/a", "/ab", "/b/c"}, outermost([]string{"/b/c", "/ab", "/a/x/y", "/a", "/a", "/b/c/d"}))
}
