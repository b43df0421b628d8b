package ui

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/ui/visible"
)

// timeForms is what a filter's time may be, in words.
const timeForms = "a day (2026-11-30), a time (2026-11-30T14:05 or 2026-11-30T14:05:00Z), today, or so long ago (30m, 24h, 7d)"

// period is a span of log time as an address writes it: from is in it, to is
// where it ends.
type period struct {
	from, to       string // as written; "" open
	begin, end     time.Time
	fromNow, toNow bool // the written form means another time tomorrow
}

// periodOf reads the parameters from and to. A day as the end is in the span.
func periodOf(p params, now time.Time) (period, error) {
	t := period{from: p["from"], to: p["to"]}
	var err error
	if t.begin, t.fromNow, err = moment("from", t.from, now); err != nil {
		return t, err
	}
	if t.end, t.toNow, err = moment("to", t.to, now); err != nil {
		return t, err
	}
	if isDay(t.to) {
		t.end = t.end.AddDate(0, 0, 1)
	}
	if !t.begin.IsZero() && !t.end.IsZero() && !t.begin.Before(t.end) {
		return t, parameter("to", fmt.Sprintf("it ends at %s UTC, which is not after its beginning at %s UTC", clockDate(t.end), clockDate(t.begin)))
	}
	return t, nil
}

// fixed returns the span in a form that means the same at any time.
func (t period) fixed() period {
	if t.fromNow {
		t.from = t.begin.Format(time.RFC3339)
	}
	if t.toNow {
		t.to = t.end.Format(time.RFC3339)
	}
	return t
}

func isDay(s string) bool {
	return len(s) == len(time.DateOnly) && !strings.Contains(s, "T") || s == "today"
}

// moment reads a time, in UTC where it names no zone. What counts from now is
// taken at the minute, so that a page and its reload agree; relative says so.
func moment(name, s string, now time.Time) (t time.Time, relative bool, err error) {
	now = now.UTC().Truncate(time.Minute)
	switch s {
	case "":
		return time.Time{}, false, nil
	case "today":
		return now.Truncate(24 * time.Hour), true, nil
	}
	if ago, ok := ago(s); ok {
		return now.Add(-ago), true, nil
	}
	for _, layout := range []string{time.DateOnly, "2006-01-02T15:04", "2006-01-02T15:04:05", time.RFC3339Nano} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() >= 1970 && t.Year() < 10000 {
			return t.UTC(), false, nil
		}
	}
	return time.Time{}, false, parameter(name, visible.String(s)+" is no time; allowed is "+timeForms)
}

// ago reads a span back from now: 30m, 24h, 7d, up to four digits.
func ago(s string) (time.Duration, bool) {
	if len(s) < 2 || len(s) > 5 {
		return 0, false
	}
	unit, ok := map[byte]time.Duration{'m': time.Minute, 'h': time.Hour, 'd': 24 * time.Hour}[s[len(s)-1]]
	n, err := strconv.ParseUint(s[:len(s)-1], 10, 16)
	if !ok || err != nil || n == 0 {
		return 0, false
	}
	return time.Duration(n) * unit, true
}
