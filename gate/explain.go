package gate

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
)

// explain is the text of a call that did not run: it says who or what ended
// it, truthfully, and what the reviewer wrote.
func (g *Gate) explain(ctx context.Context, p plan) string {
	switch p.over {
	case events.CauseHuman:
		return g.declinedBy(ctx, p)
	case events.CauseTimeout:
		if p.vote == nil {
			return "The call was approved, but it was not started in time, so the approval has lapsed." + notRun
		}
		return "Nobody answered the approval request in time, so it expired." + notRun
	case events.CauseCancelled:
		if p.revoked {
			return "The approval was taken back before the call started." + notRun
		}
		return "The run was cancelled before the call started." + notRun
	case events.CauseSuperseded:
		return "A new message from the user took the place of this call before it was decided." + notRun
	case events.CausePolicy:
		return fmt.Sprintf("Declined by policy (rule %s).", p.call.Rule) + notRun
	case events.CauseHandler:
		return declined("Declined by the program's approval handler.", "Its", g.commentOf(ctx, p))
	case events.CauseStale:
		return "The call is no longer what was judged." + notRun
	case events.CauseExecutorLost:
		return lostText
	case events.CauseGateError, events.CauseDeliveryFailed, events.CauseStandingRule, events.CauseBypass:
		return "The approval gate could not record or judge the start of this call; this is no person's refusal." + notRun
	}
	return "The call ended." + notRun
}

// DeclinedText is what the model is told of a call that a person declined:
// who, and what they wrote.
func DeclinedText(name, comment string) string {
	text := "Declined by a reviewer"
	if name != "" {
		text += " (" + name + ")"
	}
	return declined(text+".", "The reviewer's", comment)
}

func declined(text, whose, comment string) string {
	if comment != "" {
		text += " " + whose + " comment: " + comment + "\n"
	}
	return text + notRun
}

// notRun ends every text about a call that did not start.
const notRun = " The tool was not run."

func (g *Gate) declinedBy(ctx context.Context, p plan) string {
	if p.vote == nil {
		return DeclinedText("", "")
	}
	name := ""
	if a := p.vote.Actor; a != nil {
		name = g.opt.Names(a.Person)
	}
	return DeclinedText(name, g.commentOf(ctx, p))
}

// commentOf is what was written with the decision that ended a call, or "".
func (g *Gate) commentOf(ctx context.Context, p plan) string {
	if p.vote == nil || p.vote.Comment == nil {
		return ""
	}
	comment, err := g.log.Payload(ctx, p.vote.EventID, p.vote.Comment)
	if err != nil {
		g.logger.WarnContext(ctx, "a comment could not be read", "error", err)
		comment = []byte("(it could not be read)")
	}
	return string(comment)
}
