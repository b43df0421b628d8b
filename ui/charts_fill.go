package ui

import (
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// The fills of charts: a plain colour, or a pattern of chartPatterns.
const (
	fillOK        = "ok"
	fillPlain     = "plain"
	fillError     = "error"
	fillOdd       = "odd"
	fillDeclined  = "declined"
	fillExpired   = "expired"
	fillCancelled = "cancelled"
	fillChanged   = "changed"
)

// patternFill is the fill of a class as an attribute; the plain ones are
// filled by the style sheet.
func patternFill(class string) string {
	switch class {
	case fillOK, fillPlain:
		return "currentColor"
	default:
		return "url(#p-" + class + ")"
	}
}

// outcomeSeries are the ways in which calls end, in the order of Statuses.
func outcomeSeries(o projections.Outcomes) []series {
	all := make([]series, 0, len(projections.Statuses()))
	for _, s := range projections.Statuses() {
		all = append(all, series{Class: statusFill(s), Words: stateWord(projections.CallState(s)), Total: o[s]})
	}
	return all
}

func statusFill(s events.Status) string {
	switch s {
	case events.StatusOK:
		return fillOK
	case events.StatusError:
		return fillError
	case events.StatusAmbiguous:
		return fillOdd
	case events.StatusDeclined:
		return fillDeclined
	case events.StatusExpired:
		return fillExpired
	case events.StatusCancelled, events.StatusStale:
	}
	return fillCancelled
}

// endSeries are the ways in which requests end, in the order of RequestEnds.
func endSeries(n map[projections.RequestEnd]int) []series {
	all := make([]series, 0, len(projections.RequestEnds()))
	for _, e := range projections.RequestEnds() {
		class, words := endFill(e)
		all = append(all, series{Class: class, Words: words, Total: n[e]})
	}
	return all
}

func endFill(e projections.RequestEnd) (class, words string) {
	switch e {
	case projections.EndApproved:
		return fillOK, "approved"
	case projections.EndModified:
		return fillChanged, "approved with changes"
	case projections.EndDeclined:
		return fillDeclined, "declined"
	case projections.EndExpired:
		return fillExpired, "expired: nobody answered"
	case projections.EndCancelled:
		return fillCancelled, "cancelled"
	case projections.EndStale:
		return fillOdd, "stale: tool or policy changed"
	case projections.EndFailed:
		return fillError, "failed in the gate"
	}
	return fillOdd, string(e)
}
