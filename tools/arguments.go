package tools

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"math/big"

	"github.com/go-json-experiment/json"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign-dev/countersign/events"
)

// decode reads the arguments of a call into a struct: exact names, none twice,
// none unknown.
func decode(arguments []byte, into any) error {
	if err := json.Unmarshal(argumentText(arguments), into, json.RejectUnknownMembers(true)); err != nil {
		return fmt.Errorf("%w: %w", ErrArguments, err)
	}
	return nil
}

// whole is an integer as JSON Schema has it: a number without a fraction,
// however it is spelt (5, 5.0, 5e3).
type whole int64

// UnmarshalJSON implements json.Unmarshaler.
func (n *whole) UnmarshalJSON(text []byte) error {
	if err := events.CheckNumber(stdjson.Number(text)); err != nil {
		return err
	}
	r, ok := new(big.Rat).SetString(string(text))
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return fmt.Errorf("%.40s is no integer of 64 bits", text)
	}
	*n = whole(r.Num().Int64())
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

// needs refuses arguments that lack a member, with its name.
func needs(name string, value *string) error {
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
