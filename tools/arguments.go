package tools

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// decode reads the arguments of a call into a struct: exact names, none twice,
// none unknown.
func decode(arguments []byte, into any) error {
	if err := json.Unmarshal(argumentText(arguments), into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return nil
}

// argumentText is the text of a call's arguments: absent, null and empty are {}.
func argumentText(arguments []byte) []byte {
	trimmed := bytes.TrimSpace(arguments)
	if len(trimmed) == 0 || string(trimmed) == "null" {
		return []byte("{}")
	}
	return arguments
}

// require refuses arguments that lack a member, with its name.
func require(name string, value *string) error {
	if value == nil {
		return fmt.Errorf("%w: %q is missing", ErrArguments, name)
	}
	return nil
}

// checkSchema refuses a schema that is not one, or not one of an object, or
// that refers to another document.
func checkSchema(schema []byte) error {
	var head struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(schema, &head); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if head.Type != "object" {
		return errors.New(`schema: arguments are an object: "type" must be "object"`)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.UseLoader(noLoader{})
	if err := compiler.AddResource("arguments.json", document); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	if _, err := compiler.Compile("arguments.json"); err != nil {
		return fmt.Errorf("schema: %w", err)
	}
	return nil
}

// noLoader keeps schemas from reading files and networks.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s: a schema may not refer to other documents", url)
}
