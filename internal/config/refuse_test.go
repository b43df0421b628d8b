package config

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestNotInThisVersion(t *testing.T) {
	for file, want := range map[string]string{
		"kafka: {brokers: [x]}": "agentd.yaml:1: kafka: not in this version",
		"\nbus: kafka":          "agentd.yaml:2: bus: not in this version: kafka (this version has embedded or memory)",
		"tls: {}":               "agentd.yaml:1: tls: not in this version",
		"trusted-proxies: []":   "agentd.yaml:1: trusted-proxies: not in this version",
		"retention: {}":         "agentd.yaml:1: retention: not in this version",
		"auditui: {addr: x}":    "agentd.yaml:1: auditui: not in this version",
		"skills: []":            "agentd.yaml:1: skills: not in this version",
		"subagents: []":         "agentd.yaml:1: subagents: not in this version",
		"models: [{name: a, provider: anthropic}]":           "agentd.yaml:1: models[0].provider: not in this version: anthropic (this version has openai or script)",
		"tools: {mcp: []}":                                   "agentd.yaml:1: tools.mcp: not in this version",
		"chat: {hitl: {rules: []}}":                          "agentd.yaml:1: chat.hitl.rules: not in this version",
		"chat: {hitl: {non-streaming: gate}}":                "agentd.yaml:1: chat.hitl.non-streaming: not in this version",
		"auth: {users: []}":                                  "agentd.yaml:1: auth.users: not in this version",
		"auth: {tokens: [{name: a, permissions: [bypass]}]}": "agentd.yaml:1: auth.tokens[0].permissions[0]: not in this version: bypass",
	} {
		_, _, err := load(t, source{file: file})
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrNotInVersion)
	}
}

func TestStrictFile(t *testing.T) {
	const plainly = ": expected a plain value: anchors and aliases are not read; write the value out"
	for file, want := range map[string]string{
		"log:\n  leve: info":             "agentd.yaml:2: key log.leve: expected one of format, level; correct the name or remove the key",
		"Log: {}":                        "agentd.yaml:1: key Log: expected one of addr, allowed-origins, auditui, auth, bus, chat, data-dir, export-log-metrics, head-file, kafka, log, models, public-url, retention, skills, start-within, subagents, tls, tools, trusted-proxies; correct the name or remove the key",
		"addr: 127.0.0.1:1\naddr: x":     "agentd.yaml:2: key addr: expected each key once, it is also on line 1; remove one",
		"log: {level: info, level: x}":   "agentd.yaml:1: key log.level: expected each key once, it is also on line 1; remove one",
		"tls: {a: {b: 1, b: 1}}":         "agentd.yaml:1: key tls.a.b: expected each key once, it is also on line 1; remove one",
		"log: &l {level: info}":          "agentd.yaml:1: key log" + plainly,
		"a: &x 1\nlog: *x":               "agentd.yaml:1: key a" + plainly,
		"log:\n  <<: {level: info}":      "agentd.yaml:2: key log.\"<<\": expected a key of text; put it into quotes if it is meant",
		"1: x":                           "agentd.yaml:1: key 1: expected a key of text; put it into quotes if it is meant",
		"? [a]\n: x":                     "agentd.yaml:1: key \"\": expected a key of text; put it into quotes if it is meant",
		"addr: !!str 1":                  "agentd.yaml:1: key addr: expected a plain value: the tag \"!!str\" is not read; remove it",
		"addr: !evil x":                  "agentd.yaml:1: key addr: expected a plain value: the tag \"!evil\" is not read; remove it",
		"addr: 127.0.0.1:1\n---\nbus: x": "agentd.yaml:2: expected one document, found a second; remove it and the line ---",
		"[addr]":                         "agentd.yaml:1: expected keys such as addr: 127.0.0.1:8080, found a list",
		"addr":                           "agentd.yaml:1: expected keys such as addr: 127.0.0.1:8080, found the text \"addr\"",
		"log:\n  level: [":               "agentd.yaml:2: expected YAML: did not find expected node content",
		"log: {level: info":              "agentd.yaml:1: expected YAML: did not find expected ',' or '}'",
		"bus: memory\n\tlog: x":          "agentd.yaml:2: expected YAML: found a tab character that violates indentation",
		"bus: memory\nlog: \xff":         "agentd.yaml:2: expected UTF-8; save the file in that encoding",
		"tls: " + strings.Repeat("[", 70) + strings.Repeat("]", 70): "agentd.yaml:1: key tls" + strings.Repeat("[0]", 64) + ": expected at most 64 levels of maps and lists",
		"#" + strings.Repeat("x", maxFileBytes):                     "DIR/agentd.yaml: is larger than the 1048576 bytes that a configuration may have; make it smaller",
	} {
		_, dir, err := load(t, source{file: file})
		require.EqualError(t, err, strings.ReplaceAll(want, "DIR", dir))
	}
}

func TestWrongTypesAndValues(t *testing.T) {
	for file, want := range map[string]string{
		"export-log-metrics: 'yes'":                     `key export-log-metrics: expected true or false, found the text "yes"`,
		"export-log-metrics: 1":                         "key export-log-metrics: expected true or false, found 1 (text needs quotes)",
		"addr: 8080":                                    "key addr: expected text, found 8080 (text needs quotes)",
		"addr:":                                         "key addr: expected text, found nothing; give a value or remove the key",
		"addr: localhost":                               `key addr: expected host:port such as 127.0.0.1:8080, found "localhost"`,
		"addr: 127.0.0.1:99999":                         `key addr: expected a port from 0 to 65535 after the colon, found "127.0.0.1:99999"`,
		"addr: example.org:80":                          `key addr: expected an IP address or localhost before the port, found "example.org:80"`,
		"public-url: ftp://x":                           `key public-url: expected scheme://host[:port] such as https://chat.example.org, found "ftp://x"`,
		"public-url: https://x/path":                    `key public-url: expected scheme://host[:port] such as https://chat.example.org, found "https://x/path"`,
		"public-url: http://x.example":                  `key public-url: expected an https URL, because sign-ins travel over it, found "http://x.example"`,
		"allowed-origins: https://x":                    `key allowed-origins: expected a list, found the text "https://x"`,
		`allowed-origins: ["*"]`:                        `key allowed-origins[0]: expected scheme://host[:port] such as https://chat.example.org, found "*"`,
		`allowed-origins: ["https://*.x"]`:              `key allowed-origins[0]: expected scheme://host[:port] such as https://chat.example.org, found "https://*.x"`,
		`allowed-origins: ["null"]`:                     `key allowed-origins[0]: expected scheme://host[:port] such as https://chat.example.org, found "null"`,
		"allowed-origins: [https://x, HTTPS://X:443]":   `key allowed-origins[1]: expected each entry once, found "https://x" again`,
		"data-dir: ''":                                  "key data-dir: expected a path, found nothing",
		`data-dir: "a\0b"`:                              `key data-dir: expected a path without NUL, found "a\x00b"`,
		"bus: redis":                                    `key bus: expected embedded or memory, found "redis"`,
		"start-within: 0s":                              "key start-within: expected a duration from 1ms to 720h, found 0s",
		"log: []":                                       "key log: expected a map of keys, found a list",
		"log: {level: loud}":                            `key log.level: expected debug, info, warn or error, found "loud"`,
		"log: {format: xml}":                            `key log.format: expected text or json, found "xml"`,
		"chat: {max-rounds: '5'}":                       `key chat.max-rounds: expected a whole number, found the text "5"`,
		"chat: {max-rounds: 0}":                         `key chat.max-rounds: expected a whole number from 1 to 10000, found "0"`,
		"chat: {max-tool-calls: 99999999999999999999}":  `key chat.max-tool-calls: expected a whole number, found 99999999999999999999 (text needs quotes)`,
		"chat: {max-result-bytes: 1.5}":                 "key chat.max-result-bytes: expected a whole number, found 1.5 (text needs quotes)",
		"chat: {hitl: {timeout: 0s}}":                   "key chat.hitl.timeout: expected a duration from 1ms to 720h, found 0s",
		"chat: {hitl: {timeout: -1s}}":                  "key chat.hitl.timeout: expected a duration from 1ms to 720h, found -1s",
		"chat: {hitl: {timeout: ''}}":                   `key chat.hitl.timeout: expected a duration such as 90s or 3m, found ""`,
		"chat: {hitl: {timeout: 60}}":                   `key chat.hitl.timeout: expected a duration such as 90s or 3m, found "60" without a unit`,
		"start-within: 2.5":                             `key start-within: expected a duration such as 90s or 3m, found "2.5" without a unit`,
		"tools: {network: 1}":                           "key tools.network: expected text, found 1 (text needs quotes)",
		"tools: {network: all}":                         `key tools.network: expected none or host, found "all"`,
		"tools: {network: host, network-ports: []}":     "key tools.network-ports: expected 1 to 32 TCP ports, found 0; remove the key for 53, 80 and 443",
		"tools: {network: host, network-ports: [0]}":    `key tools.network-ports[0]: expected a whole number from 1 to 65535, found "0"`,
		"tools: {network: host, network-ports: [a]}":    `key tools.network-ports[0]: expected a whole number, found the text "a"`,
		"tools: {network: host, network-ports: [1, 1]}": "key tools.network-ports[1]: expected each port once, found 1 again",
		"tools: {network-ports: [443]}":                 "key tools.network-ports: expected network: host with it; without, commands have no network: add it, or remove network-ports",
		"tools: {isolation: none, network: none}":       "key tools.network: expected isolation: auto with it, found none: such tools have the network that agentd has; remove network",
		"{addr: '127.0.0.1:0', tools: {network: host}}": "key addr: expected a port, found 0: with tools.network: host, agentd's own port must be known, so that tools are kept from it; choose one",
		"chat: {hitl: {heartbeat-interval: 1ms}}":       "key chat.hitl.heartbeat-interval: expected a duration from 10ms to 5m, found 1ms",
		"chat: {hitl: {required-tools: }}":              "key chat.hitl.required-tools: expected a list, found nothing; give a value or remove the key",
		"chat: {hitl: {required-tools: [' Bash']}}":     `key chat.hitl.required-tools[0]: expected a name of 1 to 256 bytes without control or invisible characters and without spaces around it, found " Bash"`,
		`chat: {hitl: {denied-tools: ["Ba\u200bsh"]}}`:  `key chat.hitl.denied-tools[0]: expected a name of 1 to 256 bytes without control or invisible characters and without spaces around it, found "Ba\u200bsh"`,
		"chat: {hitl: {allowed-tools: [A, A]}}":         `key chat.hitl.allowed-tools[1]: expected each entry once, found "A" again`,
	} {
		_, _, err := load(t, source{file: file})
		require.EqualError(t, err, "agentd.yaml:1: "+want)
	}
}

func TestEnvironmentAndFlagsRefused(t *testing.T) {
	const stranger = ": expected the name of a setting, this is none that the environment can give; unset it or correct the name"
	for _, c := range []struct {
		source source
		want   string
	}{
		{source{env: []string{"COUNTERSIGN_CHAT_HITL_TIMEOUT=1h"}}, "environment COUNTERSIGN_CHAT_HITL_TIMEOUT: expected nothing: chat.hitl cannot come from the environment; unset it and use the file that --config names"},
		{source{env: []string{"COUNTERSIGN_AUTH_USERS=x"}}, "environment COUNTERSIGN_AUTH_USERS: expected nothing: auth cannot come from the environment; unset it and use the file that --config names"},
		{source{env: []string{"COUNTERSIGN_TOOLS_WORKSPACE=/"}}, "environment COUNTERSIGN_TOOLS_WORKSPACE: expected nothing: tools cannot come from the environment; unset it and use the file that --config names"},
		{source{env: []string{"COUNTERSIGN_BYPASS=1"}}, "environment COUNTERSIGN_BYPASS" + stranger},
		{source{env: []string{"COUNTERSIGN_CONFIG=x"}}, "environment COUNTERSIGN_CONFIG" + stranger},
		{source{env: []string{"COUNTERSIGN_ADR=x"}}, "environment COUNTERSIGN_ADR" + stranger},
		{source{env: []string{"COUNTERSIGN_KAFKA_TOPIC=x"}}, "environment COUNTERSIGN_KAFKA_TOPIC: not in this version"},
		{source{env: []string{"COUNTERSIGN_HEAD_FILE="}}, "environment COUNTERSIGN_HEAD_FILE: expected a path, found nothing"},
		{source{env: []string{"COUNTERSIGN_BUS=kafka"}}, "environment COUNTERSIGN_BUS: not in this version: kafka (this version has embedded or memory)"},
		{source{env: []string{"COUNTERSIGN_ADDR="}}, `environment COUNTERSIGN_ADDR: expected host:port such as 127.0.0.1:8080, found ""`},
		{source{env: []string{"COUNTERSIGN_CHAT_SYSTEM=\xff"}}, `environment COUNTERSIGN_CHAT_SYSTEM: expected UTF-8 text, found "\xff"`},
		{source{args: []string{"-chat-max-rounds", "many"}}, `flag -chat-max-rounds: expected a whole number from 1 to 10000, found "many"`},
		{source{args: []string{"-config", ""}}, "flag -config: expected a file, found nothing"},
		{source{args: []string{"-config", "absent.yaml"}}, "DIR/absent.yaml: cannot be read: no such file or directory; name a readable file with --config"},
		{source{args: []string{"-config", "."}}, "DIR: cannot be read: is a directory; name a readable file with --config"},
	} {
		_, dir, err := load(t, c.source)
		require.EqualError(t, err, strings.ReplaceAll(c.want, "DIR", dir))
		var wrong *Error
		require.ErrorAs(t, err, &wrong)
	}
}

func TestOnlyLoopback(t *testing.T) {
	const rest = ": without auth.users, which is not in this version, agentd listens on loopback only; put a proxy on this machine in front"
	for _, addr := range []string{"0.0.0.0:8080", ":8080", "[::]:8080", "192.168.1.2:1", "[fe80::1]:1"} {
		_, _, err := load(t, source{args: []string{"-addr", addr}})
		require.EqualError(t, err, `flag -addr: expected a loopback address such as 127.0.0.1:8080, found "`+addr+`"`+rest)
	}
	for _, addr := range []string{"127.0.0.1:0", "127.9.9.9:1", "localhost:8080", "[::1]:8080", "[::ffff:127.0.0.1]:80"} {
		_, _, err := load(t, source{args: []string{"-addr", addr}})
		require.NoError(t, err, addr)
	}
}

func TestWorkspaceStaysApart(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "data"), 0o700))
	require.NoError(t, os.Symlink(filepath.Join(dir, "data"), filepath.Join(dir, "link")))
	apart := "expected the workspace and the data directory apart"
	for file, want := range map[string]string{
		"tools: {workspace: data}":                  "agentd.yaml:1: key tools.workspace: " + apart,
		"tools: {workspace: data/x}":                "agentd.yaml:1: key tools.workspace: " + apart,
		"tools: {workspace: link/x/y}":              "agentd.yaml:1: key tools.workspace: " + apart,
		"tools: {workspace: /}":                     "agentd.yaml:1: key tools.workspace: " + apart,
		"data-dir: workspace/inner":                 "agentd.yaml:1: key data-dir: " + apart,
		"tools: {workspace: .}":                     "agentd.yaml:1: key tools.workspace: " + apart,
		"{data-dir: /var/d, tools: {workspace: .}}": "agentd.yaml:1: key tools.workspace: expected a folder without the configuration file",
	} {
		_, err := loadIn(t, dir, source{file: file})
		require.ErrorContains(t, err, want, file)
	}
	_, err = loadIn(t, dir, source{file: "tools: {workspace: data-2}"})
	require.NoError(t, err, "a name with the same beginning is another folder")
}
