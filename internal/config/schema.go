package config

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"
)

// readSchema reads a JSON Schema written as YAML: the same JSON, with keys in
// their order and numbers with their digits.
func readSchema(v value) (json.RawMessage, error) {
	var out bytes.Buffer
	if err := writeJSON(jsontext.NewEncoder(&out), v); err != nil {
		return nil, err
	}
	schema := bytes.TrimSpace(out.Bytes())
	if err := compiles(schema); err != nil {
		return nil, v.wrap(err)
	}
	return schema, nil
}

// compiles refuses what is not a JSON Schema of an arguments object.
func compiles(schema []byte) error {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema))
	if err != nil {
		return fmt.Errorf("expected a JSON Schema: %w", err)
	}
	if m, ok := doc.(map[string]any); !ok || m["type"] != "object" {
		return errors.New("expected a JSON Schema with type: object, because arguments are an object")
	}
	const self = "mem:///schema"
	compiler := jsonschema.NewCompiler()
	compiler.DefaultDraft(jsonschema.Draft2020)
	compiler.UseLoader(nowhere{})
	if err := compiler.AddResource(self, doc); err != nil {
		return fmt.Errorf("expected a JSON Schema: %w", err)
	}
	if _, err := compiler.Compile(self); err != nil {
		return fmt.Errorf("expected a JSON Schema: %w", err)
	}
	return nil
}

// nowhere loads no schema but the one given: a reference to a file or server
// would change what is judged without the configuration changing.
type nowhere struct{}

func (nowhere) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the schema; write it into $defs", clip(url))
}

// writeJSON writes a YAML value as JSON.
func writeJSON(e *jsontext.Encoder, v value) error {
	switch v.node.Kind {
	case yaml.MappingNode:
		return writeObject(e, v)
	case yaml.SequenceNode:
		return writeArray(e, v)
	case yaml.ScalarNode:
		token, err := scalarToken(v)
		if err != nil {
			return err
		}
		return v.written(e.WriteToken(token))
	case yaml.AliasNode, yaml.DocumentNode: // parsing refused them
	}
	return v.errorf("expected a value, found %s", v.found())
}

func writeObject(e *jsontext.Encoder, v value) error {
	entries, err := v.entries()
	if err != nil {
		return err
	}
	if err := e.WriteToken(jsontext.BeginObject); err != nil {
		return v.written(err)
	}
	for name, entry := range entries {
		if err := e.WriteToken(jsontext.String(name)); err != nil {
			return v.written(err)
		}
		if err := writeJSON(e, entry); err != nil {
			return err
		}
	}
	return v.written(e.WriteToken(jsontext.EndObject))
}

func writeArray(e *jsontext.Encoder, v value) error {
	elements, err := v.list()
	if err != nil {
		return err
	}
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return v.written(err)
	}
	for _, element := range elements {
		if err := writeJSON(e, element); err != nil {
			return err
		}
	}
	return v.written(e.WriteToken(jsontext.EndArray))
}

// written reports what the encoder refused, at v.
func (v value) written(err error) error {
	if err == nil {
		return nil
	}
	return v.errorf("expected what JSON can say: %w", err)
}

// scalarToken is a YAML scalar in JSON. Dates are text; numbers must be written
// as JSON writes them.
func scalarToken(v value) (jsontext.Token, error) {
	switch text := v.node.Value; v.node.ShortTag() {
	case "!!null":
		return jsontext.Null, nil
	case "!!bool":
		truth, err := v.truth()
		return jsontext.Bool(truth), err
	case "!!int", "!!float":
		number := jsontext.Value(text)
		if number.Kind() != jsontext.KindNumber || !number.IsValid() {
			return jsontext.Token{}, v.errorf("expected a number as in JSON, or text in quotes, found %s", clip(text))
		}
		return numberToken(text)
	default:
		return jsontext.String(text), nil
	}
}

// numberToken keeps the digits of a valid JSON number.
func numberToken(text string) (jsontext.Token, error) {
	token, err := jsontext.NewDecoder(bytes.NewReader([]byte(text))).ReadToken()
	return token.Clone(), err
}
