package config

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"
)

// The names of buses, providers, roles and formats that this version has.
const (
	BusEmbedded = "embedded"
	BusMemory   = "memory"

	ProviderOpenAI = "openai" // any server with an OpenAI-compatible chat-completions endpoint
	ProviderScript = "script"

	RoleAgent    = "agent"    // chat, propose calls, post results
	RoleReviewer = "reviewer" // see and decide requests
	RoleAuditor  = "auditor"  // see all, export, verify; decides nothing
	RoleAdmin    = "admin"    // reviewer and auditor, and policy and people

	FormatText = "text"
	FormatJSON = "json"

	IsolationAuto = "auto" // tools that start a process run shut off from agentd, or not at all
	IsolationNone = "none" // tools run as agentd does

	NetworkNone = "none" // commands have no network
	NetworkHost = "host" // commands have this machine's, on some TCP ports
)

// Config is the effective configuration. All paths are absolute.
type Config struct {
	Addr           string        // host:port to listen on; the host is a loopback address or "localhost"
	PublicURL      string        // "" or scheme://host[:port], as browsers see a proxy in front
	AllowedOrigins []string      // scheme://host[:port] of browser front ends of /chat
	DataDir        string        // the folder of journal and databases
	Bus            string        // BusEmbedded or BusMemory
	StartWithin    time.Duration // an approval not started by then has lapsed
	Models         []Model       // in the order of the file; may be empty
	Tools          Tools
	Chat           Chat
	Auth           Auth
	Log            Log
	// ExportLogMetrics is whether /metrics has the totals that come from the log.
	// One process of those that share a log has them, or sums would double.
	ExportLogMetrics bool
	// HeadFile is where the log's head is noted, outside of data-dir, so that a log
	// that was put back or cut shows; "" nowhere.
	HeadFile string

	// File is the absolute path of the file that was read, or "".
	File string

	origins origins
}

// Model is one entry of models. Names are unique.
type Model struct {
	Name      string
	Provider  string // ProviderOpenAI or ProviderScript
	BaseURL   string // openai: http(s)://host/path without a closing slash
	Model     string // openai: the provider's name of the model
	APIKeyEnv string // openai: the environment variable that holds the key, or ""
	File      string // script: the scenario
}

// Tools says what agents may ask to run.
type Tools struct {
	Workspace string // the folder that file tools cannot leave
	Isolation string // IsolationAuto or IsolationNone
	// Network is NetworkNone or NetworkHost; it means nothing without isolation.
	Network string
	// NetworkPorts are the TCP ports that commands may connect to with NetworkHost,
	// at any address; 53, 80 and 443 where none is given.
	NetworkPorts []uint16
	Builtin      []string // which of Read, Write, Edit, Bash are offered, in order
	Custom       []CustomTool
}

// CustomTool is a tool that is a command: arguments on stdin, result on stdout.
type CustomTool struct {
	Name         string // letters, digits, _ and -, at most 64; unlike any built-in tool
	Description  string
	Schema       json.RawMessage // a JSON Schema of type object, in the order of the file
	Command      []string        // the program and its arguments; a path with a slash is absolute
	Timeout      time.Duration   // 60s where not given
	ReturnDirect bool            // its result is the run's answer
}

// Chat bounds agentd's own loop.
type Chat struct {
	System         string // the system prompt, or ""
	MaxRounds      int    // model rounds in a run; 50, at most 10,000
	MaxToolCalls   int    // tool calls in a run; 200, at most 100,000
	MaxResultBytes int    // of a result, what the model is shown; 65,536; 64 to 819,200
	HITL           HITL
}

// HITL is the short form of the policy: names or globs of tools.
type HITL struct {
	RequiredTools []string // these ask
	RequiredSet   bool     // required-tools was given, even if empty: other built-in and custom tools are free
	AllowedTools  []string
	DeniedTools   []string

	Timeout           time.Duration // of a request; 3m, 1ms to 720h
	HeartbeatInterval time.Duration // 15s, 10ms to 5m
}

// Auth is who may come in.
type Auth struct {
	Tokens []Token
}

// Token is a bearer token, known by its hash alone. Names and hashes are unique.
type Token struct {
	Name   string
	Person string // who holds it; never empty where a role can decide
	// SHA256 is the lower-case hex SHA-256 of the token, or "" where the file
	// says "masked", as printed configurations do: nobody holds such a token.
	SHA256      string
	Roles       []string // at least one
	Groups      []string
	Permissions []string
}

// Log is how agentd writes its own log, which is not the audit log.
type Log struct {
	Level  slog.Level
	Format string // FormatText or FormatJSON
}

// defaults is the configuration without file, environment and flags. Paths are
// relative to base.
func defaults(base string) Config {
	return Config{
		Addr:        "127.0.0.1:8080",
		DataDir:     filepath.Join(base, "data"),
		Bus:         BusEmbedded,
		StartWithin: 5 * time.Minute,
		Tools: Tools{
			Workspace: filepath.Join(base, "workspace"),
			Isolation: IsolationAuto,
			Network:   NetworkNone,
			Builtin:   builtinTools(),
		},
		Chat: Chat{
			MaxRounds:      50,
			MaxToolCalls:   200,
			MaxResultBytes: 64 << 10,
			HITL:           HITL{Timeout: 3 * time.Minute, HeartbeatInterval: 15 * time.Second},
		},
		Log:     Log{Level: slog.LevelInfo, Format: FormatText},
		origins: origins{},

		ExportLogMetrics: true,
	}
}

func builtinTools() []string { return []string{"Read", "Write", "Edit", "Bash"} }

// Blame returns err as an *Error at the place that the value of a key came from.
// Keys are dotted, elements of lists indexed: "chat.hitl.denied-tools[2]".
func (c Config) Blame(key string, err error) error {
	return problem(c.origins.of(key), err)
}

// origins says for each key where its value came from.
type origins map[string]string

// of returns the place of a key, or of the nearest thing around it that has one.
func (o origins) of(key string) string {
	for k := key; k != ""; {
		if where, ok := o[k]; ok {
			return where
		}
		k = k[:max(0, strings.LastIndexAny(k, ".["))]
	}
	return fmt.Sprintf("default of %s", key)
}
