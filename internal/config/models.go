package config

import (
	"errors"
	"slices"
	"strings"
)

func (d decoder) models(v value) error {
	elements, err := v.list()
	if err != nil {
		return err
	}
	for _, element := range elements {
		m, err := d.model(element)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(d.c.Models, func(o Model) bool { return o.Name == m.Name }) {
			return element.errorf("expected each name once, found %s again; name this model otherwise", clip(m.Name))
		}
		d.c.Models = append(d.c.Models, m)
	}
	return nil
}

func (d decoder) model(v value) (Model, error) {
	var m Model
	err := v.read(fields{
		"name": into(&m.Name, parseLabel),
		"provider": into(&m.Provider, func(s string) (string, error) {
			return parseBuilt(s, []string{ProviderOpenAI, ProviderScript}, "anthropic")
		}),
		"base-url":    into(&m.BaseURL, parseBaseURL),
		"model":       into(&m.Model, parseLabel),
		"api-key-env": into(&m.APIKeyEnv, parseVariable),
		"file":        into(&m.File, d.path),
	})
	if err != nil {
		return Model{}, err
	}
	if err := v.need("name", "provider"); err != nil {
		return Model{}, err
	}
	return m, v.suits(m)
}

// suits refuses keys that are another provider's.
func (v value) suits(m Model) error {
	needs, others := []string{"base-url", "model"}, []string{"file"}
	if m.Provider == ProviderScript {
		needs, others = []string{"file"}, []string{"base-url", "model", "api-key-env"}
	}
	for _, name := range others {
		if v.has(name) {
			return v.errorf("expected no key %s with provider %s; remove it", name, m.Provider)
		}
	}
	return v.need(needs...)
}

// parseVariable reads the name of an environment variable. A key pasted in its
// place must not reach a message, so what was found is not repeated.
func parseVariable(s string) (string, error) {
	if s == "" || len(s) > 64 || !isWord(s) || strings.Contains(s, "-") || s[0] >= '0' && s[0] <= '9' {
		return "", errors.New("expected the name of an environment variable such as OPENAI_API_KEY; put the key itself into that variable")
	}
	return s, nil
}
