package fold

// Outcome says what a record did.
type Outcome struct {
	Counts bool
	Reason Reason // why it does not count; "" where it does
}

// Reason is why a record does not count.
type Reason string

// The reasons.
const (
	ReasonUnreadable     Reason = "unreadable"      // malformed, or a type or version of another build
	ReasonNotFolded      Reason = "not_folded"      // moves no fold, by its type
	ReasonUnknownCall    Reason = "unknown_call"    // no such call in the session
	ReasonUnknownRequest Reason = "unknown_request" // no such request in the session
	ReasonUnknownRun     Reason = "unknown_run"     // no such unfinished run
	ReasonRepeated       Reason = "repeated"        // the key or id was used before
	ReasonNotPending     Reason = "not_pending"     // the request has ended
	ReasonOtherDigest    Reason = "other_digest"    // not about the current text of the request or call
	ReasonTooLate        Reason = "too_late"        // after the deadline
	ReasonTooEarly       Reason = "too_early"       // a time-out before the deadline, or a lapse before the time to start is over
	ReasonNotPermitted   Reason = "not_permitted"   // this actor or cause may not decide here
	ReasonVoted          Reason = "voted"           // the person has approved already
	ReasonStarted        Reason = "started"         // the call was started before
	ReasonEnded          Reason = "ended"           // the call or run has ended
	ReasonNoWarrant      Reason = "no_warrant"      // the warrant does not stand
	ReasonBlocked        Reason = "blocked"         // the session holds a critical record that this build cannot read
	ReasonOutOfOrder     Reason = "out_of_order"    // not the next number or round
	ReasonNotOwner       Reason = "not_owner"       // another principal's conversation
	ReasonBusy           Reason = "busy"            // the session has an unfinished run
)

func counts() Outcome           { return Outcome{Counts: true} }
func not(reason Reason) Outcome { return Outcome{Reason: reason} }
