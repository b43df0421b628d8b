package config

import (
	"flag"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// source is one way to start: a file, an environment and flags.
type source struct {
	file string // the text of agentd.yaml; "" is none
	env  []string
	args []string
}

// load loads a source from a folder of its own.
func load(t *testing.T, s source) (Config, string, error) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	c, err := loadIn(t, dir, s)
	return c, dir, err
}

func loadIn(t *testing.T, dir string, s source) (Config, error) {
	t.Helper()
	args := s.args
	if s.file != "" {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agentd.yaml"), []byte(s.file), 0o600))
		args = append([]string{"-config", "agentd.yaml"}, args...)
	}
	loader := Loader{Environ: s.env, WorkDir: dir}
	fs := flag.NewFlagSet("agentd", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	loader.Flags(fs)
	require.NoError(t, fs.Parse(args))
	return loader.Load()
}

// plain is c without the record of where its values came from.
func plain(c Config) Config {
	c.origins, c.File = nil, ""
	return c
}
