package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// What the console answers besides pages.
var (
	errSignIn   = errors.New("sign in first")
	errNoRole   = errors.New("your role has no business in the console: it is for reviewers and auditors")
	errNoDecide = errors.New("your role does not decide requests: a reviewer or an admin does")
	errNoAudit  = errors.New("this page is for auditors")
	errNoAdmin  = errors.New("your role does not change the policy: an administrator does")
	errNotYours = errors.New("there is no such thing, or it is of another person's conversation in which no request is yours to decide: an auditor may see it")
	errNotFound = errors.New("the log has no such entry; if it was made a moment ago, the views may not have it yet")
	errNoPage   = errors.New("there is no such page")
	errQuery    = errors.New("the address has a part that this page does not know")
	errNoChoice = errors.New("nothing is chosen: go back and choose at least one request")
	errTooMany  = fmt.Errorf("too many are chosen: at most %d requests are decided at once", maxBulk)
	errForm     = errors.New("the form is not one of this console, or was cut")
	errBusy     = errors.New("too many live streams are open; pages still work, and show what was so when they were loaded")
	// errYourStreams is of one person, errBusy of all.
	errYourStreams = errors.New("you have too many live streams open: close some pages; the others still work, and show what was so when they were loaded")
	// ErrStopping is what a Decider returns while the program stops, and what a
	// request gets that the stop has cut.
	ErrStopping = errors.New("the program stops; what you sent may or may not be on the record: look again when it serves")
	// ErrUnjudged is what a Decider returns for a decision that is durable, but
	// that the log's fold has not judged in time.
	ErrUnjudged = errors.New("the decision is recorded, but what became of it is not known yet: look at the request again in a moment")
	errErased   = errors.New("this text was erased from the record, or never was in it")
)

// outside is the one table from errors to what people get.
func outside(err error) (status int, title string) {
	for _, row := range []struct {
		err    error
		status int
		title  string
	}{
		{errUnknown, http.StatusServiceUnavailable, "Not known yet"},
		{errSignIn, http.StatusUnauthorized, "Sign in"},
		{errNoRole, http.StatusForbidden, "Not for your role"},
		{errNoDecide, http.StatusForbidden, "You may not decide"},
		{errNoAudit, http.StatusForbidden, "For auditors"},
		{errNoAdmin, http.StatusForbidden, "For administrators"},
		{errNotYours, http.StatusForbidden, "Not yours to see"},
		{errNotFound, http.StatusNotFound, "Not found"},
		{projections.ErrNotFound, http.StatusNotFound, "Not found"},
		{errNoPage, http.StatusNotFound, "No such page"},
		{errErased, http.StatusGone, "No longer there"},
		{errQuery, http.StatusBadRequest, "The address is not right"},
		{errSpan, http.StatusBadRequest, "The address is not right"},
		{errParameter, http.StatusBadRequest, "The address is not right"},
		{projections.ErrSearch, http.StatusBadRequest, "That cannot be searched for"},
		{projections.ErrCursor, http.StatusBadRequest, "The address is not right"},
		{errNoChoice, http.StatusBadRequest, "Nothing is chosen"},
		{errTooMany, http.StatusBadRequest, "Too many at once"},
		{errForm, http.StatusBadRequest, "The form is not right"},
		{errReadOnly, http.StatusServiceUnavailable, "Reading only"},
		{ErrUnjudged, http.StatusServiceUnavailable, "Recorded, not judged yet"},
		{events.ErrRefused, http.StatusServiceUnavailable, "The log takes nothing now"},
		{events.ErrLogStopped, http.StatusServiceUnavailable, "The log has stopped"},
		{ErrStopping, http.StatusServiceUnavailable, "Stopping"},
		{errYourStreams, http.StatusTooManyRequests, "Too many live streams"},
		{errExports, http.StatusServiceUnavailable, "Too many exports"},
		{errBusy, http.StatusServiceUnavailable, "Too many live streams"},
	} {
		if errors.Is(err, row.err) {
			return row.status, row.title
		}
	}
	return http.StatusInternalServerError, "Something is wrong here"
}

// fail answers an error with a page. What is ours alone to know goes to the log.
// A request whose context has ended is answered as well: who has gone away does
// not see it, and to everybody else an empty page would look like success.
func (c *Console) fail(w http.ResponseWriter, r *http.Request, id auth.Identity, err error) {
	err = c.missed(err)
	status, title := outside(err)
	if status == http.StatusInternalServerError && r.Context().Err() != nil {
		c.logger.DebugContext(r.Context(), "a page was cut off", "path", r.URL.Path, "error", err.Error())
		err = ErrStopping
		status, title = outside(err)
	}
	if status == http.StatusUnauthorized && r.Method == http.MethodGet && r.Header.Get("Sec-Fetch-Mode") == "navigate" {
		http.Redirect(w, r, "/sign-in?next="+url.QueryEscape(r.URL.RequestURI()), http.StatusSeeOther)
		return
	}
	text := visible.Escaped(err.Error()) // what was asked for may stand in it
	if status == http.StatusInternalServerError {
		c.logger.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "error", text)
		text = "The console could not answer. Nothing was decided by this. The log of the program says why; try again."
	}
	if status == http.StatusForbidden {
		c.refusal(r.Context(), id, refusedThing(r.URL.Path, err), text)
	}
	if status == http.StatusServiceUnavailable {
		w.Header().Set("Retry-After", "5")
	}
	view := problemView{Status: status, Title: title, Text: text, SignIn: status == http.StatusUnauthorized}
	if err := c.page(w, r, status, c.shell(id, title, ""), problem(view)); err != nil {
		http.Error(w, title, status)
	}
}

// clip bounds a text to what a name in an event may have.
func clip(s string) string {
	return strings.ToValidUTF8(s[:min(len(s), events.MaxNameBytes)], "")
}
