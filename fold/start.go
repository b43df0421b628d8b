package fold

import "github.com/countersign-dev/countersign/events"

// start judges a start at its place: the call's first, before any result, in a
// run that nobody cancelled, under a warrant that stands, for exactly the
// recorded text.
func (s *Session) start(r Record, e *events.ToolStarted) Outcome {
	c := s.Calls[e.CallKey]
	switch {
	case c == nil:
		return not(ReasonUnknownCall)
	case c.Start != nil:
		return not(ReasonStarted)
	case c.Result != nil || c.Lost != "":
		return not(ReasonEnded)
	case s.Blocked != "":
		return not(ReasonBlocked)
	case s.RunOver(c.RunID):
		return not(ReasonEnded)
	case e.Tool != c.Tool:
		return not(ReasonOtherDigest)
	}
	if reason := s.warrant(r, c, e); reason != "" {
		return not(reason)
	}
	c.Start = &Start{ToolStarted: *e, EventID: r.Envelope.ID, At: r.Position}
	return counts()
}

// warrant says whether the warrant of a start stands, as a reason that is ""
// where it does.
func (s *Session) warrant(r Record, c *Call, e *events.ToolStarted) Reason {
	switch e.Warrant.Kind {
	case events.WarrantDecision:
		return decided(r, c.Request, e)
	case events.WarrantRule:
		if c.Effect != events.EffectAllow || e.Warrant.Rule != c.Rule || e.Warrant.PolicyDigest != c.PolicyDigest {
			return ReasonNoWarrant
		}
	case events.WarrantBypass:
		run := s.Run()
		if c.Effect == events.EffectDeny || run == nil || run.Bypass == nil || e.Warrant.ID != run.ID || run.ID != c.RunID ||
			r.time().After(run.Bypass.Until.Time) {
			return ReasonNoWarrant
		}
	case events.WarrantStandingRule:
		return ReasonNoWarrant // no event grants one yet
	}
	if c.Request != nil {
		return ReasonNoWarrant
	}
	if e.RequestDigest != c.Digest || !same(e.Arguments, c.Arguments) {
		return ReasonOtherDigest
	}
	return ""
}

// decided says whether an approval stands for a start, as warrant does.
func decided(r Record, q *Request, e *events.ToolStarted) Reason {
	switch {
	case q == nil || q.State != Approved || q.Revoked || q.End == nil || q.End.EventID != e.Warrant.Decision:
		return ReasonNoWarrant
	case r.time().After(q.StartBy()):
		return ReasonTooLate
	case e.RequestDigest != q.Digest || !same(e.Arguments, q.Arguments):
		return ReasonOtherDigest
	}
	return ""
}

// result judges a result at its place. Before a start nothing can have run, so
// ok and ambiguous do not count, nor a refusal that nobody spoke; after one,
// only what ran can be said, by who ran it, or that nobody knows. Of a call that
// was lost with a part of the log nobody knows whether it was started.
func (s *Session) result(r Record, e *events.ToolResult) Outcome {
	c := s.Calls[e.CallKey]
	if c == nil {
		return not(ReasonUnknownCall)
	}
	if c.Result != nil {
		return not(ReasonEnded)
	}
	if !c.admits(e) {
		return not(ReasonNotPermitted)
	}
	if c.lapsesTooEarly(r, e) {
		return not(ReasonTooEarly)
	}
	c.Result = &Result{ToolResult: *e, EventID: r.Envelope.ID, At: r.Position}
	if c.Request != nil && c.Request.State == Pending {
		c.Request.State = Closed
	}
	return counts()
}

// recovered names calls that what is lost of the log may have started. All are
// open, or it moves nothing.
func (s *Session) recovered(r Record, e *events.Recovered) Outcome {
	if e.Rollback == nil {
		return not(ReasonNotFolded)
	}
	for _, key := range e.Calls {
		switch c := s.Calls[key]; {
		case c == nil:
			return not(ReasonUnknownCall)
		case c.Result != nil || c.Lost != "":
			return not(ReasonEnded)
		}
	}
	for _, key := range e.Calls {
		s.Calls[key].Lost = r.Envelope.ID
	}
	return counts()
}

func (c *Call) admits(e *events.ToolResult) bool {
	if e.Tool != c.Tool {
		return false
	}
	if c.Lost != "" {
		return e.Status == events.StatusAmbiguous && e.Executor == ""
	}
	if c.Start == nil {
		return c.admitsUnstarted(e)
	}
	ran := e.Status == events.StatusOK || e.Status == events.StatusError
	return e.Status == events.StatusAmbiguous || ran && e.Executor == c.Start.Executor
}

// admitsUnstarted holds the result of what did not run to the truth: its
// status is that of its cause, or an error, and a person is named as the cause
// only where a person declined.
func (c *Call) admitsUnstarted(e *events.ToolResult) bool {
	status := StatusOf(e.Cause)
	switch {
	case e.Executor != "" || status == events.StatusAmbiguous:
		return false
	case e.Cause == events.CauseHuman && !c.declinedBy(events.CauseHuman):
		return false
	}
	return e.Status == events.StatusError || e.Status == status
}

// lapsesTooEarly reports whether a result says that an approval lapsed which
// still stands.
func (c *Call) lapsesTooEarly(r Record, e *events.ToolResult) bool {
	q := c.Request
	return c.Start == nil && e.Cause == events.CauseTimeout && q != nil && q.State == Approved && !r.time().After(q.StartBy())
}

func (c *Call) declinedBy(cause events.Cause) bool {
	q := c.Request
	return q != nil && q.State == Declined && q.End.Cause == cause
}

// StatusOf is the one table from how a call was ended without a start to its
// status. A time-out or a cancellation is never a person's refusal.
func StatusOf(cause events.Cause) events.Status {
	switch cause {
	case events.CauseTimeout:
		return events.StatusExpired
	case events.CauseCancelled, events.CauseSuperseded:
		return events.StatusCancelled
	case events.CauseStale:
		return events.StatusStale
	case events.CauseExecutorLost:
		return events.StatusAmbiguous
	case events.CauseGateError, events.CauseDeliveryFailed:
		return events.StatusError
	case events.CauseHuman, events.CausePolicy, events.CauseHandler, events.CauseStandingRule, events.CauseBypass:
		return events.StatusDeclined
	}
	return events.StatusError
}
