package events

import (
	"bytes"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// The bounds of arguments beyond their size. A number of a few bytes can stand
// for more digits than any memory holds: what calculates with it (a schema, a
// tool, a page) must not meet one. The bounds leave room for every float64, and
// for integers far beyond 64 bits.
const (
	MaxDepth       = 64   // levels of nesting
	MaxNumberBytes = 1024 // of one number as it is written
	MaxExponent    = 400  // magnitude of what follows a number's e
)

// ErrArguments is the class of errors of DecodeArguments: the text is kept and
// shown, the call gets an error result, and nobody is asked.
var ErrArguments = errors.New("arguments are not valid")

// Arguments are a call's arguments after the one strict decoder that policy,
// pages, schema check and tools share.
type Arguments struct {
	// Text is what the tool gets: the model's own text, or "{}" where that was
	// absent, null or empty.
	Text []byte
	// Value is Text as Go values, numbers as json.Number with every digit.
	Value map[string]any
}

// DecodeArguments reads the arguments of a call. Absent, null and empty are
// {}. It refuses what is not one JSON object (RFC 8259), repeated names,
// invalid UTF-8, nesting beyond MaxDepth, and numbers beyond MaxNumberBytes or
// MaxExponent. Numbers within the bounds keep their spelling.
func DecodeArguments(text []byte) (Arguments, error) {
	// JSON's white space alone: bytes.TrimSpace would take a no-break space.
	if trimmed := bytes.Trim(text, " \t\r\n"); len(trimmed) == 0 || string(trimmed) == "null" {
		return Arguments{Text: []byte("{}"), Value: map[string]any{}}, nil
	}
	dec := jsontext.NewDecoder(bytes.NewReader(text))
	v, err := decodeValue(dec)
	if err != nil {
		return Arguments{}, fmt.Errorf("%w: %w", ErrArguments, err)
	}
	object, ok := v.(map[string]any)
	if !ok {
		return Arguments{}, fmt.Errorf("%w: they must be one JSON object", ErrArguments)
	}
	if _, err := dec.ReadToken(); !errors.Is(err, io.EOF) {
		return Arguments{}, fmt.Errorf("%w: something follows the object", ErrArguments)
	}
	return Arguments{Text: text, Value: object}, nil
}

func decodeValue(dec *jsontext.Decoder) (any, error) {
	switch kind := dec.PeekKind(); {
	case (kind == '{' || kind == '[') && dec.StackDepth() >= MaxDepth:
		return nil, fmt.Errorf("nested deeper than %d levels", MaxDepth)
	case kind == '{':
		return decodeObject(dec)
	case kind == '[':
		return decodeArray(dec)
	}
	tok, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch tok.Kind() {
	case '"':
		return tok.String(), nil
	case '0':
		n := stdjson.Number(tok.String())
		return n, CheckNumber(n)
	case 'n':
		return nil, nil //nolint:nilnil // JSON null is a value
	default:
		return tok.Bool(), nil
	}
}

// CheckNumber refuses a JSON number that nobody should calculate with: one
// beyond MaxNumberBytes or MaxExponent.
func CheckNumber(n stdjson.Number) error {
	if len(n) > MaxNumberBytes {
		return fmt.Errorf("a number of %d bytes; at most %d are allowed", len(n), MaxNumberBytes)
	}
	if at := strings.IndexAny(string(n), "eE"); at >= 0 {
		exponent, err := strconv.Atoi(string(n[at+1:]))
		if err != nil || max(exponent, -exponent) > MaxExponent {
			return fmt.Errorf("the number %.40s has an exponent beyond %d", n, MaxExponent)
		}
	}
	return nil
}

func decodeObject(dec *jsontext.Decoder) (any, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	object := map[string]any{}
	for dec.PeekKind() != '}' {
		tok, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		key := tok.String()
		if object[key], err = decodeValue(dec); err != nil {
			return nil, err
		}
	}
	_, err := dec.ReadToken()
	return object, err
}

func decodeArray(dec *jsontext.Decoder) (any, error) {
	if _, err := dec.ReadToken(); err != nil {
		return nil, err
	}
	array := []any{}
	for dec.PeekKind() != ']' {
		v, err := decodeValue(dec)
		if err != nil {
			return nil, err
		}
		array = append(array, v)
	}
	_, err := dec.ReadToken()
	return array, err
}
