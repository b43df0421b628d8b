package isolate_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/isolate"
)

// able is a machine that can do everything.
func able() isolate.Machine {
	return isolate.Machine{Parts: []isolate.Part{{Name: "all", OK: true, Needed: true}}}
}

func TestNewRefusesWhatWouldNotIsolate(t *testing.T) {
	dir := t.TempDir()
	work, data := filepath.Join(dir, "work"), filepath.Join(dir, "data")
	require.NoError(t, os.MkdirAll(filepath.Join(work, "sub"), 0o755))
	require.NoError(t, os.MkdirAll(data, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(data, "journal.db"), nil, 0o600))
	require.NoError(t, os.Symlink(data, filepath.Join(dir, "link")))
	linked := filepath.Join(dir, "linked")
	require.NoError(t, os.WriteFile(linked, nil, 0o600))
	require.NoError(t, os.Link(linked, filepath.Join(work, "second")))
	for name, test := range map[string]struct {
		machine isolate.Machine
		config  isolate.Config
		is      error
		says    string
	}{
		"a machine that nobody probed": {is: isolate.ErrCannot, says: "not probed"},
		"a machine without seccomp": {
			machine: isolate.Machine{Parts: []isolate.Part{{Name: "seccomp", Needed: true, Detail: "gone", Remedy: "get it"}, {Name: "other"}}},
			is:      isolate.ErrCannot, says: "seccomp: gone (get it)",
		},
		"a kernel without rules for TCP": {
			machine: isolate.Machine{Parts: []isolate.Part{{Name: "network host", Detail: "none", Remedy: "a newer one"}}},
			config:  isolate.Config{Network: isolate.NetworkHost}, is: isolate.ErrCannot, says: "network host: none (a newer one)",
		},
		"a relative path":             {config: isolate.Config{Hidden: []string{"data"}}, says: `"data" must be absolute`},
		"a NUL byte":                  {config: isolate.Config{Writable: []string{"/a\x00b"}}, says: "must be absolute"},
		"a workspace that is missing": {config: isolate.Config{Writable: []string{dir + "/none"}}, says: "no such file"},
		"data in the workspace":       {config: isolate.Config{Writable: []string{dir}, Hidden: []string{data}}, says: "neither may contain"},
		"the workspace in data":       {config: isolate.Config{Writable: []string{work + "/sub"}, Hidden: []string{work}}, says: "neither may contain"},
		"the workspace is data":       {config: isolate.Config{Writable: []string{data}, Hidden: []string{data}}, says: "neither may contain"},
		"data by a link":              {config: isolate.Config{Writable: []string{data}, Hidden: []string{dir + "/link"}}, says: "neither may contain"},
		"the workspace by a link":     {config: isolate.Config{Writable: []string{dir + "/link"}, Hidden: []string{data}}, says: "neither may contain"},
		"data that comes later":       {config: isolate.Config{Writable: []string{work}, Hidden: []string{work + "/later/data"}}, says: "neither may contain"},
		"a hidden file of two names":  {config: isolate.Config{Hidden: []string{linked}}, says: "has 2 names"},
		"such a file in a folder":     {config: isolate.Config{Hidden: []string{work}}, says: "has 2 names"},
		"an unknown network":          {config: isolate.Config{Network: "all"}, says: `network "all"`},
		"its own port": {
			config: isolate.Config{Network: isolate.NetworkHost, OwnPorts: []uint16{8080, 443}}, says: "TCP port 443",
		},
		"a negative limit": {config: isolate.Config{Memory: -1}, says: "negative"},
	} {
		t.Run(name, func(t *testing.T) {
			if test.is == nil {
				test.machine, test.is = able(), isolate.ErrConfig
			}
			_, err := isolate.New(test.machine, test.config)
			require.ErrorIs(t, err, test.is)
			require.ErrorContains(t, err, test.says)
		})
	}
}

func TestNewTakesWhatIsolates(t *testing.T) {
	dir := t.TempDir()
	work := filepath.Join(dir, "work")
	require.NoError(t, os.Mkdir(work, 0o755))
	for name, test := range map[string]struct {
		config isolate.Config
		mode   string
	}{
		"neighbours":            {isolate.Config{Writable: []string{work}, Hidden: []string{dir + "/data", dir + "/work-data"}}, "linux/1;network=none"},
		"the host's network":    {isolate.Config{Network: isolate.NetworkHost, OwnPorts: []uint16{8080}}, "linux/1;network=host:53,80,443"},
		"an own port, unneeded": {isolate.Config{Ports: []uint16{8080}, OwnPorts: []uint16{8080}}, "linux/1;network=none"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := isolate.New(able(), test.config)
			require.NoError(t, err)
			require.Equal(t, test.mode, s.Mode())
			s.Close()
		})
	}
}
