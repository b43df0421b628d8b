package api

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
)

// The bounds of what a client asks, in bytes. Query and system prompt share an
// event, which has its own bound.
const (
	maxQuery  = 512 << 10
	maxSystem = 256 << 10
)

// ask begins a run and tells it: POST /chat/stream.
func (a *API) ask(w http.ResponseWriter, r *http.Request, who auth.Identity) error {
	q, err := a.query(w, r, who)
	if err != nil {
		return err
	}
	leave, err := a.enter(who)
	if err != nil {
		return err
	}
	defer leave()
	conversation, reader, err := a.loop.Start(r.Context(), q)
	switch {
	case errors.Is(err, agent.ErrBusy):
		return a.busy(r.Context(), q)
	case errors.Is(err, gate.ErrNotBack):
		return refuse(http.StatusServiceUnavailable, "not_judged_yet", "the run is recorded and goes on, but did not come back in time: read it with GET").
			with("conversationId", conversation)
	case err != nil:
		return err
	case a.life.Err() != nil:
		reader.Close()
		return refuse(http.StatusServiceUnavailable, "stopping", "agentd stops: the run is recorded and goes on when it serves again: read it with GET then").
			with("conversationId", conversation)
	}
	a.stream(w, r, conversation, reader)
	return nil
}

// busy lists what a conversation waits for.
func (a *API) busy(ctx context.Context, q agent.Query) error {
	pending, err := a.loop.Pending(ctx, q.Session, q.Principal)
	if err != nil {
		return err
	}
	return refuse(http.StatusConflict, "conversation_busy",
		`the conversation has an unfinished run: wait for it, cancel it with DELETE, or send "onPending": "decline"`).
		with("pending", append([]agent.Pending{}, pending...))
}

// query reads and checks what a client asks.
func (a *API) query(w http.ResponseWriter, r *http.Request, who auth.Identity) (agent.Query, error) {
	body, err := a.readBody(w, r)
	if err != nil {
		return agent.Query{}, err
	}
	q := agent.Query{Principal: who.Person, Actor: who.Actor()}
	var bypass bool
	var reason, onPending string
	had, err := decode(body, members{
		"query": &q.Text, "conversationId": &q.Session, "modelName": &q.Model, "system": &q.System,
		"bypassApproval": &bypass, "bypassReason": &reason, "onPending": &onPending,
	})
	if err != nil {
		return agent.Query{}, err
	}
	if err := checkQuery(q, had); err != nil {
		return agent.Query{}, err
	}
	if had["onPending"] && onPending != "decline" {
		return agent.Query{}, badRequest(`member "onPending" is %.80q: it can be "decline" alone`, onPending)
	}
	q.Supersede = had["onPending"]
	if bypass {
		return agent.Query{}, a.bypass(r, who, reason)
	}
	return q, nil
}

func checkQuery(q agent.Query, had given) error {
	switch {
	case strings.TrimSpace(q.Text) == "":
		return badRequest(`member "query" is missing or blank: say what you want`)
	case len(q.Text) > maxQuery:
		return badRequest(`member "query" has %d bytes: at most %d can be recorded`, len(q.Text), maxQuery)
	case len(q.System) > maxSystem:
		return badRequest(`member "system" has %d bytes: at most %d can be recorded`, len(q.System), maxSystem)
	case had["conversationId"]:
		return checkConversation(q.Session)
	}
	return nil
}

// checkConversation refuses what cannot be an id of a conversation: it stands
// in events, paths and a header.
func checkConversation(id string) error {
	bad := func(r rune) bool { return unicode.IsControl(r) || r == '\u2028' || r == '\u2029' }
	switch {
	case id == "":
		return badRequest("the conversation's id is empty: leave it out to begin a new conversation")
	case len(id) > events.MaxNameBytes:
		return badRequest("the conversation's id has %d bytes: at most %d can be recorded", len(id), events.MaxNameBytes)
	case !utf8.ValidString(id) || strings.ContainsFunc(id, bad):
		return badRequest("the conversation's id has control characters or is not UTF-8: choose another")
	case strings.TrimSpace(id) != id, id == ".", id == "..":
		return badRequest("the conversation's id cannot be %q: it would not survive a header or an address; choose another", id)
	}
	return nil
}

// bypass refuses a run without approvals: nobody has them in this version.
func (a *API) bypass(r *http.Request, who auth.Identity, reason string) error {
	if !who.Can(auth.Bypass) {
		return a.forbid(r, who, "bypass", auth.Bypass, `send the query without "bypassApproval"`)
	}
	if strings.TrimSpace(reason) == "" {
		return badRequest(`member "bypassReason" is missing or blank: a bypass needs a reason`)
	}
	const why = "bypass is not in this version"
	a.record(r, a.refused.of(who.Person), &events.Access{Action: "bypass", Actor: who.Actor(), Reason: why})
	return refuse(http.StatusForbidden, "forbidden", "%s: send the query without \"bypassApproval\"", why)
}

// resume tells the rest of a conversation: GET /chat/stream/{conversationId}.
func (a *API) resume(w http.ResponseWriter, r *http.Request, who auth.Identity) error {
	conversation := r.PathValue("conversationId")
	if err := checkConversation(conversation); err != nil {
		return err
	}
	leave, err := a.enter(who)
	if err != nil {
		return err
	}
	defer leave()
	last := r.Header.Get("Last-Event-ID")
	reader, err := a.loop.Open(r.Context(), conversation, who.Person, last)
	if errors.Is(err, agent.ErrNothing) || err == nil && reader.Empty() {
		reader.Close()
		w.WriteHeader(http.StatusNoContent)
		return nil
	}
	if err != nil {
		return err
	}
	if last != "" {
		a.metrics.resumed(reader)
	}
	a.stream(w, r, conversation, reader)
	return nil
}

// cancel ends the unfinished run: DELETE /chat/stream/{conversationId}.
func (a *API) cancel(w http.ResponseWriter, r *http.Request, who auth.Identity) error {
	conversation := r.PathValue("conversationId")
	if err := checkConversation(conversation); err != nil {
		return err
	}
	err := a.loop.Cancel(r.Context(), conversation, who.Person, who.Actor())
	if err != nil && !errors.Is(err, agent.ErrNothing) {
		return err
	}
	a.answer(w, r, http.StatusOK, map[string]bool{"cancelled": err == nil})
	return nil
}
