package eventstest

import (
	"encoding/json"
	"maps"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// judge asks schema and decoder about data and fails where they differ.
func judge(t *testing.T, typ events.Type, data map[string]any, about string) bool {
	t.Helper()
	all, err := compiled()
	require.NoError(t, err)
	b, err := json.Marshal(data)
	require.NoError(t, err)
	var doc any
	require.NoError(t, json.Unmarshal(b, &doc))
	bySchema := all[events.SchemaPath(typ, 1)].Validate(doc)
	_, byDecoder := events.DecodeData(typ, 1, b)
	require.Equal(t, byDecoder == nil, bySchema == nil, "%s: the schema says %v, the decoder %v", about, bySchema, byDecoder)
	return byDecoder == nil
}

func sampleData(t *testing.T, typ events.Type) map[string]any {
	t.Helper()
	b, err := json.Marshal(Sample(typ).Data)
	require.NoError(t, err)
	var data map[string]any
	require.NoError(t, json.Unmarshal(b, &data))
	return data
}

func TestSchemaAndDecoderAgreeOnMissingMembers(t *testing.T) {
	for _, typ := range events.AllTypes() {
		data := sampleData(t, typ)
		require.True(t, judge(t, typ, data, string(typ)))
		without(t, typ, data, data, string(typ))
	}
}

// without takes away each member of an object in data, at any depth.
func without(t *testing.T, typ events.Type, data, object map[string]any, path string) {
	t.Helper()
	for name, value := range maps.Clone(object) {
		delete(object, name)
		judge(t, typ, data, path+"/"+name+" left out")
		object[name] = value
		if list, ok := value.([]any); ok {
			value = list[0]
		}
		if inner, ok := value.(map[string]any); ok {
			without(t, typ, data, inner, path+"/"+name)
		}
	}
}

func TestSchemaAndDecoderAgreeOnActors(t *testing.T) {
	data := sampleData(t, events.TypeDecision)
	actor := data["actor"]
	for _, cause := range []events.Cause{
		"human", "policy", "standing_rule", "bypass", "handler", "timeout", "cancelled", "superseded", "stale", "gate_error",
		"executor_lost", "delivery_failed", "robot", "",
	} {
		data["cause"], data["actor"] = cause, actor
		acted := cause == events.CauseHuman || cause == events.CauseHandler
		require.Equal(t, acted, judge(t, events.TypeDecision, data, string(cause)+" with an actor"))
		delete(data, "actor")
		require.Equal(t, !acted && cause != "robot" && cause != "", judge(t, events.TypeDecision, data, string(cause)+" without an actor"))
	}
}

func TestSchemaAndDecoderAgreeOnWarrants(t *testing.T) {
	data := sampleData(t, events.TypeToolStarted)
	full, ok := data["warrant"].(map[string]any)
	require.True(t, ok)
	members := []string{"decision", "rule", "policy_digest", "id"}
	valid := 0
	for _, kind := range []string{"decision", "rule", "bypass", "standing_rule", "trust_me"} {
		for set := range 1 << len(members) {
			warrant := map[string]any{"kind": kind}
			for i, m := range members {
				if set&(1<<i) != 0 {
					warrant[m] = full[m]
				}
			}
			data["warrant"] = warrant
			if judge(t, events.TypeToolStarted, data, kind) {
				valid++
			}
		}
	}
	require.Equal(t, 8+4+8+8, valid, "half of the sets have the decision, a quarter rule and digest, half the id")
}
