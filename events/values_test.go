package events_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestTimeHasOneForm(t *testing.T) {
	east := time.FixedZone("east", 2*60*60)
	for _, tc := range []struct {
		at   events.Time
		want string
	}{
		{events.At(time.Date(2026, 11, 30, 14, 3, 0, 123456789, east)), "2026-11-30T12:03:00.123456Z"},
		{events.At(time.Date(2026, 11, 30, 12, 3, 0, 0, time.UTC)), "2026-11-30T12:03:00.000000Z"},
		{events.At(time.Date(2026, 11, 30, 12, 3, 0, 120000000, time.UTC)), "2026-11-30T12:03:00.120000Z"},
		{events.Time{Time: time.Date(2026, 11, 30, 14, 3, 0, 1000, east)}, "2026-11-30T12:03:00.000001Z"},
		{events.Micros(0), "1970-01-01T00:00:00.000000Z"},
		{events.Micros(-1), "1969-12-31T23:59:59.999999Z"},
		{events.Time{}, "0001-01-01T00:00:00.000000Z"},
	} {
		text, err := tc.at.MarshalText()
		require.NoError(t, err)
		require.Equal(t, tc.want, string(text))
		// Whichever package encodes it, the form is the same.
		for name, marshal := range map[string]func(any) ([]byte, error){
			"encoding/json": json.Marshal,
			"v2":            func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
		} {
			b, err := marshal(tc.at)
			require.NoError(t, err, name)
			require.Equal(t, `"`+tc.want+`"`, string(b), name)
			var back events.Time
			require.NoError(t, jsonv2.Unmarshal(b, &back))
			require.True(t, back.Equal(tc.at.Truncate(time.Microsecond)))
			require.Equal(t, time.UTC, back.Location())
		}
	}
}

func TestTimeRefuses(t *testing.T) {
	for _, text := range []string{
		"", "now", "2026-11-30", "2026-11-30T12:03:00Z", "2026-11-30T12:03:00.123Z", "2026-11-30T12:03:00.1234567Z",
		"2026-11-30T12:03:00.123456+00:00", "2026-11-30T12:03:00.123456", "2026-11-30T12:03:00.123456z", "2026-11-30t12:03:00.123456Z",
		"2026-11-30 12:03:00.123456Z", "2026-11-30T12:03:00,123456Z", "2026-11-30T1:03:00.123456Z", "2026-11-30T24:00:00.000000Z",
		"2026-11-30T12:03:60.000000Z", "2026-02-29T12:03:00.000000Z", "2026-13-01T12:03:00.000000Z", "0000-01-01T00:00:00.000000Z",
		"+2026-11-30T12:03:00.000000Z", " 2026-11-30T12:03:00.123456Z", "2026-11-30T12:03:00.123456Z ", strings.Repeat("9", 5000),
	} {
		var at events.Time
		err := at.UnmarshalText([]byte(text))
		require.Error(t, err, text)
		require.Less(t, len(err.Error()), 300)
		require.True(t, at.IsZero(), text)
	}
	for _, text := range []string{`7`, `null`, `true`, `{}`, `["2026-11-30T12:03:00.123456Z"]`, `"2026-11-30T12:03:00.12345\u0036Z"`} {
		var at events.Time
		require.Error(t, at.UnmarshalJSON([]byte(text)), text)
	}
	for _, year := range []int{0, -1, 10000} {
		_, err := events.At(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)).MarshalText()
		require.ErrorContains(t, err, "outside the years")
		_, err = jsonv2.Marshal(events.At(time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC)))
		require.ErrorContains(t, err, "outside the years")
	}
}

func TestDurationHasOneForm(t *testing.T) {
	for _, tc := range []struct {
		d    time.Duration
		want string
	}{
		{0, "PT0S"},
		{time.Microsecond, "PT0.000001S"},
		{500 * time.Millisecond, "PT0.5S"},
		{3 * time.Minute, "PT180S"},
		{90*time.Second + 120*time.Millisecond, "PT90.12S"},
		{999_999_999*time.Second + 999_999*time.Microsecond, "PT999999999.999999S"},
	} {
		b, err := events.Duration(tc.d).MarshalText()
		require.NoError(t, err)
		require.Equal(t, tc.want, string(b))
		var back events.Duration
		require.NoError(t, back.UnmarshalText(b))
		require.Equal(t, tc.d, time.Duration(back))
	}
	b, err := events.Duration(1999 * time.Nanosecond).MarshalText()
	require.NoError(t, err)
	require.Equal(t, "PT0.000001S", string(b), "below a microsecond is cut off")
}

func TestDurationRefuses(t *testing.T) {
	for _, text := range []string{
		"", "PT", "PTS", "180", "180S", "PT180", "P180S", "PT180s", "pt180S", "PT3M", "PT1H", "P1D", "PT-1S", "PT+1S", "PT1.S", "PT.5S",
		"PT01S", "PT0.50S", "PT1.0S", "PT0.0000001S", "PT1000000000S", "PT1,5S", "PT 1S", "PT1S ", "PT1e3S", "PT1.2.3S", "PT١S",
		"PT" + strings.Repeat("9", 5000) + "S",
	} {
		var d events.Duration
		err := d.UnmarshalText([]byte(text))
		require.Error(t, err, text)
		require.Less(t, len(err.Error()), 300)
		require.Zero(t, d, text)
	}
	for _, d := range []time.Duration{-1, -time.Hour, 1_000_000_000 * time.Second} {
		_, err := events.Duration(d).MarshalText()
		require.ErrorContains(t, err, "not between", d)
	}
}
