package generate

import (
	"slices"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// reviewer is somebody who may decide.
func (t *telling) reviewer(c *call) person {
	if slices.Contains(c.request.Approvers, "group:sre") {
		return pick(t.d, t.cast.sre)
	}
	return pick(t.d, t.cast.reviewers)
}

// another is somebody else who may decide.
func (t *telling) another(c *call, than person) person {
	for {
		if who := t.reviewer(c); who.id != than.id {
			return who
		}
	}
}

// decision drafts what a person says of the text as it was asked about.
func (t *telling) decision(c *call, who person, verdict events.Verdict) *events.Decision {
	return &events.Decision{
		RequestID: c.request.RequestID, RequestDigest: c.asked.Digest(), Verdict: verdict, Cause: events.CauseHuman, Arguments: c.carried(),
		Actor: who.actor(t.now.Add(-37 * time.Minute)), Via: "console", Seen: &events.Seen{Render: t.d.requestID(), Digest: c.asked.Digest()},
	}
}

// tellDecision tells a decision, with a comment where there is one.
func (t *telling) tellDecision(c *call, e *events.Decision, comment string, idle fold.Reason, payloads ...events.Payload) events.Minted {
	if comment != "" {
		p := t.d.payload([]byte(comment))
		e.Comment = p.Ref(events.MediaText)
		payloads = append(payloads, p)
	}
	return t.tell(e, about{cause: c.asked.ID, idle: idle, payloads: payloads})
}

// approve tells an approval, and returns the warrant that it is once it
// completes the quorum.
func (t *telling) approve(c *call, who person, idle fold.Reason) warrant {
	comment := ""
	if t.d.chance(0.08) {
		comment = t.text.title(t.d)
	}
	m := t.tellDecision(c, t.decision(c, who, events.VerdictApprove), comment, idle)
	return warrant{
		Warrant: events.Warrant{Kind: events.WarrantDecision, Decision: m.ID},
		cause:   events.CauseHuman, digest: c.asked.Digest(), args: c.carried(),
	}
}

// change tells an approval with other arguments, and the revision that it
// becomes.
func (t *telling) change(c *call, who person) warrant {
	p := t.d.payload(c.kind.args(t))
	e := t.decision(c, who, events.VerdictModify)
	e.Arguments = p.Ref(events.MediaJSON)
	m := t.tellDecision(c, e, "", "", p)
	args := e.Arguments.CarriedBy(m.ID)
	revision := t.tell(&events.Revision{
		RequestID: c.request.RequestID, Number: 1, Arguments: args, By: who.id, Outcome: events.RevisionAsks, Terms: c.request.Terms,
	}, about{cause: m.ID})
	return warrant{
		Warrant: events.Warrant{Kind: events.WarrantDecision, Decision: m.ID},
		cause:   events.CauseHuman, digest: revision.Digest(), args: args,
	}
}

func (t *telling) decline(c *call, who person) {
	comment := t.text.title(t.d) + " first: " + string(t.text.some(t.d, t.d.size(60, 0.5, 400)))
	t.tellDecision(c, t.decision(c, who, events.VerdictDecline), comment, "")
	t.unstarted(c, events.StatusDeclined, events.CauseHuman, c.minted.ID,
		"Declined by a reviewer ("+who.name+"). The reviewer's comment: "+comment+"\n The tool was not run.")
}

// takeBack tells an approval that is taken back before the start.
func (t *telling) takeBack(c *call, who person) {
	if c.request.Quorum > 1 {
		t.approve(c, t.another(c, who), "")
	}
	w := t.approve(c, who, "")
	t.wait(800 * time.Millisecond)
	p := t.d.payload([]byte("Wrong environment: " + t.text.title(t.d)))
	t.tell(&events.Revocation{
		RequestID: c.request.RequestID, Decision: w.Decision, Actor: *who.actor(t.now.Add(-time.Hour)), Comment: p.Ref(events.MediaText),
	}, about{cause: w.Decision, payloads: []events.Payload{p}})
	t.unstarted(c, events.StatusCancelled, events.CauseCancelled, c.minted.ID, "The approval was taken back before the call started. The tool was not run.")
}

// gateDeclines tells a decision that the gate minted.
func (t *telling) gateDeclines(c *call, cause events.Cause) {
	t.tell(&events.Decision{
		RequestID: c.request.RequestID, RequestDigest: c.asked.Digest(), Verdict: events.VerdictDecline, Cause: cause, Arguments: c.carried(), Via: "gate",
	}, about{cause: c.asked.ID})
}

// views tells that somebody opened the request's page.
func (t *telling) views(c *call, who person) {
	t.tell(&events.Access{
		Action: "view", Outcome: events.AccessOK, Actor: who.actor(t.now.Add(-37 * time.Minute)), Resource: c.request.RequestID, Via: "console",
	}, about{idle: unfolded})
}
