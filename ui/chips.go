package ui

import (
	"context"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/projections"
)

// chip is an outcome by word, icon and colour together.
type chip struct{ Class, Icon, Word string }

func callChip(c projections.Call) chip {
	if c.Result != nil {
		return resultChip(c)
	}
	switch c.State {
	case projections.CallWaiting:
		return chip{"wait", "clock", "Waiting"}
	case projections.CallRunning:
		return chip{"busy", "clock", "Running"}
	case projections.CallDecided:
		if c.Request != nil && c.Request.State == fold.Approved {
			return chip{"ok", "check", "Approved"}
		}
		return chip{"gone", "cross", "Ending"}
	default:
		return chip{"plain", "", "Asked for"}
	}
}

func resultChip(c projections.Call) chip {
	switch c.Result.Status {
	case events.StatusOK:
		switch {
		case c.Request == nil:
			return chip{"ok", "check", "Ran"}
		case c.Request.Author != "":
			return chip{"ok", "check", "Ran, changed"}
		default:
			return chip{"ok", "check", "Ran, approved"}
		}
	case events.StatusError:
		if c.Start == nil {
			return chip{"no", "warn", "Not run"}
		}
		return chip{"no", "warn", "Failed"}
	case events.StatusDeclined:
		if c.Result.Cause == events.CausePolicy {
			return chip{"gone", "cross", "Denied"}
		}
		return chip{"gone", "cross", "Declined"}
	case events.StatusExpired:
		return chip{"gone", "clock", "Expired"}
	case events.StatusCancelled:
		return chip{"gone", "cross", "Cancelled"}
	case events.StatusStale:
		return chip{"gone", "cross", "Stale"}
	case events.StatusAmbiguous:
		return chip{"odd", "warn", "Ambiguous"}
	}
	return chip{"plain", "", string(c.Result.Status)}
}

// requestChip says where a request stands.
func requestChip(q *fold.Request, now time.Time) chip {
	switch {
	case q.State == fold.Pending && now.After(q.Deadline):
		return chip{"gone", "clock", "Its time is over"}
	case q.State == fold.Pending:
		return chip{"wait", "clock", "Waiting for " + count(q.Needed(), "approval", "approvals")}
	case q.State == fold.Approved && q.Revoked:
		return chip{"gone", "cross", "Taken back"}
	case q.State == fold.Approved && q.Author != "":
		return chip{"ok", "check", "Approved with changes"}
	case q.State == fold.Approved:
		return chip{"ok", "check", "Approved"}
	case q.State == fold.Closed:
		return chip{"gone", "cross", "Closed"}
	case q.End == nil:
		return chip{"gone", "cross", "Ended"}
	}
	switch q.End.Cause {
	case events.CauseTimeout:
		return chip{"gone", "clock", "Expired"}
	case events.CauseCancelled, events.CauseSuperseded:
		return chip{"gone", "cross", "Cancelled"}
	case events.CauseHuman, events.CauseHandler:
		return chip{"gone", "cross", "Declined"}
	case events.CausePolicy, events.CauseStandingRule, events.CauseBypass, events.CauseStale, events.CauseGateError,
		events.CauseExecutorLost, events.CauseDeliveryFailed:
	}
	return chip{"gone", "cross", "Ended by the gate"}
}

// decidedBy names who or what decided a call, "" where nobody has.
func decidedBy(ctx context.Context, n *names, c projections.Call) string {
	q := c.Request
	switch {
	case q == nil && c.Result != nil && c.Start == nil:
		return causeWords(c.Result.Cause)
	case q == nil && c.Start != nil:
		return "policy"
	case q == nil || q.State == fold.Pending || q.End == nil:
		return ""
	case q.State == fold.Approved:
		var voters []string
		for _, v := range q.Votes {
			if v.Actor != nil {
				voters = append(voters, n.of(ctx, v.Actor.Person))
			}
		}
		return strings.Join(voters, ", ")
	case q.End.Actor != nil:
		return n.of(ctx, q.End.Actor.Person)
	}
	return causeWords(q.End.Cause)
}

// waited is how long a call waited for people.
func waited(c projections.Call, now time.Time) string {
	q := c.Request
	if q == nil {
		return "–"
	}
	asked := time.UnixMicro(q.At.LogTime)
	if q.End != nil {
		return span(time.UnixMicro(q.End.At.LogTime).Sub(asked))
	}
	if q.State == fold.Pending {
		return span(now.Sub(asked))
	}
	return "–"
}
