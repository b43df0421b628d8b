package events

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// timeLayout is RFC 3339 in UTC with microseconds.
const timeLayout = "2006-01-02T15:04:05.000000Z"

// Time is an instant to the microsecond, on the wire RFC 3339 in UTC with six
// decimals: "2026-11-30T12:03:00.000000Z".
type Time struct{ time.Time }

// At returns t as it goes over the wire.
func At(t time.Time) Time { return Time{t.UTC().Truncate(time.Microsecond)} }

// Micros returns the instant of microseconds since 1970 UTC.
func Micros(us int64) Time { return Time{time.UnixMicro(us).UTC()} }

// AppendText implements encoding.TextAppender.
func (t Time) AppendText(b []byte) ([]byte, error) {
	utc := t.UTC()
	if y := utc.Year(); y < 1 || y > 9999 {
		return nil, fmt.Errorf("time %v is outside the years 1 to 9999", t.Time)
	}
	return utc.AppendFormat(b, timeLayout), nil
}

// MarshalText implements encoding.TextMarshaler.
func (t Time) MarshalText() ([]byte, error) { return t.AppendText(nil) }

// MarshalJSON implements json.Marshaler. Without it the embedded time's own
// would be used, which drops zeros at the end.
func (t Time) MarshalJSON() ([]byte, error) {
	b, err := t.AppendText([]byte{'"'})
	return append(b, '"'), err
}

// UnmarshalJSON implements json.Unmarshaler. Without it the embedded time's own
// would be used, which takes any offset and precision.
func (t *Time) UnmarshalJSON(b []byte) error {
	if len(b) < 2 || b[0] != '"' || b[len(b)-1] != '"' {
		return fmt.Errorf("time %.40q is not a string", b)
	}
	return t.UnmarshalText(b[1 : len(b)-1])
}

// UnmarshalText implements encoding.TextUnmarshaler. It takes the wire form
// alone.
func (t *Time) UnmarshalText(b []byte) error {
	var form [len(timeLayout)]byte
	p, err := time.Parse(timeLayout, string(b))
	// time.Parse also takes an hour of one digit and a decimal comma.
	if err != nil || p.Year() < 1 || string(p.AppendFormat(form[:0], timeLayout)) != string(b) {
		return fmt.Errorf("time %.40q is not RFC 3339 in UTC with microseconds", b)
	}
	t.Time = p
	return nil
}

// maxSeconds bounds a Duration's whole seconds: nine digits, 31 years.
const maxSeconds = 999_999_999

// Duration is a span to the microsecond, on the wire ISO 8601 in seconds:
// "PT180S", "PT0.5S". What is below a microsecond is cut off.
type Duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d Duration) MarshalText() ([]byte, error) {
	us := time.Duration(d).Microseconds()
	if d < 0 || us/1e6 > maxSeconds {
		return nil, fmt.Errorf("duration %v is not between 0 and %d seconds", time.Duration(d), maxSeconds)
	}
	s := strconv.FormatInt(us/1e6, 10)
	if f := us % 1e6; f != 0 {
		s += strings.TrimRight(fmt.Sprintf(".%06d", f), "0")
	}
	return []byte("PT" + s + "S"), nil
}

// UnmarshalText implements encoding.TextUnmarshaler. It takes the wire form
// alone: no leading zeros, no trailing ones in a fraction.
func (d *Duration) UnmarshalText(b []byte) error {
	s, ok1 := strings.CutPrefix(string(b), "PT")
	s, ok2 := strings.CutSuffix(s, "S")
	whole, fraction, dot := strings.Cut(s, ".")
	if !ok1 || !ok2 || !decimal(whole) || len(whole) > 9 || dot && !decimals(fraction) {
		return fmt.Errorf("duration %.40q is not ISO 8601 in seconds, as PT180S", b)
	}
	seconds, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return err
	}
	us, err := strconv.ParseInt((fraction + "000000")[:6], 10, 64)
	if err != nil {
		return err
	}
	*d = Duration(time.Duration(seconds)*time.Second + time.Duration(us)*time.Microsecond)
	return nil
}

// decimal reports whether s is a number from 0, without leading zeros.
func decimal(s string) bool { return digits(s) && (len(s) == 1 || s[0] != '0') }

// decimals reports whether s may follow a decimal point: one to six digits, the
// last not 0.
func decimals(s string) bool { return digits(s) && len(s) <= 6 && s[len(s)-1] != '0' }

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return s != ""
}

// Digest is a SHA-256 as lower-case hex.
type Digest string

// DigestOf returns the SHA-256 of b.
func DigestOf(b []byte) Digest {
	sum := sha256.Sum256(b)
	return Digest(hex.EncodeToString(sum[:]))
}
