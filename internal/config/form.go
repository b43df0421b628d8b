package config

import (
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// form is the configuration as the file writes it.
type form struct {
	Addr           string      `json:"addr"`
	PublicURL      string      `json:"public-url,omitempty"`
	AllowedOrigins []string    `json:"allowed-origins,omitempty"`
	DataDir        string      `json:"data-dir"`
	Bus            string      `json:"bus"`
	Models         []modelForm `json:"models,omitempty"`
	Tools          toolsForm   `json:"tools"`
	StartWithin    string      `json:"start-within"`
	Chat           chatForm    `json:"chat"`
	Auth           *authForm   `json:"auth,omitempty"`
	LogMetrics     bool        `json:"export-log-metrics"`
	HeadFile       string      `json:"head-file,omitempty"`
	Log            logForm     `json:"log"`
}

type modelForm struct {
	Name      string `json:"name"`
	Provider  string `json:"provider"`
	BaseURL   string `json:"base-url,omitempty"`
	Model     string `json:"model,omitempty"`
	APIKeyEnv string `json:"api-key-env,omitempty"`
	File      string `json:"file,omitempty"`
}

type toolsForm struct {
	Workspace string       `json:"workspace"`
	Isolation string       `json:"isolation"`
	Network   string       `json:"network,omitempty"`
	Ports     []uint16     `json:"network-ports,omitempty"`
	Builtin   []string     `json:"builtin"`
	Custom    []customForm `json:"custom,omitempty"`
}

type customForm struct {
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Schema       jsontext.Value `json:"schema"`
	Command      []string       `json:"command"`
	Timeout      string         `json:"timeout"`
	ReturnDirect bool           `json:"return-direct"`
}

type chatForm struct {
	System         string   `json:"system,omitempty"`
	MaxRounds      int      `json:"max-rounds"`
	MaxToolCalls   int      `json:"max-tool-calls"`
	MaxResultBytes int      `json:"max-result-bytes"`
	HITL           hitlForm `json:"hitl"`
}

type hitlForm struct {
	RequiredTools     *[]string `json:"required-tools,omitzero"` // nil and empty differ
	AllowedTools      []string  `json:"allowed-tools,omitempty"`
	DeniedTools       []string  `json:"denied-tools,omitempty"`
	Timeout           string    `json:"timeout"`
	HeartbeatInterval string    `json:"heartbeat-interval"`
}

type authForm struct {
	Tokens []tokenForm `json:"tokens"`
}

type tokenForm struct {
	Name   string   `json:"name"`
	Person string   `json:"person,omitempty"`
	SHA256 string   `json:"sha256"`
	Roles  []string `json:"roles"`
	Groups []string `json:"groups,omitempty"`
}

type logForm struct {
	Level  string `json:"level"`
	Format string `json:"format"`
}

// form returns c as the file would write it, with hashes of tokens masked: they
// are no secret where tokens are random, but not every token is.
func (c Config) form() form {
	f := form{
		Addr: c.Addr, PublicURL: c.PublicURL, AllowedOrigins: c.AllowedOrigins, DataDir: c.DataDir, Bus: c.Bus,
		StartWithin: short(c.StartWithin),
		Tools: toolsForm{
			Workspace: c.Tools.Workspace, Isolation: c.Tools.Isolation,
			Network: c.Tools.Network, Ports: c.Tools.NetworkPorts, Builtin: c.Tools.Builtin,
		},
		Chat: chatForm{
			System: c.Chat.System, MaxRounds: c.Chat.MaxRounds, MaxToolCalls: c.Chat.MaxToolCalls, MaxResultBytes: c.Chat.MaxResultBytes,
			HITL: hitlForm{
				AllowedTools: c.Chat.HITL.AllowedTools, DeniedTools: c.Chat.HITL.DeniedTools,
				Timeout: short(c.Chat.HITL.Timeout), HeartbeatInterval: short(c.Chat.HITL.HeartbeatInterval),
			},
		},
		LogMetrics: c.ExportLogMetrics, HeadFile: c.HeadFile,
		Log: logForm{Level: strings.ToLower(c.Log.Level.String()), Format: c.Log.Format},
	}
	if c.Tools.Isolation == IsolationNone {
		f.Tools.Network = "" // whoever is not shut off has what agentd has
	}
	if c.Chat.HITL.RequiredSet {
		f.Chat.HITL.RequiredTools = &c.Chat.HITL.RequiredTools
	}
	for _, m := range c.Models {
		f.Models = append(f.Models, modelForm(m))
	}
	for _, t := range c.Tools.Custom {
		f.Tools.Custom = append(f.Tools.Custom, customForm{t.Name, t.Description, jsontext.Value(t.Schema), t.Command, short(t.Timeout), t.ReturnDirect})
	}
	if len(c.Auth.Tokens) > 0 {
		f.Auth = &authForm{}
	}
	for _, t := range c.Auth.Tokens {
		f.Auth.Tokens = append(f.Auth.Tokens, tokenForm{t.Name, t.Person, masked, t.Roles, t.Groups})
	}
	return f
}
