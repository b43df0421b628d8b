package config

import (
	"fmt"
	"strings"
	"time"
)

// setting is a single value that the file, the environment and a flag can give.
type setting struct {
	key   string // dotted, as in the file
	whole bool   // a whole number in the file; text otherwise
	truth bool   // true or false in the file
	span  bool   // a duration
	usage string // for --help
	set   func(c *Config, text, base string) error
}

// flag is the name of the setting's flag: chat.max-rounds is -chat-max-rounds.
func (s setting) flag() string { return strings.ReplaceAll(s.key, ".", "-") }

// env is the name of the setting's environment variable.
func (s setting) env() string { return envName(s.key) }

// envName is how a key would be written in the environment.
func envName(key string) string {
	return envPrefix + strings.ToUpper(strings.NewReplacer(".", "_", "-", "_").Replace(key))
}

const envPrefix = "COUNTERSIGN_"

// maxWait bounds every duration that something may wait for: 30 days.
const maxWait = 720 * time.Hour

// settings is the one table of single values outside chat.hitl, auth and tools.
func settings() []setting {
	return []setting{
		{key: "addr", usage: "listen on `host:port` (127.0.0.1:8080)", set: func(c *Config, s, _ string) (err error) {
			c.Addr, err = parseAddr(s)
			return err
		}},
		{key: "public-url", usage: "the `URL` that browsers see, behind a proxy", set: func(c *Config, s, _ string) (err error) {
			c.PublicURL, err = parsePublicURL(s)
			return err
		}},
		{key: "data-dir", usage: "the `folder` of journal and databases (./data)", set: func(c *Config, s, base string) (err error) {
			c.DataDir, err = parsePath(s, base)
			return err
		}},
		{key: "bus", usage: "embedded or memory", set: func(c *Config, s, _ string) (err error) {
			c.Bus, err = parseBuilt(s, []string{BusEmbedded, BusMemory}, "kafka")
			return err
		}},
		{key: "start-within", span: true, usage: "an approval lapses after this `duration` without a start (5m)", set: func(c *Config, s, _ string) (err error) {
			c.StartWithin, err = parseDuration(s, time.Millisecond, maxWait)
			return err
		}},
		{key: "export-log-metrics", truth: true, usage: "`true|false`: export the totals that come from the log, as one process of a log does (true)", set: func(c *Config, s, _ string) (err error) {
			c.ExportLogMetrics, err = parseTruth(s)
			return err
		}},
		{key: "head-file", usage: "note the log's head in this `file`, outside of data-dir, against rollback", set: func(c *Config, s, base string) (err error) {
			c.HeadFile, err = parsePath(s, base)
			return err
		}},
		{key: "chat.system", usage: "the system `prompt`", set: func(c *Config, s, _ string) error {
			c.Chat.System = s
			return nil
		}},
		{key: "chat.max-rounds", whole: true, usage: "model rounds in a run (50)", set: func(c *Config, s, _ string) (err error) {
			c.Chat.MaxRounds, err = parseWhole(s, 1, 10_000)
			return err
		}},
		{key: "chat.max-tool-calls", whole: true, usage: "tool calls in a run (200)", set: func(c *Config, s, _ string) (err error) {
			c.Chat.MaxToolCalls, err = parseWhole(s, 1, 100_000)
			return err
		}},
		{key: "chat.max-result-bytes", whole: true, usage: "bytes of a result that the model is shown (65536)", set: func(c *Config, s, _ string) (err error) {
			c.Chat.MaxResultBytes, err = parseWhole(s, 64, 800<<10)
			return err
		}},
		{key: "log.level", usage: "debug, info, warn or error (info)", set: func(c *Config, s, _ string) (err error) {
			c.Log.Level, err = parseLevel(s)
			return err
		}},
		{key: "log.format", usage: "text or json (text)", set: func(c *Config, s, _ string) (err error) {
			c.Log.Format, err = parseOneOf(s, FormatText, FormatJSON)
			return err
		}},
	}
}

// notBuilt lists the keys of the top level whose part this version does not
// have.
func notBuilt() []string {
	return []string{
		"auditui", "kafka", "retention",
		"skills", "subagents", "tls", "trusted-proxies",
	}
}

// parseBuilt accepts one of the built words; a later one is not in this version.
func parseBuilt(s string, built []string, later ...string) (string, error) {
	for _, word := range later {
		if s == word {
			return "", fmt.Errorf("%w: %s (this version has %s)", ErrNotInVersion, word, orList(built))
		}
	}
	return parseOneOf(s, built...)
}
