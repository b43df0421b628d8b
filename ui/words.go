package ui

import (
	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// decisionWords says what a decision, revision or revocation says.
func decisionWords(e events.Event) string {
	switch e := e.(type) {
	case *events.Decision:
		switch e.Verdict {
		case events.VerdictApprove:
			return "Approve"
		case events.VerdictModify:
			return "Approve with changes"
		case events.VerdictDecline:
			return "Decline"
		}
		return "Decline (" + string(e.Verdict) + ")"
	case *events.Revision:
		if e.Outcome == events.RevisionRefused {
			return "The changed arguments cannot run"
		}
		return "The changed arguments take the place of the model's"
	case *events.Revocation:
		return "Take the approval back"
	default:
		return string(e.Type())
	}
}

// reasonWords says why a record did not count.
func reasonWords(r fold.Reason) string {
	switch r {
	case fold.ReasonUnreadable:
		return "this build cannot read it"
	case fold.ReasonNotFolded:
		return ""
	case fold.ReasonUnknownCall, fold.ReasonUnknownRequest, fold.ReasonUnknownRun:
		return "there is no such thing in this session"
	case fold.ReasonRepeated:
		return "it repeats what is there"
	case fold.ReasonNotPending:
		return "the request had ended"
	case fold.ReasonOtherDigest:
		return "it is about another text than the current one"
	case fold.ReasonTooLate:
		return "it came after the deadline"
	case fold.ReasonTooEarly:
		return "it came before the deadline"
	case fold.ReasonNotPermitted:
		return "who sent it may not do that here"
	case fold.ReasonVoted:
		return "this person had approved already"
	case fold.ReasonStarted:
		return "the call had started"
	case fold.ReasonEnded:
		return "call or run had ended"
	case fold.ReasonNoWarrant:
		return "nothing permitted it"
	case fold.ReasonBlocked:
		return "the session holds a record of another version"
	case fold.ReasonOutOfOrder:
		return "it is not the next in order"
	case fold.ReasonNotOwner:
		return "the conversation is another person's"
	case fold.ReasonBusy:
		return "the session had an unfinished run"
	}
	return string(r)
}

// causeWords says who or what was behind an end that no person decided.
func causeWords(cause events.Cause) string {
	switch cause {
	case events.CauseTimeout:
		return "nobody answered"
	case events.CauseCancelled:
		return "the run was cancelled"
	case events.CauseSuperseded:
		return "a new query took its place"
	case events.CausePolicy:
		return "policy"
	case events.CauseHandler:
		return "an approval handler"
	case events.CauseStandingRule:
		return "a standing rule"
	case events.CauseBypass:
		return "a bypass"
	case events.CauseStale:
		return "tool, policy or the file had changed"
	case events.CauseExecutorLost:
		return "its executor was lost"
	case events.CauseGateError:
		return "the gate could not record or judge it"
	case events.CauseDeliveryFailed:
		return "it could not be delivered"
	case events.CauseHuman:
		return "a person"
	}
	return string(cause)
}

// spoken is the text that a model's message says, besides its calls: the
// content of a chat message, or of its text blocks. What has another form has
// none.
func spoken(message []byte) []byte {
	var plain struct {
		Content *string `json:"content"`
	}
	if json.Unmarshal(message, &plain) == nil && plain.Content != nil {
		return []byte(*plain.Content)
	}
	var blocks struct {
		Content []struct {
			Type string `json:"type"`
			Text string `json:"text"`
		} `json:"content"`
	}
	if json.Unmarshal(message, &blocks) != nil {
		return nil
	}
	var text []byte
	for _, b := range blocks.Content {
		if b.Type == "text" {
			text = append(text, b.Text...)
		}
	}
	return text
}
