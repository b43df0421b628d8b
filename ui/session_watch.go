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
	Good  string // that all is as it should be; "" where it is not, or there is nothing to say
	Bad   string // how much is not
	Found []violationRow
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
	if s.Violations == 0 {
		if s.Calls == 0 {
			return watchView{}, nil
		}
		return watchView{Good: "Every start has its approval, checked through " + place(c.views.Status().Position)}, nil
	}
	list, err := c.views.ViolationsOf(ctx, s.ID, maxViolations)
	if err != nil {
		return watchView{}, err
	}
	v := watchView{Bad: count(s.Violations, "record breaks", "records break") + " what the gate promises"}
	if s.Violations > len(list) {
		v.Bad += "; the first " + group(len(list)) + " are listed"
	}
	for _, x := range list {
		row := violationRow{Words: invariantWords(x.Invariant), Detail: visible.Line(x.Detail, 300), Place: place(x.At)}
		if _, err := c.views.Call(ctx, s.ID, x.Key); err == nil {
			row.Href = callPath(s.ID, x.Key)
		}
		v.Found = append(v.Found, row)
	}
	return v, nil
}

// invariantWords says which promise broke.
func invariantWords(i projections.Invariant) string {
	switch i {
	case projections.ExecutedWithoutApproval:
		return "A tool started without an approval"
	case projections.ExecutedAfterDecline:
		return "A tool started after its request had ended"
	case projections.ExecutedTwice:
		return "A tool started twice"
	case projections.DigestChanged:
		return "Something else ran than was approved"
	case projections.ResponseMissing:
		return "A call has no result"
	case projections.ResultWithoutStart:
		return "A result came without a start"
	}
	return visible.String(string(i))
}
