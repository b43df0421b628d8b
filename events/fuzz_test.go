package events_test

import (
	"bytes"
	stdjson "encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// seeds adds the golden envelopes.
func seeds(f *testing.F) {
	paths, err := filepath.Glob(filepath.Join("testdata", "golden", "*.json"))
	require.NoError(f, err)
	require.NotEmpty(f, paths)
	for _, path := range paths {
		b, err := os.ReadFile(path)
		require.NoError(f, err)
		f.Add(b)
	}
}

// A record has one encoding: what decodes encodes to the same bytes, and a byte
// more is refused.
func FuzzDecodeRecord(f *testing.F) {
	for _, r := range []events.Record{{}, {Partition: 1, Offset: 2, LogTime: -3, KeyID: "k", Signature: []byte("s"), Envelope: []byte("{}")}} {
		b, err := events.EncodeRecord(r)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := events.DecodeRecord(b)
		if err != nil {
			require.ErrorIs(t, err, events.ErrBadRecord)
			return
		}
		again, err := events.EncodeRecord(r)
		require.NoError(t, err)
		require.Equal(t, b, again)
		_, err = events.DecodeRecord(append(bytes.Clone(b), 0))
		require.ErrorIs(t, err, events.ErrBadRecord)
	})
}

// No envelope panics, and an event that decodes is one that could be minted: its
// own encoding decodes to the same event.
func FuzzDecodeEnvelope(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, b []byte) {
		env, event, err := decode(b)
		if err != nil {
			require.Nil(t, event)
			return
		}
		require.Equal(t, env.Type, event.Type())
		require.LessOrEqual(t, len(b), events.MaxEnvelopeBytes)
		data, err := json.Marshal(event)
		require.NoError(t, err)
		again, err := events.DecodeData(env.Type, env.Version(), data)
		require.NoError(t, err)
		dataAgain, err := json.Marshal(again)
		require.NoError(t, err)
		require.Equal(t, string(data), string(dataAgain))
	})
}

// What is accepted is JSON that the standard library reads as the same value,
// and the text is untouched.
func FuzzDecodeArguments(f *testing.F) {
	for _, s := range []string{``, `null`, `{}`, `{"a":[1,{"b":-1.5e300}],"c":"\ud83d\ude00"}`, `{"a":1,"a":2}`, `{"a":"\ud800"}`, `[1]`, "\v", "\ufeff{}"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := events.DecodeArguments(text)
		if err != nil {
			require.ErrorIs(t, err, events.ErrArguments)
			return
		}
		var want map[string]any
		dec := stdjson.NewDecoder(bytes.NewReader(a.Text))
		dec.UseNumber()
		require.NoError(t, dec.Decode(&want))
		require.True(t, reflect.DeepEqual(want, a.Value), "%q: %v and %v", a.Text, want, a.Value)
		require.LessOrEqual(t, depth(a.Value), events.MaxDepth)
		if !bytes.Equal(a.Text, text) {
			require.Contains(t, []string{"", "null"}, string(bytes.Trim(text, " \t\r\n")))
			require.Equal(t, "{}", string(a.Text))
		}
	})
}

func depth(v any) int {
	deepest := 0
	switch v := v.(type) {
	case map[string]any:
		for _, inner := range v {
			deepest = max(deepest, depth(inner))
		}
	case []any:
		for _, inner := range v {
			deepest = max(deepest, depth(inner))
		}
	default:
		return 0
	}
	return deepest + 1
}

// An instant and a span each have one text: what is taken is what is given.
func FuzzTime(f *testing.F) {
	for _, s := range []string{"2026-11-30T12:03:00.123456Z", "0001-01-01T00:00:00.000000Z", "2026-11-30T1:03:00,123456Z", "9999-12-31T23:59:59.999999Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var at events.Time
		if at.UnmarshalText([]byte(s)) != nil {
			return
		}
		b, err := at.MarshalText()
		require.NoError(t, err)
		require.Equal(t, s, string(b))
		require.Equal(t, at, events.Micros(at.UnixMicro()))
	})
}

func FuzzDuration(f *testing.F) {
	for _, s := range []string{"PT0S", "PT180S", "PT0.000001S", "PT01S", "PT1.50S", "PT999999999.999999S"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var d events.Duration
		if d.UnmarshalText([]byte(s)) != nil {
			require.Zero(t, d)
			return
		}
		b, err := d.MarshalText()
		require.NoError(t, err)
		require.Equal(t, s, string(b))
	})
}
