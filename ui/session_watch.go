package ui

import (
	"context"

	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// maxViolations is how many violations a page lists.
const maxViolations = 20

// watchView is what the watch found in a session.
type watchView struct {
	Good   string   // that all is as it should be; "" where it is not, or there is nothing to say
	Bad    string   // how much is not
	Doubts []string // of which starts the watch says neither
	Found  []violationRow
	All    string // the path of the list of all violations; "" where all are here
}

// violationRow is a record that shows that an invariant broke.
type violationRow struct {
	Words  string
	Detail []visible.Span
	Place  string
	Href   string
}

// watch says what the watch found in a session.
func (c *Console) watch(ctx context.Context, s projections.Session) (watchView, error) {
	v := watchView{Doubts: doubtWords(s)}
	if s.Violations == 0 {
		if s.Calls > 0 && len(v.Doubts) == 0 {
			v.Good = "Every start has its approval, checked through " + place(c.views.Status().Position)
		}
		return v, nil
	}
	list, err := c.views.ViolationsOf(ctx, s.ID, maxViolations)
	if err != nil {
		return watchView{}, err
	}
	v.Bad = count(s.Violations, "record breaks", "records break") + " what the gate promises"
	if s.Violations > len(list) {
		v.Bad += "; the first " + group(len(list)) + " are listed"
		v.All = "/violations"
	}
	for _, x := range list {
		v.Found = append(v.Found, c.violationRow(ctx, x))
	}
	return v, nil
}

// doubtWords says of which starts of a session the watch does not say that they
// hold, and why.
func doubtWords(s projections.Session) (words []string) {
	if s.Unverified > 0 {
		words = append(words, count(s.Unverified, "start", "starts")+" cannot be judged: the policy's text is not in the log")
	}
	if s.Unenforced > 0 {
		words = append(words, count(s.Unenforced, "start", "starts")+" ran elsewhere: not enforced by us")
	}
	return words
}

// watchChip says what the watch found in a session.
func watchChip(s projections.Session) chip {
	switch {
	case s.Violations > 0:
		return chip{"no", "warn", count(s.Violations, "violation", "violations")}
	case s.Unverified > 0:
		return chip{"odd", "warn", group(s.Unverified) + " not judged"}
	case s.Unenforced > 0:
		return chip{"plain", "", group(s.Unenforced) + " not enforced"}
	}
	return chip{"quiet", "check", "In order"}
}

// watchWord is a value of the filter watch in the words of the list.
func watchWord(value string) string {
	if value == unverifiedSessions {
		return "starts not judged"
	}
	return "violations found"
}

// violationRow says what a violation is, and leads to its call where there is one.
func (c *Console) violationRow(ctx context.Context, x projections.Violation) violationRow {
	row := violationRow{Words: invariantWords(x.Invariant), Detail: visible.Line(x.Detail, 300), Place: place(x.At)}
	if _, err := c.views.Call(ctx, x.Session, x.Key); err == nil {
		row.Href = callPath(x.Session, x.Key)
	}
	return row
}

// invariantWords says which promise broke.
func invariantWords(i projections.Invariant) string {
	switch i {
	case projections.ExecutedWithoutApproval:
		return "A tool started without an approval"
	case projections.ExecutedAfterDecline:
		return "A tool started after its request, approval or run had ended"
	case projections.ExecutedTwice:
		return "A tool started twice"
	case projections.DigestChanged:
		return "Something else ran than was approved"
	case projections.ResponseMissing:
		return "A call has no result"
	case projections.ResultWithoutStart:
		return "A result came without a start"
	case projections.NotEnforced:
		return "A tool is said to have run past the gate"
	}
	return visible.String(string(i))
}
