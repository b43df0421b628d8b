package api

import (
	"errors"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
)

// The values of "decision" that permit. Every other string declines.
const (
	approve = "approve"
	modify  = "approve_and_modify"
)

// maxComment bounds a comment in bytes: it shares an event with arguments.
const maxComment = 64 << 10

// ruling is the body of a decision.
type ruling struct {
	request, decision, comment, arguments, digest string
	had                                           given
}

// accepted is the answer to a decision that was judged.
type accepted struct {
	Accepted bool   `json:"accepted"`
	Reason   string `json:"reason,omitzero"` // where it was not
	Needed   int    `json:"needed,omitzero"` // how many more people must approve
}

// decide takes a person's decision: POST /chat/approval. It answers after the
// decision is durable and the log's fold has judged it.
func (a *API) decide(w http.ResponseWriter, r *http.Request, who auth.Identity) error {
	body, err := a.readBody(w, r)
	if err != nil {
		return err
	}
	said, err := decodeRuling(body)
	if err != nil {
		a.metrics.invalid()
		return err
	}
	key, err := idempotencyKey(r.Header)
	if err != nil {
		a.metrics.invalid()
		return err
	}
	ruled := said.gate()
	ruled.Actor, ruled.ActorName, ruled.Via, ruled.IdempotencyKey = who.Actor(), who.Name, via, key
	answer, err := a.gate.Decide(r.Context(), ruled)
	a.metrics.submitted(answer, err)
	if errors.Is(err, gate.ErrNotBack) {
		return refuse(http.StatusServiceUnavailable, "not_judged_yet",
			"the decision is recorded, but was not judged in time: send it again with the same Idempotency-Key to learn what became of it").
			with("eventId", answer.EventID)
	}
	if errors.Is(err, gate.ErrNotTaken) {
		return refuse(http.StatusServiceUnavailable, "not_recorded_yet",
			"the log did not take the decision in time (is its disk full, or its file locked?): send it again with the same Idempotency-Key").
			with("eventId", answer.EventID)
	}
	if err != nil {
		return err
	}
	a.answer(w, r, http.StatusOK, accepted{answer.Accepted, answer.Reason, answer.Needed})
	return nil
}

func decodeRuling(body []byte) (ruling, error) {
	var d ruling
	had, err := decode(body, members{
		"requestId": &d.request, "decision": &d.decision, "comment": &d.comment, "arguments": &d.arguments, "argumentsDigest": &d.digest,
	})
	if err != nil {
		return ruling{}, err
	}
	d.had = had
	return d, d.check()
}

func (d ruling) check() error {
	switch {
	case strings.TrimSpace(d.request) == "":
		return badRequest(`member "requestId" is missing or blank: it stands in the approval_request`)
	case !d.had["decision"]:
		return badRequest(`member "decision" is missing: send "approve", "approve_and_modify" or "decline"`)
	case d.decision == approve && d.had["arguments"]:
		return badRequest(`"approve" takes no "arguments": send "approve_and_modify" to change them`)
	case d.decision == modify && !d.had["arguments"]:
		return badRequest(`"approve_and_modify" needs "arguments": send "approve" to leave them as they are`)
	case len(d.comment) > maxComment:
		return badRequest(`member "comment" has %d bytes: at most %d can be recorded`, len(d.comment), maxComment)
	case d.had["argumentsDigest"] && !isDigest(d.digest):
		return badRequest(`member "argumentsDigest" is %.80q: it is "sha256:" and 64 lower-case hex digits`, d.digest)
	}
	return nil
}

const digestPrefix = "sha256:"

func isDigest(s string) bool {
	digits, ok := strings.CutPrefix(s, digestPrefix)
	return ok && len(digits) == 64 && strings.Trim(digits, "0123456789abcdef") == ""
}

// gate is what the gate is asked to record.
func (d ruling) gate() gate.Ruling {
	r := gate.Ruling{
		RequestID: d.request, Verdict: events.VerdictDecline, Comment: d.comment,
		ArgumentsDigest: events.Digest(strings.TrimPrefix(d.digest, digestPrefix)),
	}
	switch d.decision {
	case approve:
		r.Verdict = events.VerdictApprove
	case modify:
		r.Verdict, r.Arguments = events.VerdictModify, []byte(d.arguments)
	}
	return r
}

// idempotencyKey reads the key by which a retry gets the first's answer.
func idempotencyKey(h http.Header) (string, error) {
	keys := h.Values("Idempotency-Key")
	switch {
	case len(keys) == 0:
		return "", nil
	case len(keys) > 1 || keys[0] == "" || len(keys[0]) > events.MaxNameBytes:
		return "", badRequest("the header Idempotency-Key must come once, with 1 to %d bytes", events.MaxNameBytes)
	}
	return keys[0], nil
}
