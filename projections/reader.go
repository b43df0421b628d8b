package projections

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// everyReviewer stands in table asked for a request that names no approvers.
const everyReviewer = ""

// Reader says whose eyes a list is for. An auditor sees all. Anybody else sees
// their own conversations, and a reviewer those in which the log ever asked
// them. The zero Reader sees nothing.
type Reader struct {
	All      bool     // an auditor
	Reviewer bool     // may be asked
	Person   string   // own conversations
	Groups   []string // in which the person may be asked
}

// Everything is the reader of auditors and tests.
func Everything() Reader { return Reader{All: true} }

// listName binds a cursor to the reader.
func (r Reader) listName() string {
	if r.All {
		return "all"
	}
	return fmt.Sprintf("%q %t %q", r.Person, r.Reviewer, r.Groups)
}

// where narrows a query to the sessions that the reader may see; column holds
// the session's id.
func (r Reader) where(column string) (string, []any) {
	if r.All {
		return "", nil
	}
	own := " AND (EXISTS (SELECT 1 FROM sessions o WHERE o.id = " + column + " AND o.principal = ? AND o.principal <> '')"
	args := []any{r.Person}
	if !r.Reviewer {
		return own + ")", args
	}
	names := []any{everyReviewer, "person:" + r.Person}
	for _, g := range r.Groups {
		names = append(names, "group:"+g)
	}
	marks := strings.TrimSuffix(strings.Repeat("?, ", len(names)), ", ")
	return own + " OR EXISTS (SELECT 1 FROM asked a WHERE a.session = " + column + " AND a.approver IN (" + marks + ")))", append(args, names...)
}

// MayRead reports whether a reader may see a session.
func (v *Views) MayRead(ctx context.Context, reader Reader, session string) (bool, error) {
	if v.stands() {
		return v.standIn.mayRead(ctx, reader, session)
	}
	where, args := reader.where("s.id")
	may, err := first(ctx, v.db, one[bool], "SELECT EXISTS (SELECT 1 FROM sessions s WHERE s.id = ?"+where+")",
		append([]any{session}, args...)...)
	if err == nil && !may && v.standIn != nil && slices.Contains(v.standIn.gate.Unfinished(), session) {
		return v.standIn.mayRead(ctx, reader, session) // what makes it theirs may have come a moment ago
	}
	return may, err
}
