package events

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SpecVersion is the version of CloudEvents of every envelope.
const SpecVersion = "1.0"

// maxAttributeBytes bounds the attributes that join several names.
const maxAttributeBytes = 2 * MaxNameBytes

// Envelope is a CloudEvents 1.0 event in structured JSON.
type Envelope struct {
	SpecVersion string `json:"specversion"`
	ID          string `json:"id"`     // UUIDv7
	Source      string `json:"source"` // node and boot of the producer: "agentd/NODE/BOOT"
	Type        Type   `json:"type"`
	Subject     string `json:"subject,omitzero"` // what it is about: a call key or a request id
	Time        Time   `json:"time"`             // the producer's claim
	DataSchema  string `json:"dataschema"`       // "/schemas/decision/1"

	SessionID    string `json:"sessionid,omitzero"`
	PartitionKey string `json:"partitionkey"`
	Sequence     string `json:"sequence"`             // decimal, contiguous for each source and session: loss shows
	CausationID  string `json:"causationid,omitzero"` // the event that this answers
	Critical     bool   `json:"critical,omitzero"`    // moves folds
	TraceParent  string `json:"traceparent,omitzero"`

	Data jsontext.Value `json:"data"`
}

// DecodeEnvelope reads an envelope. It refuses repeated and differently-cased
// members and a missing attribute; extension attributes that it does not know
// pass, and null is an attribute that is not set (CloudEvents JSON format). It
// does not read the data: see Event.
func DecodeEnvelope(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) > MaxEnvelopeBytes {
		return e, fmt.Errorf("%w: envelope of %d bytes, the bound is %d", ErrMalformed, len(b), MaxEnvelopeBytes)
	}
	err := json.Unmarshal(b, &e, json.RejectUnknownMembers(true))
	if errors.Is(err, json.ErrUnknownName) {
		e, err = decodeExtended(b)
	}
	if err != nil {
		return Envelope{}, fmt.Errorf("%w: envelope: %w", ErrMalformed, err)
	}
	if err := e.check(); err != nil {
		return Envelope{}, fmt.Errorf("%w: envelope: %w", ErrMalformed, err)
	}
	return e, nil
}

// decodeExtended reads an envelope that has attributes which are not ours.
func decodeExtended(b []byte) (Envelope, error) {
	var e Envelope
	if err := json.Unmarshal(b, &e); err != nil {
		return Envelope{}, err
	}
	return e, checkAttributeNames(b)
}

// checkAttributeNames holds attributes to the naming convention of CloudEvents
// 1.0, lower-case letters and digits, so that no "ID" travels beside "id" for a
// laxer reader to prefer. The envelope has been decoded before.
func checkAttributeNames(b []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(b), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if tok, err := dec.ReadToken(); err != nil || tok.Kind() != '{' {
		return errors.New("is not an object")
	}
	for dec.PeekKind() != '}' {
		name, err := dec.ReadValue()
		if err != nil {
			return err
		}
		for _, c := range name[1 : len(name)-1] {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
				return fmt.Errorf("attribute %.40s: names are lower-case letters and digits", name)
			}
		}
		if err := dec.SkipValue(); err != nil {
			return err
		}
	}
	return nil
}

// Version returns the version of the data that dataschema names, or 0.
func (e Envelope) Version() int {
	rest, ok := strings.CutPrefix(e.DataSchema, SchemaPath(e.Type, 0))
	v, err := strconv.Atoi(rest)
	if !ok || err != nil || v < 1 || strconv.Itoa(v) != rest {
		return 0
	}
	return v
}

// SchemaPath returns where the schema of a type is served; with version 0, the
// path up to the version.
func SchemaPath(t Type, version int) string {
	p := "/schemas/" + string(t) + "/"
	if version == 0 {
		return p
	}
	return p + strconv.Itoa(version)
}

// Event decodes the data. Its errors are ErrUnknownType, ErrUnknownVersion and
// ErrMalformed.
func (e Envelope) Event() (Event, error) {
	if e.Type.Known() && e.Version() == 0 {
		return nil, fmt.Errorf("%w: dataschema %.80q of %s, want %s", ErrUnknownVersion, e.DataSchema, e.Type,
			SchemaPath(e.Type, e.Type.Version()))
	}
	event, err := DecodeData(e.Type, e.Version(), e.Data)
	if err == nil && e.Critical != critical(event) {
		return nil, fmt.Errorf("%w: critical is %t for %s", ErrMalformed, e.Critical, e.Type)
	}
	return event, err
}

func (e Envelope) check() error {
	if e.SpecVersion != SpecVersion {
		return fmt.Errorf("specversion is %.20q, want %q", e.SpecVersion, SpecVersion)
	}
	if err := first(names("id", e.ID, "type", string(e.Type)), labels("sessionid", e.SessionID, "causationid", e.CausationID)); err != nil {
		return err
	}
	// A subject joins a name and a number, a source three names of ours.
	for _, a := range []struct {
		name, value string
		required    bool
	}{
		{"source", e.Source, true},
		{"subject", e.Subject, false},
		{"dataschema", e.DataSchema, true},
		{"partitionkey", e.PartitionKey, true},
		{"traceparent", e.TraceParent, false},
	} {
		if a.required && a.value == "" {
			return fmt.Errorf("%s is missing", a.name)
		}
		if len(a.value) > maxAttributeBytes {
			return fmt.Errorf("%s has %d bytes, the bound is %d", a.name, len(a.value), maxAttributeBytes)
		}
	}
	return e.checkValues()
}

func (e Envelope) checkValues() error {
	if e.Time.IsZero() {
		return errors.New("time is missing")
	}
	if _, err := strconv.ParseUint(e.Sequence, 10, 64); err != nil || !decimal(e.Sequence) {
		return fmt.Errorf("sequence %.40q is not a decimal number", e.Sequence)
	}
	if len(e.Data) == 0 {
		return errors.New("data is missing")
	}
	return nil
}
