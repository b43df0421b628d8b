package ui

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/instruments"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// Deciding several requests at once. They are of one tool and one rule of one
// policy, need one approval each, and each is shown whole: what does not fit on
// the page is decided on its own. Each gets a decision of its own, judged by
// itself; what they share is a recorded id.

const (
	maxBulk    = 20      // requests decided at once
	bulkBudget = 8 << 10 // bytes of HTML of one request's arguments
)

// bulkView is the page that asks once more, with every call on it.
type bulkView struct {
	Tool  []visible.Span
	Rule  string
	Items []bulkItem
	Left  []bulkLeft // what was chosen and cannot be decided here
	Bulk  string
	Told  string // what the model is told of each that is declined
}

// Why says what is common to the calls.
func (v bulkView) Why() string {
	if len(v.Items) == 1 {
		return "It is shown whole, and only it is decided here. Rule " + v.Rule + " asked for it."
	}
	return "All are of one tool, and rule " + v.Rule + " asked for each. Each is shown whole, gets a decision of its own, and is judged by itself."
}

// bulkItem is one request, with its exact arguments.
type bulkItem struct {
	ID, Href  string
	Summary   []visible.Span
	Agent     string
	Title     []visible.Span
	Deadline  factView
	State     chip // where it stood when the page was made; the script keeps it true
	Arguments argumentsView
	Digest    string
	Render    string
	Key       string
	Number    string
}

// bulkLeft is a request that is not decided with the others, and why.
type bulkLeft struct {
	Href string
	Tool []visible.Span
	Why  string
}

// notInBulk says why a request is not decided together with others; "" where it
// may be.
func (c *Console) notInBulk(id auth.Identity, q projections.Request) string {
	switch {
	case q.State != fold.Pending:
		return "it does not wait any more"
	case q.Quorum > 1:
		return "it needs more than one approval"
	case q.Author != "" || len(q.Modifications) > 0:
		return "a reviewer changed its arguments"
	}
	return c.mayNotDecide(id, q)
}

// bulkSelect shows the chosen requests, all of each, before anything is decided.
func (c *Console) bulkSelect(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	ids, err := chosen(r)
	if err != nil {
		return err
	}
	v := bulkView{Bulk: uuid.NewString(), Told: c.opt.Declined(visible.String(id.Name), "")}
	var first *projections.Request
	titles := map[string][]visible.Span{}
	for _, request := range ids {
		q, err := c.mayReadRequest(r.Context(), id, request)
		if err != nil {
			return err
		}
		why := c.notInBulk(id, q)
		if why == "" && first != nil {
			why = notAlike(first, q)
		}
		item := bulkItem{}
		if why == "" {
			item, why = c.bulkItem(r.Context(), id, titles, q)
		}
		if why != "" {
			v.Left = append(v.Left, bulkLeft{Href: requestPath(q.RequestID), Tool: visible.Line(q.Tool, 60), Why: why})
			continue
		}
		if first == nil {
			first = &q
			v.Tool, v.Rule = visible.Line(q.Tool, 100), visible.String(q.Rule)
		}
		item.Number = strconv.Itoa(len(v.Items) + 1)
		v.Items = append(v.Items, item)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Decide together", "/inbox"), bulkPage(v))
}

// chosen reads the ids of a selection: the one page of the console whose
// parameter may be there several times.
func chosen(r *http.Request) ([]string, error) {
	q, err := url.ParseQuery(r.URL.RawQuery)
	ids := q["id"]
	if err != nil || len(q) != 1 || len(ids) == 0 {
		return nil, errNoChoice
	}
	if len(ids) > maxBulk {
		return nil, errTooMany
	}
	seen := map[string]bool{}
	for _, id := range ids {
		if seen[id] {
			return nil, errQuery
		}
		seen[id] = true
	}
	return ids, nil
}

// notAlike says why a request is not decided together with the first one.
func notAlike(first *projections.Request, q projections.Request) string {
	switch {
	case q.Tool != first.Tool:
		return "it is a call of another tool"
	case q.Call.ToolDigest != first.Call.ToolDigest:
		return "its tool was defined differently"
	case q.Rule != first.Rule || q.PolicyDigest != first.PolicyDigest:
		return "another rule asked for it"
	}
	return ""
}

// bulkArguments are the arguments of a request that can be read whole among
// others, or why they cannot.
func (c *Console) bulkArguments(ctx context.Context, q projections.Request) (v argumentsView, text []byte, why string) {
	switch {
	case q.Target != nil && q.Target.Digest != "":
		return v, nil, "it changes a file that exists: its own page shows how"
	case c.changedDefinition(ctx, c.names(), q) != nil:
		return v, nil, "its tool is not what it was: its own page shows how"
	}
	text, err := c.views.Text(ctx, q.Carrier, q.Arguments)
	if err != nil {
		return v, nil, "its arguments cannot be shown"
	}
	v = arguments(text, "", requestPath(q.RequestID)+"/download")
	switch {
	case v.Invalid != "":
		return v, nil, "its arguments are not what a tool takes"
	case v.Laid == nil || visible.Cost(v.Laid.Head) > bulkBudget:
		return v, nil, "its arguments are too long to be read among others"
	case v.Hidden.Hidden > 0:
		return v, nil, "its arguments hold hidden characters"
	}
	return v, text, ""
}

// bulkItem shows a request whole, or says why it cannot be.
func (c *Console) bulkItem(ctx context.Context, id auth.Identity, titles map[string][]visible.Span, q projections.Request) (bulkItem, string) {
	v, text, why := c.bulkArguments(ctx, q)
	if why != "" {
		return bulkItem{}, why
	}
	c.note(ctx, id, q.RequestID, q.Session)
	return bulkItem{
		ID: q.RequestID, Href: requestPath(q.RequestID), Summary: summaryLine(text, summaryRoom), Agent: agentName(q.Call.Agent),
		Title: c.sessionTitle(ctx, titles, q.Session), Deadline: c.deadlineFact(q), State: requestChip(&q.Request, c.now()), Arguments: v, Digest: string(q.Digest),
		Render: c.renders.issue(id.Person, q.RequestID, q.Digest), Key: uuid.NewString(),
	}, ""
}

// bulkResult is what became of one of them.
type bulkResult struct {
	Href, ID string
	Tool     []visible.Span
	Summary  []visible.Span
	Chip     chip
	Words    string
	Failed   bool
}

// bulkDoneView is the page after it.
type bulkDoneView struct {
	Verdict string
	Results []bulkResult
	Done    int // had an effect
	Bulk    string
}

// bulkDecide hands one ruling a request to the gate. What one of them meets
// neither hides nor undoes the others; the same form posted again gets the
// same answers, since each ruling has its key.
func (c *Console) bulkDecide(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := readBulk(w, r)
	if err != nil {
		return c.submitted(err)
	}
	v := bulkDoneView{Verdict: verdictWord(p.verdict), Bulk: p.bulk}
	var first *projections.Request // that is still pending, with which the others must go
	for _, item := range p.items {
		result := c.bulkOne(r.Context(), id, p, item, &first)
		if !result.Failed {
			v.Done++
		}
		v.Results = append(v.Results, result)
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Decided together", "/inbox"), bulkDonePage(v))
}

// barred says why a pending request is not decided among these: what holds for
// the page that offers them holds for what is posted, whoever made the form. One
// that has ended is the gate's to answer.
func (c *Console) barred(ctx context.Context, id auth.Identity, q projections.Request, first **projections.Request) string {
	if q.State != fold.Pending {
		return ""
	}
	why := c.notInBulk(id, q)
	if why == "" && *first != nil {
		why = notAlike(*first, q)
	}
	if why == "" {
		_, _, why = c.bulkArguments(ctx, q)
	}
	if why == "" && *first == nil {
		*first = &q
	}
	return why
}

// bulkOne decides one of them.
func (c *Console) bulkOne(ctx context.Context, id auth.Identity, p bulkPosted, item bulkPick, first **projections.Request) bulkResult {
	q, err := c.mayReadRequest(ctx, id, item.request)
	if err != nil {
		_ = c.submitted(err) // said below
		if errors.Is(err, errNotYours) {
			c.refusal(ctx, id, refusedThing("", err), err.Error())
		}
		return bulkResult{ID: item.request, Href: requestPath(item.request), Words: sentence(bulkError(err)), Failed: true, Chip: noEffect()}
	}
	v := bulkResult{ID: q.RequestID, Href: requestPath(q.RequestID), Tool: visible.Line(q.Tool, 60), Summary: c.summaryOf(ctx, q.Carrier, q.Arguments)}
	if why := c.barred(ctx, id, q, first); why != "" {
		_ = c.submitted(errForm)
		v.Words, v.Failed, v.Chip = sentence("not decided together: "+why), true, noEffect()
		return v
	}
	answer, err := c.opt.Decider.Decide(ctx, Ruling{
		RequestID: q.RequestID, RequestDigest: item.digest, Verdict: p.verdict, Comment: p.comment, Actor: id.Actor(), ActorName: id.Name,
		Seen: c.renders.redeem(item.render, id.Person, q.RequestID, item.digest), IdempotencyKey: item.key, Bulk: p.bulk,
	})
	switch {
	case err != nil:
		_ = c.submitted(err) // said below
		c.logger.ErrorContext(ctx, "one of several decisions failed", "request", q.RequestID, "error", err.Error())
		v.Words, v.Failed, v.Chip = sentence(bulkError(err)), true, noEffect()
	case !answer.Accepted:
		c.submission(whyRefused(id, q, posted{digest: item.digest}, c.now()))
		v.Words, v.Failed, v.Chip = sentence(visible.String(answer.Reason)), true, noEffect()
	default:
		c.submission(instruments.SubmitAccepted)
		now, _ := c.await(ctx, viewWithin, q.RequestID, func(now projections.Request) bool { return moved(q, now) })
		v.Chip, v.Words = requestChip(&now.Request, c.now()), c.endWords(ctx, c.names(), &now.Request)
		if now.State == fold.Pending {
			v.Words = "It is recorded; this page was shown before the views had it."
		}
	}
	return v
}

func noEffect() chip { return chip{"no", "warn", "No effect"} }

// bulkError says what went wrong with one of them, and of our own faults only
// that.
func bulkError(err error) string {
	if status, title := outside(err); status == http.StatusInternalServerError {
		return title + "; look at the request before trying again"
	}
	return err.Error()
}

func verdictWord(v events.Verdict) string {
	if v == events.VerdictApprove {
		return "approved"
	}
	return "declined"
}
