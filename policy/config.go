package policy

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
)

// What holds where a Config leaves a duration out.
const (
	DefaultTimeout     = 3 * time.Minute
	DefaultStartWithin = 5 * time.Minute
)

// minDuration is the shortest term: below it nobody can answer, and a record
// in milliseconds would say zero.
const minDuration = time.Millisecond

// format names the rules of matching and the document's members. Another
// meaning for the same entries needs another name.
const format = "countersign/policy/1"

// Config is what the operator wrote.
type Config struct {
	RequiredTools []string // these ask
	AllowedTools  []string // these are free
	DeniedTools   []string // these never run
	// RequiredSet says that required-tools was given, even empty: then what it
	// does not name is free. Entries in RequiredTools imply it.
	RequiredSet bool
	// Timeout is how long a request waits for people. Zero is "not given" and
	// means DefaultTimeout; who reads configuration refuses a written zero.
	Timeout time.Duration
	// StartWithin is how long an approval stays good. Zero is "not given" and
	// means DefaultStartWithin.
	StartWithin time.Duration
}

// ConfigError is one thing that is wrong with a Config.
type ConfigError struct {
	Key     string // as in the configuration file: "required-tools"
	Index   int    // of the entry in its list, from 0; -1 where Key is no list
	Value   string
	Problem string // what is wrong, and what to do
}

// Error names key, place, value and problem in one line.
func (e *ConfigError) Error() string {
	if e.Index < 0 {
		return fmt.Sprintf("%s: %s: %s", e.Key, e.Value, e.Problem)
	}
	return fmt.Sprintf("%s: entry %d %+q: %s", e.Key, e.Index+1, e.Value, e.Problem)
}

// Compile checks a Config and makes it ready. The error joins a *[ConfigError]
// for each thing that is wrong.
func Compile(c Config) (*Policy, error) {
	p := &Policy{
		requiredSet: c.RequiredSet || len(c.RequiredTools) > 0,
		timeout:     cmp.Or(c.Timeout, DefaultTimeout),
		startWithin: cmp.Or(c.StartWithin, DefaultStartWithin),
	}
	var errs [5]error
	p.required, errs[0] = compileList(RuleRequired, c.RequiredTools)
	p.allowed, errs[1] = compileList(RuleAllowed, c.AllowedTools)
	p.denied, errs[2] = compileList(RuleDenied, c.DeniedTools)
	errs[3] = checkDuration("timeout", p.timeout)
	errs[4] = checkDuration("start-within", p.startWithin)
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	if err := p.seal(); err != nil {
		return nil, err
	}
	return p, nil
}

// compileList turns a list into entries without repetitions, names before
// globs, so that a verdict names the most exact entry.
func compileList(key string, texts []string) ([]entry, error) {
	var entries []entry
	var errs []error
	for i, text := range texts {
		if problem := checkEntry(text); problem != "" {
			errs = append(errs, &ConfigError{Key: key, Index: i, Value: text, Problem: problem})
			continue
		}
		entries = append(entries, newEntry(text))
	}
	slices.SortFunc(entries, entry.compare)
	entries = slices.CompactFunc(entries, func(a, b entry) bool { return a.text == b.text })
	return entries, errors.Join(errs...)
}

func checkDuration(key string, d time.Duration) error {
	if d >= minDuration {
		return nil
	}
	problem := fmt.Sprintf("must be at least %v; leave it out for the default", minDuration)
	return &ConfigError{Key: key, Index: -1, Value: d.String(), Problem: problem}
}

// document is the stored form of a policy. It may gain members, under another
// format.
type document struct {
	Allowed     []string `json:"allowed_tools"`
	Denied      []string `json:"denied_tools"`
	Format      string   `json:"format"`
	Required    []string `json:"required_tools,omitzero"` // absent: not given
	StartWithin string   `json:"start_within"`
	Timeout     string   `json:"timeout"`
}

// seal writes the document and its digest.
func (p *Policy) seal() error {
	d := document{
		Format: format, Allowed: texts(p.allowed), Denied: texts(p.denied),
		Timeout: p.timeout.String(), StartWithin: p.startWithin.String(),
	}
	if p.requiredSet {
		d.Required = texts(p.required)
	}
	doc, err := json.Marshal(d)
	if err != nil {
		return fmt.Errorf("write the policy's document: %w", err)
	}
	if err := (*jsontext.Value)(&doc).Canonicalize(); err != nil {
		return fmt.Errorf("write the policy's document: %w", err)
	}
	p.document, p.digest = doc, string(events.DigestOf(doc))
	return nil
}

// texts returns what the operator wrote, in the order of bytes; never nil.
func texts(entries []entry) []string {
	out := make([]string, 0, len(entries))
	for _, e := range entries {
		out = append(out, e.text)
	}
	slices.Sort(out)
	return out
}

// Document returns the policy as canonical JSON (RFC 8785): the content of its
// `definition` event. Policies that judge by the same entries and terms have
// the same document, in whatever order they were written.
func (p *Policy) Document() []byte { return slices.Clone(p.document) }

// Digest returns the SHA-256 of Document in lower-case hex.
func (p *Policy) Digest() string { return p.digest }
