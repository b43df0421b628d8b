package projections

import (
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// Every text that can be searched belongs to a call, and has a number in it: 0
// is the arguments, 1 the result, the others follow in log order. A run's query
// belongs to its first call, the message of a model turn to the turn's first
// call, or, where it asked for none, to the call before it. Without a call
// there is nothing to find.

// textsOfCall is how many numbers a call has. What has none left, a dozen
// comments and changes on, is shown with the call but not found by itself.
const textsOfCall = 16

// textKind is what a text is. It is stored.
type textKind int64

const (
	textArguments textKind = iota
	textResult
	textComment
	textQuery
	textMessage
)

// String is the kind as a Hit says it.
func (k textKind) String() string {
	return [...]string{"arguments", "result", "comment", "query", "message"}[k]
}

// text is a text that is to be found from now on.
type text struct {
	id         int64 // of table texts: the call's row and the text's number
	kind       textKind
	row        int64       // of the record that carries it
	ref        *events.Ref // nil: there is none
	names      string      // of tool and agent, with the arguments
	commitment string
}

// idOfText names a text of a call.
func idOfText(call, number int64) int64 { return call*textsOfCall + number }

// carried is the text of a reference, if the record itself carries its bytes:
// what refers to another event's is found there.
func carried(kind textKind, row int64, ref *events.Ref) text {
	if ref == nil || ref.In != "" {
		return text{}
	}
	return text{kind: kind, row: row, ref: ref, commitment: ref.Commitment}
}

// texts returns which texts a record brings.
func (s *session) texts(r fold.Record, row int64, counts bool) []text {
	switch e := r.Event.(type) {
	case *events.ToolCall:
		if counts {
			return s.callTexts(e, row)
		}
	case *events.ToolResult:
		return s.resultText(e, row, counts)
	case *events.Decision:
		return append(s.further(e.RequestID, carried(textArguments, row, e.Arguments)), s.further(e.RequestID, carried(textComment, row, e.Comment))...)
	case *events.Revision:
		return s.further(e.RequestID, carried(textArguments, row, e.Arguments))
	case *events.Revocation:
		return s.further(e.RequestID, carried(textComment, row, e.Comment))
	case *events.RunStarted:
		if run := s.runs[e.RunID]; run != nil && counts {
			run.query = carried(textQuery, row, e.Query)
		}
	case *events.RoundFinished:
		if counts {
			return s.messageText(e, row)
		}
	default: // has no text to find
	}
	return nil
}

// callTexts are a call's arguments, and what waited for a call.
func (s *session) callTexts(e *events.ToolCall, row int64) []text {
	c := s.calls[e.CallKey]
	arguments := carried(textArguments, row, e.Arguments)
	arguments.id, arguments.names = idOfText(row, 0), namesOf(e)
	found := []text{arguments}
	if message, ok := s.turns[e.BatchID]; ok {
		found = append(found, c.further(message)...)
		delete(s.turns, e.BatchID)
	}
	run := s.runs[e.RunID]
	if run == nil {
		return found
	}
	if run.last == nil {
		found = append(found, c.further(run.query)...)
	}
	run.last = c
	return found
}

// namesOf are the names by which a call is found too.
func namesOf(e *events.ToolCall) string {
	return strings.Join([]string{e.Tool, e.Agent.Name, e.Agent.Path}, " ")
}

// resultText is the result that counts, or evidence that came later.
func (s *session) resultText(e *events.ToolResult, row int64, counts bool) []text {
	c, t := s.calls[e.CallKey], carried(textResult, row, e.Result)
	if c == nil || t.ref == nil {
		return nil
	}
	if !counts {
		return c.further(t)
	}
	t.id = idOfText(c.row, 1)
	return []text{t}
}

func (s *session) messageText(e *events.RoundFinished, row int64) []text {
	message := carried(textMessage, row, e.Message)
	run := s.runs[e.RunID]
	switch {
	case message.ref == nil || run == nil:
	case e.Outcome == events.RoundCalls && e.Calls > 0:
		s.turns[e.BatchID] = message
	case run.last != nil:
		return run.last.further(message)
	}
	return nil
}

// further numbers a text about a request.
func (s *session) further(request string, t text) []text {
	q := s.Requests[request]
	if q == nil {
		return nil
	}
	return s.calls[q.CallKey].further(t)
}

// further numbers a text that is neither arguments nor result.
func (c *callRow) further(t text) []text {
	if t.ref == nil || c.texts+2 >= textsOfCall {
		return nil
	}
	t.id = idOfText(c.row, c.texts+2)
	c.texts++
	return []text{t}
}
