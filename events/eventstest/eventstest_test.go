package eventstest

import (
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestSamplesAreValid(t *testing.T) {
	for _, typ := range events.AllTypes() {
		t.Run(string(typ), func(t *testing.T) {
			draft := Sample(typ)
			require.NotNil(t, draft.Data, "add a sample of the type")
			require.Equal(t, typ, draft.Data.Type())
			minted, err := events.NewMinter("agentd/node-1/boot-1", Now).Mint(draft)
			require.NoError(t, err)
			require.Equal(t, draft.Data, Validate(t, minted[0].Envelope))
		})
	}
	require.Nil(t, Sample("no_such_type").Data)
}

func TestSamplesCarryThePayloadsThatTheyName(t *testing.T) {
	for _, typ := range events.AllTypes() {
		draft := Sample(typ)
		var own []*events.Ref
		for _, r := range events.Refs(draft.Data) {
			if r.In == "" {
				own = append(own, r)
			}
		}
		require.Len(t, draft.Payloads, len(own), typ)
		for i, r := range own {
			require.True(t, draft.Payloads[i].Opens(*r), "payload %d of %s", i, typ)
		}
	}
}

// What is not set in a sample is not tried by the tests that start from it.
func TestSamplesSetEveryField(t *testing.T) {
	full := 0
	for _, typ := range events.AllTypes() {
		for _, unset := range zeros(string(typ), reflect.ValueOf(SampleOf(typ, typ.Version()).Data)) {
			if !strings.HasSuffix(unset, ".In") && !strings.HasSuffix(unset, ".TruncatedFrom") {
				t.Errorf("%s is not set", unset)
			}
		}
		for _, r := range events.Refs(Sample(typ).Data) {
			if r.In != "" && r.TruncatedFrom != nil {
				full++
			}
		}
	}
	require.NotZero(t, full, "one reference at least has every member")
}

// zeros returns the paths of the fields below v that are not set.
func zeros(path string, v reflect.Value) []string {
	if v.IsZero() {
		return []string{path}
	}
	switch v.Kind() {
	case reflect.Pointer:
		return zeros(path, v.Elem())
	case reflect.Slice:
		if v.Len() == 0 {
			return []string{path}
		}
		return zeros(path, v.Index(0))
	case reflect.Struct:
		if _, ok := reflect.TypeAssert[events.Time](v); ok {
			return nil
		}
		var all []string
		for f, field := range v.Fields() {
			all = append(all, zeros(path+"."+f.Name, field)...)
		}
		return all
	default:
		return nil
	}
}

func TestValidateRefuses(t *testing.T) {
	minted, err := events.NewMinter("agentd/node-1/boot-1", Now).Mint(Sample(events.TypeToolCall))
	require.NoError(t, err)
	good := string(minted[0].Envelope)
	for _, tc := range []struct{ name, old, changed, want string }{
		{"an attribute of somebody else", `"subject"`, `"other":"x","subject"`, "none of ours"},
		{"an unknown schema", `/schemas/tool_call/1`, `/schemas/tool_call/2`, "names no schema"},
		{"data that breaks its schema", `"index":1`, `"index":-1`, "minimum"},
		{"data of another type", `/schemas/tool_call/1`, `/schemas/decision/1`, "validation failed"},
		{"a critical type not marked", `"critical":true,`, ``, "critical"},
		{"a long name in few characters", `"tool":"Write"`, `"tool":"` + strings.Repeat("é", 200) + `"`, "400 bytes"},
		{"no JSON", `{"specversion"`, `{specversion`, "invalid character"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(good, tc.old, tc.changed, 1)
			require.NotEqual(t, good, changed)
			_, err := validate([]byte(changed))
			require.ErrorContains(t, err, tc.want)
		})
	}
}
