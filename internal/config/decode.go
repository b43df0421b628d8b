package config

import (
	"strings"
	"time"
)

// decoder writes the values of a file into a Config. Relative paths are
// relative to base.
type decoder struct {
	c    *Config
	base string
}

// path parses a path of the file.
func (d decoder) path(s string) (string, error) { return parsePath(s, d.base) }

// root reads all of the file.
func (d decoder) root(v value) error {
	known := d.settings("")
	known["allowed-origins"] = intoList(&d.c.AllowedOrigins, parseOrigin)
	known["models"] = d.models
	known["tools"] = d.tools
	known["chat"] = d.chat
	known["auth"] = d.auth
	known["log"] = func(v value) error { return v.read(d.settings("log.")) }
	for _, key := range notBuilt() {
		known[key] = refuse
	}
	return v.read(known)
}

// refuse is the reader of a key whose part this version does not have.
func refuse(v value) error { return v.wrap(ErrNotInVersion) }

// settings are the readers of the single values directly below a prefix.
func (d decoder) settings(prefix string) fields {
	known := fields{}
	for _, s := range settings() {
		name, below := strings.CutPrefix(s.key, prefix)
		if below && !strings.Contains(name, ".") {
			known[name] = func(v value) error { return d.setting(v, s) }
		}
	}
	return known
}

func (d decoder) setting(v value, s setting) error {
	read := v.text
	switch {
	case s.whole:
		read = v.number
	case s.truth:
		read = v.truthText
	case s.span:
		read = v.durationText
	}
	text, err := read()
	if err != nil {
		return err
	}
	if err := s.set(d.c, text, d.base); err != nil {
		return v.wrap(err)
	}
	return nil
}

func (d decoder) chat(v value) error {
	known := d.settings("chat.")
	known["hitl"] = d.hitl
	return v.read(known)
}

func (d decoder) hitl(v value) error {
	h := &d.c.Chat.HITL
	return v.read(fields{
		"required-tools": func(v value) error {
			h.RequiredSet = true
			return intoList(&h.RequiredTools, parseLabel)(v)
		},
		"allowed-tools":      intoList(&h.AllowedTools, parseLabel),
		"denied-tools":       intoList(&h.DeniedTools, parseLabel),
		"timeout":            intoDuration(&h.Timeout, time.Millisecond, maxWait),
		"heartbeat-interval": intoDuration(&h.HeartbeatInterval, 10*time.Millisecond, 5*time.Minute),
		"non-streaming":      refuse,
		"rules":              refuse,
	})
}
