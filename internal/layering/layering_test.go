package layering_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/layering"
)

// The module keeps to its map.
func TestModule(t *testing.T) {
	root := os.DirFS("../..")
	problems, err := layering.Check(root, layering.Table(), layering.Keepers())
	require.NoError(t, err)
	for _, p := range problems {
		t.Error(p)
	}
}

// The walk really reads the module: with an empty map, this folder is unknown.
func TestModuleIsRead(t *testing.T) {
	problems, err := layering.Check(os.DirFS("../.."), nil, nil)
	require.NoError(t, err)
	var files []string
	for _, p := range problems {
		files = append(files, p.File)
	}
	require.Contains(t, files, "internal/layering/layering_test.go")
}

func TestValidate(t *testing.T) {
	for _, tt := range []struct {
		name  string
		table []layering.Row
		want  string
	}{
		{"the map", layering.Table(), ""},
		{"everything is always above", []layering.Row{{Folder: "a"}, {Folder: "cmd", May: []string{layering.Everything}}}, ""},
		{"a row twice", []layering.Row{{Folder: "a"}, {Folder: "a"}}, "a has two rows"},
		{"a name that no row has", []layering.Row{{Folder: "a", May: []string{"b"}}}, "a may import b, which is not above it"},
		{"itself", []layering.Row{{Folder: "a", May: []string{"a"}}}, "a may import a, which is not above it"},
		{
			"a cycle",
			[]layering.Row{{Folder: "a", May: []string{"b"}}, {Folder: "b", May: []string{"a"}}},
			"a may import b, which is not above it",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := layering.Validate(tt.table)
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorIs(t, err, layering.ErrTable)
			require.ErrorContains(t, err, tt.want)
		})
	}
}
