package ui

import (
	"fmt"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// How pages write numbers, places in the log and times.

// group writes a number with thousands apart: 48,213.
func group[T int | int64 | uint64](n T) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// bytesOf writes a size.
func bytesOf[T int | int64](n T) string {
	if n == 1 {
		return "1 byte"
	}
	return group(n) + " bytes"
}

// count writes a number of things.
func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return group(n) + " " + many
}

// at is the time of a place in the log.
func at(p events.Position) time.Time { return time.UnixMicro(p.LogTime).UTC() }

// place names a place in the log: #48213, or #PARTITION:OFFSET.
func place(p events.Position) string {
	if p.Partition == 0 {
		return "#" + strconv.FormatUint(p.Offset, 10)
	}
	return "#" + p.String()
}

// clock writes a time of day, clockDate with its day, both in UTC.
func clock(t time.Time) string     { return t.UTC().Format("15:04:05") }
func clockDate(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05") }
func stamp(t time.Time) string     { return t.UTC().Format(time.RFC3339Nano) }

// whenView is when the thing of a row began.
type whenView struct {
	Day, Time, Stamp string
	SameDay          bool // as the row above
}

// when returns the time of a place, for a row below one of the given day.
func when(p events.Position, above string) whenView {
	t := at(p)
	day := t.Format(time.DateOnly)
	return whenView{Day: day, Time: clock(t), Stamp: stamp(t), SameDay: day == above}
}

// span writes a duration for people: 31 ms, 48s, 2m 11s, 1h 4m.
func span(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%ds", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%dm %ds", int(d.Minutes()), int(d.Seconds())%60)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh %dm", int(d.Hours()), int(d.Minutes())%60)
	default:
		return fmt.Sprintf("%dd %dh", int(d.Hours())/24, int(d.Hours())%24)
	}
}

// left writes what is left until a deadline, as the script does: 2:11.
func left(d time.Duration) string {
	d = max(d, 0)
	if d >= time.Hour {
		return fmt.Sprintf("%d:%02d:%02d", int(d.Hours()), int(d.Minutes())%60, int(d.Seconds())%60)
	}
	return fmt.Sprintf("%d:%02d", int(d.Minutes()), int(d.Seconds())%60)
}
