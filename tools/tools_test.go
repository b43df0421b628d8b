package tools_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/tools"
)

var builtin = []string{"Read", "Write", "Edit", "Bash"}

// bench is a workspace in a folder of its own, with files beside it that no
// tool may touch.
type bench struct {
	t     *testing.T
	dir   string // the workspace
	tools map[string]agent.Tool
}

func newBench(t *testing.T, change ...func(*tools.Options)) *bench {
	t.Helper()
	top := t.TempDir()
	write(t, filepath.Join(top, "outside.txt"), "secret\n")
	options := tools.Options{Workspace: filepath.Join(top, "ws"), Builtin: builtin}
	for _, f := range change {
		f(&options)
	}
	all, err := tools.New(options)
	require.NoError(t, err)
	b := &bench{t: t, dir: options.Workspace, tools: map[string]agent.Tool{}}
	for _, tool := range all {
		b.tools[tool.Spec().Name] = tool
	}
	return b
}

func (b *bench) path(name string) string { return filepath.Join(b.dir, name) }

func (b *bench) outside() string { return filepath.Join(filepath.Dir(b.dir), "outside.txt") }

func (b *bench) file(name, content string) {
	b.t.Helper()
	write(b.t, b.path(name), content)
}

func (b *bench) content(name string) string {
	b.t.Helper()
	content, err := os.ReadFile(b.path(name))
	require.NoError(b.t, err)
	return string(content)
}

// run runs a tool with arguments that are JSON text, or a value to encode.
func (b *bench) run(tool string, arguments any) (agent.Output, error) {
	b.t.Helper()
	text, raw := arguments.(string)
	if !raw {
		encoded, err := json.Marshal(arguments)
		require.NoError(b.t, err)
		text = string(encoded)
	}
	return b.tools[tool].Run(b.t.Context(), []byte(text))
}

// unharmed asserts that the file beside the workspace is as it was, and that no
// half-written file is left in it.
func (b *bench) unharmed() {
	b.t.Helper()
	content, err := os.ReadFile(b.outside())
	require.NoError(b.t, err)
	require.Equal(b.t, "secret\n", string(content))
	beside, err := os.ReadDir(filepath.Dir(b.dir))
	require.NoError(b.t, err)
	require.Len(b.t, beside, 2, "the workspace and the file beside it")
	require.NoError(b.t, filepath.WalkDir(b.dir, func(path string, _ os.DirEntry, err error) error {
		require.NotContains(b.t, path, ".countersign-")
		return err
	}))
}

func write(t *testing.T, path, content string) {
	t.Helper()
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
	require.NoError(t, os.WriteFile(path, []byte(content), 0o644))
}

type args = map[string]any
