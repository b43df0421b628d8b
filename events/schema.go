package events

import (
	"embed"
	"fmt"
	"io/fs"
	"strconv"
)

//go:generate go run -tags sqlite_fts5 ./internal/schemagen

//go:embed schema
var schemaFiles embed.FS // read-only

// EnvelopeSchemaVersion is the version of the schema of envelopes, which stands
// beside those of the types under the name "envelope".
const EnvelopeSchemaVersion = 1

// Schemas returns the JSON Schemas (2020-12) of all types and of the envelope,
// as files TYPE/VERSION.json.
func Schemas() (fs.FS, error) { return fs.Sub(schemaFiles, "schema") }

// Schema returns the JSON Schema (2020-12) of the data of a type; its $id is
// SchemaPath. For names and versions that have none the error is
// ErrUnknownType.
func Schema(t Type, version int) ([]byte, error) {
	b, err := schemaFiles.ReadFile("schema/" + string(t) + "/" + strconv.Itoa(version) + ".json")
	if err != nil {
		return nil, fmt.Errorf("%w: no schema %.80q version %d", ErrUnknownType, string(t), version)
	}
	return b, nil
}

// EnvelopeSchema returns the JSON Schema (2020-12) of envelopes.
func EnvelopeSchema() ([]byte, error) { return Schema("envelope", EnvelopeSchemaVersion) }
