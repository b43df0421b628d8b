package events

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// SpecVersion is the version of CloudEvents of every envelope.
const SpecVersion = "1.0"

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
// pass. It does not read the data: see Event.
func DecodeEnvelope(b []byte) (Envelope, error) {
	var e Envelope
	if len(b) > MaxEnvelopeBytes {
		return e, fmt.Errorf("%w: envelope of %d bytes, the bound is %d", ErrMalformed, len(b), MaxEnvelopeBytes)
	}
	if err := json.Unmarshal(b, &e); err != nil {
		return Envelope{}, fmt.Errorf("%w: envelope: %w", ErrMalformed, err)
	}
	if err := e.check(); err != nil {
		return Envelope{}, fmt.Errorf("%w: envelope: %w", ErrMalformed, err)
	}
	return e, nil
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
	return DecodeData(e.Type, e.Version(), e.Data)
}

func (e Envelope) check() error {
	if e.SpecVersion != SpecVersion {
		return fmt.Errorf("specversion is %.20q, want %q", e.SpecVersion, SpecVersion)
	}
	for _, a := range []struct{ name, value string }{
		{"id", e.ID},
		{"source", e.Source},
		{"type", string(e.Type)},
		{"dataschema", e.DataSchema},
		{"partitionkey", e.PartitionKey},
		{"sequence", e.Sequence},
	} {
		if a.value == "" {
			return fmt.Errorf("%s is missing", a.name)
		}
	}
	for _, s := range []string{e.ID, e.Source, string(e.Type), e.Subject, e.DataSchema, e.SessionID, e.PartitionKey, e.Sequence, e.CausationID, e.TraceParent} {
		if len(s) > 2*MaxNameBytes {
			return fmt.Errorf("an attribute of %d bytes, the bound is %d", len(s), 2*MaxNameBytes)
		}
	}
	if len(e.ID) > MaxNameBytes || len(e.SessionID) > MaxNameBytes {
		return fmt.Errorf("id or sessionid is beyond %d bytes", MaxNameBytes)
	}
	if e.Time.IsZero() {
		return fmt.Errorf("time is missing")
	}
	if !digits(e.Sequence) {
		return fmt.Errorf("sequence %.40q is not a decimal number", e.Sequence)
	}
	if len(e.Data) == 0 {
		return fmt.Errorf("data is missing")
	}
	return nil
}
