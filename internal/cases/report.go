package cases

import (
	"fmt"
	"slices"
	"strings"
)

// Outcome is what became of a case.
type Outcome string

// The outcomes.
const (
	Pass Outcome = "pass"
	Fail Outcome = "fail"
	Skip Outcome = "skip"
)

// Result is the judgement on one case.
type Result struct {
	Number  string // what the folder's name begins with: "034"
	Outcome Outcome
	Note    string // why, or what was left out; one line
}

// String is the line that is printed.
func (r Result) String() string {
	switch {
	case r.Note == "":
		return fmt.Sprintf("%s %s", r.Number, r.Outcome)
	case r.Outcome == Pass:
		return fmt.Sprintf("%s %s (%s)", r.Number, r.Outcome, r.Note)
	}
	return fmt.Sprintf("%s %s: %s", r.Number, r.Outcome, r.Note)
}

// report gathers what a judge finds. It belongs to one goroutine.
type report struct {
	failures []string
	judged   []string
	left     []string // what was not judged, with the reason
}

// fail notes that something is not as the case wants it.
func (r *report) fail(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// check notes that something was judged, and a failure where it does not hold.
func (r *report) check(what string, ok bool, format string, args ...any) {
	if !slices.Contains(r.judged, what) {
		r.judged = append(r.judged, what)
	}
	if !ok {
		r.fail("%s: %s", what, fmt.Sprintf(format, args...))
	}
}

// same is check of two values.
func same[T comparable](r *report, what string, got, want T) {
	r.check(what, got == want, "got %s, want %s", shortly(got), shortly(want))
}

// leave notes what could not be judged.
func (r *report) leave(what, why string) {
	if why != "" {
		what += ": " + why
	}
	if !slices.Contains(r.left, what) {
		r.left = append(r.left, what)
	}
}

// result is the line's outcome. What failed counts before what was left out.
func (r *report) result(number string) Result {
	left := strings.Join(r.left, "; ")
	switch {
	case len(r.failures) > 0:
		return Result{Number: number, Outcome: Fail, Note: oneLine(strings.Join(r.failures, "; "))}
	case len(r.judged) == 0 && left == "":
		return Result{Number: number, Outcome: Skip, Note: "it says nothing that can be judged"}
	case len(r.judged) == 0:
		return Result{Number: number, Outcome: Skip, Note: oneLine(left)}
	case left != "":
		return Result{Number: number, Outcome: Pass, Note: oneLine("judged: " + strings.Join(r.judged, ", ") + "; not judged: " + left)}
	}
	return Result{Number: number, Outcome: Pass}
}

// maxNote bounds a line.
const maxNote = 600

// oneLine makes text fit for a line: what is not printable is escaped.
func oneLine(s string) string {
	q := fmt.Sprintf("%+q", s)
	q = strings.NewReplacer(`\"`, `"`, `\\`, `\`).Replace(q[1 : len(q)-1])
	if len(q) > maxNote {
		q = q[:maxNote] + "..."
	}
	return q
}

// shortly is a value as failures show it.
func shortly(v any) string {
	s := fmt.Sprintf("%#v", v)
	if s, ok := v.(string); ok {
		return clipped(fmt.Sprintf("%q", s))
	}
	return clipped(s)
}

func clipped(s string) string {
	if len(s) > 160 {
		return s[:160] + "..."
	}
	return s
}
