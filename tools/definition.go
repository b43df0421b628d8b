package tools

import (
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// definition is the recorded form of a tool. Its bytes are hashed: a member may
// be added only if it is left out where it is empty.
type definition struct {
	Name         string         `json:"name"`
	Description  string         `json:"description"`
	Source       string         `json:"source"`
	Schema       jsontext.Value `json:"schema"`
	ReadOnly     bool           `json:"read_only"`
	ReturnDirect bool           `json:"return_direct"`
	Isolation    string         `json:"isolation"`
	Command      []string       `json:"command,omitzero"`
	Executable   *executable    `json:"executable,omitzero"`
}

// executable is the program that a tool runs.
type executable struct {
	Path   string `json:"path"`
	SHA256 string `json:"sha256"` // of its content
}

// Definition returns what a tool is, as canonical JSON for the log: its SHA-256
// is the tool's digest. Members are in order (RFC 8785) and white space is
// gone, but numbers keep the digits that they have in the schema, so that no
// two different schemas look the same. A tool that is a command has that too,
// and one that runs a program the digest of its content.
// The error is a schema that is not strict JSON.
func Definition(tool agent.Tool) ([]byte, error) {
	spec := tool.Spec()
	d := definition{
		Name: spec.Name, Description: spec.Description, Source: spec.Source, Schema: jsontext.Value(spec.Schema),
		ReadOnly: spec.ReadOnly, ReturnDirect: spec.ReturnDirect, Isolation: spec.Isolation,
	}
	if command, ok := tool.(interface{ Command() []string }); ok {
		d.Command = command.Command()
	}
	if run, ok := tool.(interface{ Program() (path, sha256 string) }); ok {
		d.Executable = &executable{}
		d.Executable.Path, d.Executable.SHA256 = run.Program()
	}
	text, err := json.Marshal(d)
	if err != nil {
		return nil, fmt.Errorf("definition of tool %q: %w", spec.Name, err)
	}
	value := jsontext.Value(text)
	if err := value.Canonicalize(jsontext.CanonicalizeRawInts(false), jsontext.CanonicalizeRawFloats(false)); err != nil {
		return nil, fmt.Errorf("definition of tool %q: %w", spec.Name, err)
	}
	return value, nil
}
