package config

import (
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDefaultsRunTheProduct(t *testing.T) {
	c, dir, err := load(t, source{})
	require.NoError(t, err)
	require.Equal(t, Config{
		Addr: "127.0.0.1:8080", DataDir: filepath.Join(dir, "data"), Bus: "embedded", StartWithin: 5 * time.Minute,
		Tools: Tools{Workspace: filepath.Join(dir, "workspace"), Isolation: "auto", Network: "none", Builtin: []string{"Read", "Write", "Edit", "Bash"}},
		Chat: Chat{MaxRounds: 50, MaxToolCalls: 200, MaxResultBytes: 65536, HITL: HITL{
			Timeout: 3 * time.Minute, HeartbeatInterval: 15 * time.Second,
		}},
		Log: Log{Level: slog.LevelInfo, Format: "text"}, ExportLogMetrics: true,
	}, plain(c))

	for _, empty := range []string{"# nothing\n", "---\n", "null\n", "{}\n"} {
		fromFile, err := loadIn(t, dir, source{file: empty})
		require.NoError(t, err, empty)
		require.Equal(t, plain(c), plain(fromFile), empty)
	}
}

func TestEveryKey(t *testing.T) {
	text, err := os.ReadFile("testdata/full.yaml")
	require.NoError(t, err)
	c, dir, err := load(t, source{file: string(text)})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "agentd.yaml"), c.File)
	require.Equal(t, Config{
		Addr: "[::1]:9080", PublicURL: "https://countersign.example.org",
		AllowedOrigins: []string{"https://chat.example.org", "http://localhost:3000"},
		DataDir:        filepath.Join(dir, "state"), Bus: "embedded", StartWithin: 10 * time.Minute,
		Models: []Model{
			{Name: "default", Provider: "openai", BaseURL: "https://api.example.org/v1", Model: "gpt-4o", APIKeyEnv: "OPENAI_API_KEY"},
			{Name: "demo", Provider: "script", File: filepath.Join(dir, "scenario.yaml")},
		},
		Tools: Tools{
			Workspace: filepath.Join(filepath.Dir(dir), "work"), Isolation: "auto", Network: "host", NetworkPorts: []uint16{53, 443}, Builtin: []string{"Read", "Bash"},
			Custom: []CustomTool{{
				Name: "Deploy", Description: "Deploys to \"env\": staging or production.\n",
				Schema: json.RawMessage(`{"type":"object","properties":{"env":{"type":"string","enum":["staging","production"],"default":"1"},` +
					`"since":{"const":"2026-11-30"},"big":{"maximum":123456789012345678901234567890.50}},"required":["env"],"additionalProperties":false}`),
				Command: []string{filepath.Join(dir, "deploy.sh"), "--fast", ""}, Timeout: 90 * time.Second, ReturnDirect: true,
			}, {
				Name: "Notify", Description: "tells the team", Schema: json.RawMessage(`{"type":"object"}`),
				Command: []string{"notify"}, Timeout: time.Minute,
			}},
		},
		Chat: Chat{System: "be kind: \u202e\t# and brief", MaxRounds: 7, MaxToolCalls: 8, MaxResultBytes: 900, HITL: HITL{
			RequiredTools: []string{"Write", "files__*"}, RequiredSet: true, AllowedTools: []string{"files__read_*"}, DeniedTools: []string{"Bash"},
			Timeout: 90 * time.Minute, HeartbeatInterval: 500 * time.Millisecond,
		}},
		Auth: Auth{Tokens: []Token{
			{Name: "ci-agent", SHA256: strings.Repeat("1", 64), Roles: []string{"agent"}},
			{
				Name: "alice", Person: "alice", SHA256: "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
				Roles: []string{"reviewer", "auditor"}, Groups: []string{"sre"}, Permissions: []string{},
			},
		}},
		Log: Log{Level: slog.LevelDebug, Format: "json"}, HeadFile: filepath.Join(filepath.Dir(dir), "elsewhere", "head.json"),
	}, plain(c))
}

func TestPrecedence(t *testing.T) {
	const file = "addr: 127.0.0.1:1\ndata-dir: from-file\nchat: {max-rounds: 1}\nlog: {level: warn}\n"
	env := []string{"COUNTERSIGN_ADDR=127.0.0.1:2", "COUNTERSIGN_ADDR=127.0.0.1:9", "COUNTERSIGN_CHAT_MAX_ROUNDS=2", "COUNTERSIGN_CHAT_SYSTEM=", "PATH=/bin"}
	c, dir, err := load(t, source{file: file, env: env, args: []string{"-addr", "127.0.0.1:3", "--log-format=json"}})
	require.NoError(t, err)
	require.Equal(t, "127.0.0.1:3", c.Addr, "flag beats environment and file")
	require.Equal(t, 2, c.Chat.MaxRounds, "environment beats file")
	require.Equal(t, slog.LevelWarn, c.Log.Level, "file beats default")
	require.Equal(t, "json", c.Log.Format)
	require.Equal(t, filepath.Join(dir, "from-file"), c.DataDir)
}

func TestEverySettingComesFromEnvironmentAndFlags(t *testing.T) {
	text := map[string]string{
		"addr": "127.0.0.1:99", "public-url": "https://x.example", "data-dir": "d", "bus": "memory", "start-within": "1m", "chat.system": "s",
		"chat.max-rounds": "3", "chat.max-tool-calls": "3", "chat.max-result-bytes": "99", "log.level": "error", "log.format": "json",
		"export-log-metrics": "false", "head-file": "head.json",
	}
	for _, s := range settings() {
		fromEnv, dir, err := load(t, source{env: []string{s.env() + "=" + text[s.key]}})
		require.NoError(t, err, s.key)
		untouched, err := loadIn(t, dir, source{})
		require.NoError(t, err)
		require.NotEqual(t, plain(untouched), plain(fromEnv), s.key)
		fromFlag, err := loadIn(t, dir, source{args: []string{"-" + s.flag(), text[s.key]}})
		require.NoError(t, err, s.key)
		require.Equal(t, plain(fromEnv), plain(fromFlag), s.key)
	}
}

func TestRelativePaths(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "etc"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "etc", "c.yaml"), []byte("tools: {workspace: ws}\n"), 0o600))

	c, err := loadIn(t, dir, source{args: []string{"-config", "etc/c.yaml"}, env: []string{"COUNTERSIGN_DATA_DIR=d"}})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "etc", "ws"), c.Tools.Workspace, "of the file: beside the file")
	require.Equal(t, filepath.Join(dir, "d"), c.DataDir, "of the environment: in the working directory")

	c, err = loadIn(t, dir, source{args: []string{"-config", "etc/c.yaml"}})
	require.NoError(t, err)
	require.Equal(t, filepath.Join(dir, "etc", "data"), c.DataDir, "a default: beside the file")
}

func TestBlame(t *testing.T) {
	c, _, err := load(t, source{
		file: "chat:\n  hitl:\n    required-tools: [Write,\n      Edit]\n    timeout: 1m\n",
		env:  []string{"COUNTERSIGN_ADDR=127.0.0.1:1"}, args: []string{"-log-level", "warn"},
	})
	require.NoError(t, err)
	for key, want := range map[string]string{
		"chat.hitl.required-tools[0]": "agentd.yaml:3: key chat.hitl.required-tools[0]: bad",
		"chat.hitl.required-tools[1]": "agentd.yaml:4: key chat.hitl.required-tools[1]: bad",
		"chat.hitl.denied-tools[3]":   "agentd.yaml:2: key chat.hitl: bad",
		"addr":                        "environment COUNTERSIGN_ADDR: bad",
		"log.level":                   "flag -log-level: bad",
		"tools.workspace":             "default of tools.workspace: bad",
	} {
		require.EqualError(t, c.Blame(key, badError{}), want)
	}
	require.ErrorIs(t, c.Blame("addr", badError{}), badError{})
}

// badError is what a part of the program says of a value.
type badError struct{}

func (badError) Error() string { return "bad" }
