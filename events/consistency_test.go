package events_test

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

// One list of types; the table of the codec, the schemas, the samples and the
// golden files have each of them and no other.
func TestTypesAgreeEverywhere(t *testing.T) {
	var schemas, golden []string
	for _, typ := range events.AllTypes() {
		require.True(t, typ.Known(), "%s has no Go type in the codec's table", typ)
		require.Equal(t, typ, eventstest.Sample(typ).Data.Type())
		for version := 1; version <= typ.Version(); version++ {
			schemas = append(schemas, fmt.Sprintf("%s/%d.json", typ, version))
			golden = append(golden, fmt.Sprintf("%s.%d.json", typ, version))
		}
	}
	schemas = append(schemas, "envelope/1.json")
	slices.Sort(schemas)
	slices.Sort(golden)

	files, err := events.Schemas()
	require.NoError(t, err)
	embedded, err := fs.Glob(files, "*/*.json")
	require.NoError(t, err)
	require.Equal(t, schemas, embedded)
	onDisk, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	require.NoError(t, err)
	for i, path := range onDisk {
		onDisk[i] = filepath.Base(path)
	}
	require.Equal(t, golden, onDisk)

	require.False(t, events.Type("envelope").Known())
	require.False(t, events.Type("").Known())
}

// A type constant that AllTypes has forgotten would be a type that nothing here
// tests.
func TestAllTypesHasEveryConstant(t *testing.T) {
	text, err := os.ReadFile("types.go")
	require.NoError(t, err)
	constants := regexp.MustCompile(`(?m)^\tType\w+ +Type = "(\w+)"$`).FindAllSubmatch(text, -1)
	require.NotEmpty(t, constants)
	var names []events.Type
	for _, c := range constants {
		names = append(names, events.Type(c[1]))
	}
	require.Equal(t, names, events.AllTypes())
}

func TestCriticalTypes(t *testing.T) {
	critical := []events.Type{
		"tool_call", "approval_request", "revision", "decision", "revocation", "tool_started", "tool_result",
		"run_started", "run_cancelled", "run_finished", "round_finished", "subagent_started", "subagent_finished",
	}
	for _, typ := range events.AllTypes() {
		require.Equal(t, slices.Contains(critical, typ), typ.Critical(), typ)
	}
	require.False(t, events.Type("of_a_later_build").Critical())
}

// A recovered of a rollback moves folds, so a build that does not know its version
// must not go on without it. One without is what it always was.
func TestVersionsOfRecovered(t *testing.T) {
	first := mintSampleOf(t, events.TypeRecovered, 1).Envelope
	second := mintSampleOf(t, events.TypeRecovered, 2).Envelope
	for _, c := range []struct {
		name     string
		envelope []byte
		was, now string
		want     error
	}{
		{"the first", first, "", "", nil},
		{"the second", second, "", "", nil},
		{"the first, claiming to move folds", first, `"sequence":"0"`, `"sequence":"0","critical":true`, events.ErrMalformed},
		{"the second, denying it", second, `"critical":true,`, ``, events.ErrMalformed},
		{"the second as the first", second, `/recovered/2`, `/recovered/1`, events.ErrMalformed},
		{"the first as the second", first, `/recovered/1`, `/recovered/2`, events.ErrMalformed},
		{"a third", second, `/recovered/2`, `/recovered/3`, events.ErrUnknownVersion},
		{"of a kind that there is not", second, `"kind":"shorter"`, `"kind":"longer"`, events.ErrMalformed},
	} {
		_, _, err := decode([]byte(strings.Replace(string(c.envelope), c.was, c.now, 1)))
		require.ErrorIs(t, err, c.want, c.name)
	}
}

// node is the part of a schema that tests read.
type node struct {
	ID         string          `json:"$id"`
	Ref        string          `json:"$ref"`
	Type       string          `json:"type"`
	Format     string          `json:"format"`
	Enum       []string        `json:"enum"`
	Const      any             `json:"const"`
	Pattern    string          `json:"pattern"`
	MinLength  int             `json:"minLength"`
	Minimum    *int64          `json:"minimum"`
	Maximum    *int64          `json:"maximum"`
	Not        *node           `json:"not"`
	Properties map[string]node `json:"properties"`
	Required   []string        `json:"required"`
	Additional any             `json:"additionalProperties"`
	Items      *node           `json:"items"`
	Defs       map[string]node `json:"$defs"`

	least int // elements of a list, set by the tests
}

func readSchema(t *testing.T, typ events.Type) node {
	t.Helper()
	b, err := events.Schema(typ, 1)
	require.NoError(t, err)
	var n node
	require.NoError(t, json.Unmarshal(b, &n))
	return n
}

func TestEveryMemberIsInItsSchemaInSnakeCase(t *testing.T) {
	snake := regexp.MustCompile(`^[a-z]+(_[a-z]+)*$`)
	for _, typ := range events.AllTypes() {
		root := readSchema(t, typ)
		require.Equal(t, events.SchemaPath(typ, 1), root.ID)
		var doc map[string]any
		b, err := json.Marshal(eventstest.Sample(typ).Data)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(b, &doc))
		walk(t, root, root, doc, func(path, name string) { require.Regexp(t, snake, name, path) })
	}
}

// walk holds a whole sample against its schema: each has the other's members.
func walk(t *testing.T, root, n node, value any, visit func(path, name string)) {
	t.Helper()
	if n.Ref != "" {
		n = root.Defs[filepath.Base(n.Ref)]
	}
	switch value := value.(type) {
	case map[string]any:
		require.Equal(t, false, n.Additional, "%s is open", root.ID)
		for name, v := range value {
			visit(root.ID, name)
			require.Contains(t, n.Properties, name, root.ID)
			walk(t, root, n.Properties[name], v, visit)
		}
		for name := range n.Properties {
			if name != "in" && name != "truncated_from" {
				require.Contains(t, value, name, root.ID)
			}
		}
	case []any:
		require.NotNil(t, n.Items, root.ID)
		walk(t, root, *n.Items, value[0], visit)
	}
}

func TestEnvelopeSchemaHasEveryAttribute(t *testing.T) {
	b, err := events.EnvelopeSchema()
	require.NoError(t, err)
	var n node
	require.NoError(t, json.Unmarshal(b, &n))
	for f := range reflect.TypeFor[events.Envelope]().Fields() {
		name := regexp.MustCompile(`^[a-z0-9]+`).FindString(f.Tag.Get("json"))
		require.Contains(t, n.Properties, name)
	}
	require.Len(t, n.Properties, reflect.TypeFor[events.Envelope]().NumField())
}

func TestSchemaRefusesWhatHasNone(t *testing.T) {
	for _, tc := range []struct {
		typ     events.Type
		version int
	}{{"decision", 0}, {"decision", 2}, {"no_such_type", 1}, {"", 1}, {"../schema/decision", 1}, {"/etc", 1}} {
		_, err := events.Schema(tc.typ, tc.version)
		require.ErrorIs(t, err, events.ErrUnknownType, "%s %d", tc.typ, tc.version)
	}
}

func TestTypesThatBeginWork(t *testing.T) {
	begin := []events.Type{"tool_call", "approval_request", "tool_started", "run_started", "access"}
	for _, typ := range events.AllTypes() {
		require.Equal(t, slices.Contains(begin, typ), typ.Begins(), typ)
	}
}
