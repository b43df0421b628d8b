package events_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// bad is a change to the good envelope of a type that must be refused.
type bad struct {
	name         string
	typ          events.Type
	old, changed string
	want         string // in the message
}

func (tc bad) refused(t *testing.T, class error) {
	t.Helper()
	good := string(mintSample(t, tc.typ).Envelope)
	changed := strings.Replace(good, tc.old, tc.changed, 1)
	require.NotEqual(t, good, changed, "the sample has no %s", tc.old)
	_, event, err := decode([]byte(changed))
	require.ErrorIs(t, err, class)
	require.ErrorContains(t, err, tc.want)
	require.Nil(t, event)
	require.Less(t, len(err.Error()), 1000, "messages stay short whatever came in")
}

func TestBadData(t *testing.T) {
	long := strings.Repeat("x", 257)
	for _, tc := range []bad{
		{"repeated member", "tool_call", `"data":{`, `"data":{"tool":"Read",`, "duplicate"},
		{"repeated member, written with an escape", "tool_call", `"data":{`, `"data":{"\u0074ool":"Read",`, "duplicate"},
		{"repeated in a nested object", "tool_call", `"name":"researcher"`, `"name":"a","name":"researcher"`, "duplicate"},
		{"first letter in upper case", "decision", `"request_id"`, `"Request_id"`, "Request_id"},
		{"other case beside the right one", "decision", `"request_id"`, `"Request_id":"x","request_id"`, "Request_id"},
		{"camel case", "decision", `"request_digest"`, `"requestDigest"`, "requestDigest"},
		{"unknown member", "decision", `"data":{`, `"data":{"force":true,`, "force"},
		{"unknown member of the actor", "decision", `"actor":{`, `"actor":{"admin":true,`, "admin"},
		{"string where a number belongs", "tool_call", `"index":1`, `"index":"1"`, "index"},
		{"fraction", "tool_call", `"index":1`, `"index":1.5`, "index"},
		{"number where a string belongs", "tool_call", `"tool":"Write"`, `"tool":7`, "tool"},
		{"string where a list belongs", "approval_request", `"approvers":["group:sre"]`, `"approvers":"group:sre"`, "approvers"},
		{"list where an object belongs", "tool_call", `"agent":{"name":"researcher","path":"researcher/child"}`, `"agent":[]`, "agent"},
		{"number where a truth belongs", "boot", `"clean":true`, `"clean":1`, "clean"},
		{"negative index", "tool_call", `"index":1`, `"index":-1`, "index"},
		{"index beyond the bound", "tool_call", `"index":1`, `"index":65536`, "index"},
		{"number beyond its type", "tool_result", `"duration_ms":17`, `"duration_ms":99999999999999999999`, "duration_ms"},
		{"negative duration", "tool_result", `"duration_ms":17`, `"duration_ms":-17`, "duration_ms"},
		{"negative usage", "run_finished", `"prompt":1200`, `"prompt":-1`, "prompt"},
		{"negative bytes", "tool_call", `"bytes":40`, `"bytes":-1`, "bytes"},
		{"negative bytes of the whole", "tool_result", `"truncated_from":{"bytes":`, `"truncated_from":{"bytes":-`, "truncated_from"},
		{"negative partition", "boot", `"partition":1`, `"partition":-1`, "partition"},
		{"negative repair", "round_finished", `"repairs":[{"index":1`, `"repairs":[{"index":-1`, "repairs.index"},
		{"quorum of nobody", "approval_request", `"quorum":2`, `"quorum":0`, "quorum"},
		{"no time to decide", "approval_request", `"timeout":"PT180S"`, `"timeout":"PT0S"`, "timeout"},
		{"negative time to decide", "approval_request", `"timeout":"PT180S"`, `"timeout":"PT-180S"`, "PT-180S"},
		{"duration in minutes", "approval_request", `"timeout":"PT180S"`, `"timeout":"PT3M"`, "PT3M"},
		{"duration as a number", "approval_request", `"timeout":"PT180S"`, `"timeout":180`, "timeout"},
		{"time with an offset", "decision", `T11:03:00.120000Z`, `T11:03:00.120000+00:00`, "RFC 3339"},
		{"long tool", "tool_call", `"tool":"Write"`, `"tool":"` + long + `"`, "257 bytes"},
		{"long label", "tool_call", `"call_id":"call_Zx81"`, `"call_id":"` + long + `"`, "257 bytes"},
		{"long by bytes, not by letters", "tool_call", `"tool":"Write"`, `"tool":"` + strings.Repeat("é", 129) + `"`, "258 bytes"},
		{"long role", "decision", `"roles":["reviewer"]`, `"roles":["` + long + `"]`, "257 bytes"},
		{"empty role", "decision", `"roles":["reviewer"]`, `"roles":[""]`, "role"},
		{"long name in a warrant that does not need it", "tool_started", `"id":"bypass-1"`, `"id":"` + long + `"`, "257 bytes"},
		{"empty name", "tool_call", `"principal":"person-alice"`, `"principal":""`, "principal"},
		{"unknown verdict", "decision", `"verdict":"approve_and_modify"`, `"verdict":"approved"`, "verdict"},
		{"verdict in upper case", "decision", `"verdict":"approve_and_modify"`, `"verdict":"APPROVE"`, "verdict"},
		{"unknown cause", "decision", `"cause":"human"`, `"cause":"robot"`, "cause"},
		{"unknown status", "tool_result", `"status":"error"`, `"status":"done"`, "status"},
		{"unknown enforcement", "tool_started", `"enforcement":"enforced"`, `"enforcement":""`, "enforcement"},
		{"unknown kind of warrant", "tool_started", `"kind":"decision"`, `"kind":"trust_me"`, "warrant.kind"},
		{"warrant without its decision", "tool_started", `"decision":"0195f3a0-0000-7000-8000-0000000000d0",`, ``, "warrant.decision"},
		{"short digest", "decision", `"request_digest":"1f`, `"request_digest":"`, "hex"},
		{"digest in upper case", "decision", `"request_digest":"1f58b`, `"request_digest":"1F58B`, "hex"},
		{"commitment that is none", "tool_call", `"commitment":"`, `"commitment":"zz`, "commitment"},
		{"no media type", "tool_call", `"media_type":"application/json"`, `"media_type":""`, "media_type"},
		{"human decision without an actor", "decision", `"actor":{"person":"person-alice","credential":"alice-laptop","roles":["reviewer"],"groups":["sre"],"method":"session","at":"2026-11-30T11:03:00.120000Z","asserted_by":"node-2"},`, ``, "actor"},
		{"time-out with an actor", "decision", `"cause":"human"`, `"cause":"timeout"`, "actor"},
		{"gate error with an actor", "decision", `"cause":"human"`, `"cause":"gate_error"`, "actor"},
		{"run cancelled by a cause of calls", "run_cancelled", `"cause":"cancelled"`, `"cause":"timeout"`, "cause"},
		{"lone surrogate", "tool_call", `"tool":"Write"`, `"tool":"\ud800"`, "surrogate"},
		{"surrogates in the wrong order", "tool_call", `"tool":"Write"`, `"tool":"\udc00\ud800"`, "surrogate"},
		{"invalid UTF-8", "tool_call", `"tool":"Write"`, "\"tool\":\"\xff\"", "UTF-8"},
		{"overlong UTF-8", "tool_call", `"tool":"Write"`, "\"tool\":\"\xc0\xaf\"", "UTF-8"},
		{"raw control character", "tool_call", `"tool":"Write"`, "\"tool\":\"\n\"", "invalid character"},
		{"data is a list", "tool_call", `"data":{`, `"data":[],"x":{`, "tool_call"},
		{"data is null", "tool_call", `"data":{`, `"data":null,"x":{`, "not an object"},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.refused(t, events.ErrMalformed) })
	}
}

func TestBadEnvelope(t *testing.T) {
	long := strings.Repeat("x", 513)
	for _, tc := range []bad{
		{"repeated attribute", "decision", `{`, `{"type":"tool_call",`, "duplicate"},
		{"other case beside the right one", "decision", `{`, `{"Type":"tool_call",`, `"Type"`},
		{"snake case", "decision", `{`, `{"session_id":"s",`, "session_id"},
		{"name with an escape", "decision", `{`, `{"\u0049d":"x",`, "lower-case"},
		{"another version of CloudEvents", "decision", `"specversion":"1.0"`, `"specversion":"0.3"`, "specversion"},
		{"no id", "decision", `"id":"0195f3a0-0000-7000-8000-000000000004",`, ``, "id is missing"},
		{"empty id", "decision", `"id":"0195f3a0-0000-7000-8000-000000000004"`, `"id":""`, "id is missing"},
		{"null id", "decision", `"id":"0195f3a0-0000-7000-8000-000000000004"`, `"id":null`, "id is missing"},
		{"no source", "decision", `"source":"agentd/node-1/boot-1",`, ``, "source is missing"},
		{"no type", "decision", `"type":"decision",`, ``, "type is missing"},
		{"no time", "decision", `"time":"2026-11-30T12:03:00.120000Z",`, ``, "time is missing"},
		{"time to the second", "decision", `"time":"2026-11-30T12:03:00.120000Z"`, `"time":"2026-11-30T12:03:00Z"`, "RFC 3339"},
		{"no dataschema", "decision", `"dataschema":"/schemas/decision/1",`, ``, "dataschema is missing"},
		{"no partitionkey", "decision", `"partitionkey":"session-1",`, ``, "partitionkey is missing"},
		{"no sequence", "decision", `"sequence":"0",`, ``, "sequence"},
		{"negative sequence", "decision", `"sequence":"0"`, `"sequence":"-1"`, "sequence"},
		{"sequence with a leading zero", "decision", `"sequence":"0"`, `"sequence":"007"`, "sequence"},
		{"sequence beyond 64 bits", "decision", `"sequence":"0"`, `"sequence":"18446744073709551616"`, "sequence"},
		{"sequence as a number", "decision", `"sequence":"0"`, `"sequence":0`, "sequence"},
		{"critical left out", "decision", `"critical":true,`, ``, "critical"},
		{"critical denied", "decision", `"critical":true`, `"critical":false`, "critical"},
		{"critical claimed", "access", `"sequence":"0"`, `"sequence":"0","critical":true`, "critical"},
		{"critical as text", "decision", `"critical":true`, `"critical":"true"`, "critical"},
		{"no data", "decision", `"data":{`, `"other":{`, "data is missing"},
		{"long id", "decision", `"id":"`, `"id":"` + long, "id has"},
		{"long session", "decision", `"sessionid":"`, `"sessionid":"` + long, "sessionid has"},
		{"long subject", "decision", `"subject":"`, `"subject":"` + long, "subject has"},
		{"long cause", "decision", `"causationid":"`, `"causationid":"` + long, "causationid has"},
		{"something follows", "decision", `{"specversion":"1.0"`, `{} {"specversion":"1.0"`, "envelope"},
		{"a list", "decision", `{"specversion":"1.0"`, `[{"specversion":"1.0"`, "envelope"},
		{"cut", "decision", `,"idempotency":"key-2","bulk":"bulk-1"}}`, `,"idempotency":"key-2"`, "unexpected EOF"},
		{"invalid UTF-8 in an attribute", "decision", `"subject":"`, "\"subject\":\"\xfe", "UTF-8"},
		{"more than 32 KiB", "decision", `{`, `{"padding":"` + strings.Repeat("x", 32<<10) + `",`, "32768"},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.refused(t, events.ErrMalformed) })
	}
}

func TestUnknownTypesAndVersions(t *testing.T) {
	for _, tc := range []struct {
		bad
		class error
	}{
		{bad{"unknown type", "decision", `"type":"decision"`, `"type":"veto"`, "veto"}, events.ErrUnknownType},
		{bad{"type in another case", "decision", `"type":"decision"`, `"type":"Decision"`, "Decision"}, events.ErrUnknownType},
		{bad{"later version", "decision", `/schemas/decision/1`, `/schemas/decision/2`, "version 2"}, events.ErrUnknownVersion},
		{bad{"version 01", "decision", `/schemas/decision/1`, `/schemas/decision/01`, "decision/01"}, events.ErrUnknownVersion},
		{bad{"version 0", "decision", `/schemas/decision/1`, `/schemas/decision/0`, "decision/0"}, events.ErrUnknownVersion},
		{bad{"version +1", "decision", `/schemas/decision/1`, `/schemas/decision/+1`, "decision/+1"}, events.ErrUnknownVersion},
		{bad{"no version", "decision", `/schemas/decision/1`, `/schemas/decision/`, "decision/"}, events.ErrUnknownVersion},
		{bad{"schema of another type", "decision", `/schemas/decision/1`, `/schemas/person/1`, "person"}, events.ErrUnknownVersion},
	} {
		t.Run(tc.name, func(t *testing.T) { tc.refused(t, tc.class) })
	}
}

// What passes although it is not what a minter writes.
func TestEnvelopeTakes(t *testing.T) {
	good := string(mintSample(t, "decision").Envelope)
	for _, tc := range []struct{ name, old, changed string }{
		{"an extension attribute that it does not know", `{`, `{"tenant":"blue","priority":3,`},
		{"another order", `{"specversion":"1.0",`, `{"datacontenttype":"application/json","specversion":"1.0",`},
		{"white space", `,"data":{`, ",\n\t \"data\" : {"},
		{"null for an attribute that is not set", `"traceparent":"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"`, `"traceparent":null`},
		{"a name of the data with an escape", `"via":`, `"\u0076ia":`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			changed := strings.Replace(good, tc.old, tc.changed, 1)
			require.NotEqual(t, good, changed)
			_, _, err := decode([]byte(changed))
			require.NoError(t, err)
		})
	}
}
