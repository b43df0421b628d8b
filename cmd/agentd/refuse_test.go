package main_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// refused runs agentd and returns the one line in which it says why it does
// not start. DIR stands for the folder.
func refused(t *testing.T, dir string, code int, environ []string, args ...string) string {
	t.Helper()
	r := agentd(t, dir, environ, args...)
	require.Equal(t, code, r.code, r.stderr)
	require.Empty(t, r.out)
	lines := strings.Split(strings.TrimSuffix(r.stderr, "\n"), "\n")
	require.Len(t, lines, 1, r.stderr)
	return strings.ReplaceAll(lines[0], dir, "DIR")
}

const wrongConfiguration = 2

func TestConfigurationRefused(t *testing.T) {
	const keys = "addr, allowed-origins, auditui, auth, bus, chat, data-dir, export-log-metrics, head-file, kafka, log, models, public-url, retention, skills, start-within, subagents, tls, tools, trusted-proxies"
	for _, c := range []struct{ file, want string }{
		{"adr: 127.0.0.1:0", ":1: key adr: expected one of " + keys + "; correct the name or remove the key"},
		{"log: {level: info}\nlog: {level: warn}", ":2: key log: expected each key once, it is also on line 1; remove one"},
		{"bus: memory\nkafka: {brokers: [x]}", ":2: kafka: not in this version"},
		{"chat: {hitl: {rules: []}}", ":1: chat.hitl.rules: not in this version"},
		{
			"chat:\n  hitl:\n    required-tools: [Bash, 'Wri[te']",
			`:3: key chat.hitl.required-tools[1]: required-tools: entry 2 "Wri[te": '[' cannot stand here; an entry is a tool's name, or a glob of * and ?`,
		},
		{"chat: {hitl: {timeout: 0s}}", ":1: key chat.hitl.timeout: expected a duration from 1ms to 720h, found 0s"},
		{"chat: {hitl: {timeout: -1s}}", ":1: key chat.hitl.timeout: expected a duration from 1ms to 720h, found -1s"},
		{
			"models: [{name: s, provider: script, file: absent.yaml}]",
			":1: key models[0]: expected the file of a script: open DIR/absent.yaml: no such file or directory; correct the path or write it",
		},
		{
			"tools: {custom: [{name: Deploy, description: d, schema: {type: object}, command: [./absent.sh]}]}",
			`:1: key tools: tools: custom "Deploy": bad command: stat DIR/absent.sh: no such file or directory`,
		},
		{
			"tools: {workspace: data/inner}",
			`:1: key tools.workspace: expected the workspace and the data directory apart, found "DIR/data/inner" and "DIR/data"; tools must not reach journal and tokens: choose another folder`,
		},
		{
			"addr: 0.0.0.0:8080",
			`:1: key addr: expected a loopback address such as 127.0.0.1:8080, found "0.0.0.0:8080": without auth.users, which is not in this version, agentd listens on loopback only; put a proxy on this machine in front`,
		},
	} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agentd.yaml"), []byte(c.file), 0o600))
		require.Equal(t, "agentd: agentd.yaml"+c.want, refused(t, dir, wrongConfiguration, nil, "serve", "--config", "agentd.yaml"))
		require.NoDirExists(t, filepath.Join(dir, "data"), "a wrong configuration leaves nothing behind")
	}
}

func TestUsageRefused(t *testing.T) {
	for _, c := range []struct {
		args    []string
		environ []string
		want    string
	}{
		{[]string{"serv"}, nil, `agentd: wrong usage: there is no command "serv"; agentd help lists them`},
		{[]string{"serve", "extra"}, nil, `agentd: wrong usage: agentd serve takes no argument "extra"`},
		{[]string{"--nope"}, nil, "agentd: wrong usage: flag provided but not defined: -nope; agentd serve --help lists the flags"},
		{[]string{"serve", "--config", "agentd.yaml"}, nil, "agentd: DIR/agentd.yaml: cannot be read: no such file or directory; name a readable file with --config"},
		{[]string{"demo", "--data-dir", "x"}, nil, "agentd: wrong usage: agentd demo brings its own configuration and takes no --data-dir; use agentd serve"},
		{
			[]string{"demo"},
			[]string{"COUNTERSIGN_DATA_DIR=x"},
			"agentd: wrong usage: agentd demo brings its own configuration and takes no COUNTERSIGN_DATA_DIR; unset it, or use agentd serve",
		},
		{
			nil,
			[]string{"COUNTERSIGN_ADR=x"},
			"agentd: environment COUNTERSIGN_ADR: expected the name of a setting, this is none that the environment can give; unset it or correct the name",
		},
		{
			nil,
			[]string{"COUNTERSIGN_CHAT_HITL_TIMEOUT=1h"},
			"agentd: environment COUNTERSIGN_CHAT_HITL_TIMEOUT: expected nothing: chat.hitl cannot come from the environment; unset it and use the file that --config names",
		},
	} {
		require.Equal(t, c.want, refused(t, t.TempDir(), wrongConfiguration, c.environ, c.args...))
	}
}

// --print-config shows only what serve takes: an entry in another language of
// patterns would protect nothing.
func TestPrintConfigChecksThePolicy(t *testing.T) {
	for _, key := range []string{"required-tools", "allowed-tools", "denied-tools"} {
		dir := t.TempDir()
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agentd.yaml"), []byte("chat: {hitl: {"+key+": [Read, 'ba[sh']}}"), 0o600))
		require.Contains(t, refused(t, dir, wrongConfiguration, nil, "--config", "agentd.yaml", "--print-config"), "agentd.yaml:1: key chat.hitl."+key+"[1]")
	}
}

// No configuration of case 047 makes silence an approval: each is refused, or
// a time-out of its own or the default holds.
func TestCase047Configurations(t *testing.T) {
	text, err := os.ReadFile("testdata/case-047-configs.json")
	require.NoError(t, err)
	var configs []struct {
		Timeout *string `json:"timeout"`
	}
	require.NoError(t, json.Unmarshal(text, &configs))
	effective := map[string]string{"2s": "timeout: 2s", "": "timeout: 3m"}
	for _, c := range configs {
		dir, file, want := t.TempDir(), "chat: {hitl: {required-tools: [Bash]}}", effective[""]
		if c.Timeout != nil {
			file, want = "chat: {hitl: {required-tools: [Bash], timeout: '"+*c.Timeout+"'}}", ""
			if *c.Timeout != "" {
				want = effective[*c.Timeout]
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, "agentd.yaml"), []byte(file), 0o600))
		if want == "" {
			require.Contains(t, refused(t, dir, wrongConfiguration, nil, "--config", "agentd.yaml"), "key chat.hitl.timeout: expected a duration", file)
			continue
		}
		r := agentd(t, dir, nil, "--config", "agentd.yaml", "--print-config")
		require.Zero(t, r.code, r.stderr)
		require.Contains(t, r.out, want, file)
	}
}
