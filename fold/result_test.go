package fold_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

var (
	started = after(approved, step{2, start(), ""})
	refusal = after(asked, step{1, decline(alice), ""})
	expired = after(asked, step{hour, says(events.CauseTimeout), ""})
)

// Invariants 2 and 6: one result a call, and it says what is true.
func TestWhichResultsCount(t *testing.T) {
	no := fold.ReasonNotPermitted
	for _, c := range []struct {
		name   string
		before []step
		what   draft
		want   fold.Reason
	}{
		{"ok before a start", approved, tells(events.StatusOK, events.CauseHuman, ""), no},
		{"ok before a start, by somebody", approved, tells(events.StatusOK, events.CauseHuman, me), no},
		{"ambiguous before a start", approved, tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), no},
		{"an error before a start, by an executor", approved, tells(events.StatusError, events.CauseGateError, me), no},
		{"an error before a start", approved, ends(events.StatusError, events.CauseGateError), ""},
		{"declined by a person", refusal, ends(events.StatusDeclined, events.CauseHuman), ""},
		{"a person's refusal that nobody spoke", asked, ends(events.StatusDeclined, events.CauseHuman), no},
		{"a person's refusal of what was approved", approved, ends(events.StatusDeclined, events.CauseHuman), no},
		{"a person's refusal of what expired", expired, ends(events.StatusDeclined, events.CauseHuman), no},
		{"a person's refusal of a free call", allowed, ends(events.StatusDeclined, events.CauseHuman), no},
		{"a time-out told as a refusal", expired, ends(events.StatusDeclined, events.CauseTimeout), no},
		{"a cancellation told as a refusal", approved, ends(events.StatusDeclined, events.CauseCancelled), no},
		{"expired", expired, ends(events.StatusExpired, events.CauseTimeout), ""},
		{"approved, and lapsed", approved, ends(events.StatusExpired, events.CauseTimeout), ""},
		{"lapsed, as it says, while the approval stands", after(approved, step{2, ends(events.StatusExpired, events.CauseTimeout), fold.ReasonTooEarly}), ends(events.StatusExpired, events.CauseTimeout), ""},
		{"cancelled", approved, ends(events.StatusCancelled, events.CauseSuperseded), ""},
		{"declined by policy", []step{{0, call(func(e *events.ToolCall) { e.Effect = events.EffectDeny }), ""}}, ends(events.StatusDeclined, events.CausePolicy), ""},
		{"stale", approved, ends(events.StatusStale, events.CauseStale), ""},
		{"ok after the start", started, tells(events.StatusOK, events.CauseHuman, me), ""},
		{"failed after the start", started, tells(events.StatusError, events.CauseHuman, me), ""},
		{"ok by another executor", started, tells(events.StatusOK, events.CauseHuman, "m/b7"), no},
		{"ok by nobody", started, tells(events.StatusOK, events.CauseHuman, ""), no},
		{"declined after the start", started, tells(events.StatusDeclined, events.CauseHuman, me), no},
		{"expired after the start", started, tells(events.StatusExpired, events.CauseTimeout, me), no},
		{"cancelled after the start", started, tells(events.StatusCancelled, events.CauseCancelled, me), no},
		{"stale after the start", started, tells(events.StatusStale, events.CauseStale, me), no},
		{"ambiguous after the start, by whoever found it", started, tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), ""},
		{"ambiguous before a start, of a call that was lost", after(approved, step{2, loses(key), ""}), tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), ""},
		{"ambiguous, lost while it was pending", after(asked, step{2, loses(key), ""}), tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), ""},
		{"ambiguous, lost while it was free to run", after(allowed, step{2, loses(key), ""}), tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), ""},
		{"ambiguous, after a process was lost alone", after(approved, step{2, recovers(key), fold.ReasonNotFolded}), tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), no},
		{"ambiguous, where another call was lost", after(approved, step{2, loses(events.CallKey{BatchID: "b", Index: 7}), fold.ReasonUnknownCall}), tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), no},
		{"ambiguous, by an executor of a call that was lost", after(approved, step{2, loses(key), ""}), tells(events.StatusAmbiguous, events.CauseExecutorLost, me), no},
		{"cancelled, of a call that was lost", after(approved, step{2, loses(key), ""}), ends(events.StatusCancelled, events.CauseCancelled), no},
		{"ok, of a call that was lost after its start", after(started, step{2, loses(key), ""}), tells(events.StatusOK, events.CauseHuman, me), no},
		{"of another tool", started, func(b *book) events.Draft {
			d := tells(events.StatusOK, events.CauseHuman, me)(b)
			d.Data.(*events.ToolResult).Tool = "Write"
			return d
		}, no},
		{"of an unknown call", started, func(b *book) events.Draft {
			d := tells(events.StatusOK, events.CauseHuman, me)(b)
			d.Data.(*events.ToolResult).Index = 7
			return d
		}, fold.ReasonUnknownCall},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, after(c.before, step{hour, c.what, c.want})...)
			require.Equal(t, c.want == "", b.call().Result != nil)
			require.Equal(t, c.want != "", b.Busy())
		})
	}
}

func TestTheFirstResultHolds(t *testing.T) {
	b := write(t, after(started,
		step{3, tells(events.StatusAmbiguous, events.CauseExecutorLost, ""), ""},
		step{4, tells(events.StatusOK, events.CauseHuman, me), fold.ReasonEnded})...)
	require.Equal(t, events.StatusAmbiguous, b.call().Result.Status, "what came later is evidence, and never what the model was told")
}

func TestAResultClosesItsRequest(t *testing.T) {
	b := write(t, after(asked, step{1, ends(events.StatusError, events.CauseGateError), ""}, step{2, approve(alice), fold.ReasonNotPending})...)
	require.Equal(t, fold.Closed, b.request().State)
	require.Nil(t, b.request().End)
	require.Zero(t, b.request().StartBy())
}

func TestEveryCauseHasOneStatus(t *testing.T) {
	for cause, want := range map[events.Cause]events.Status{
		events.CauseHuman: events.StatusDeclined, events.CausePolicy: events.StatusDeclined, events.CauseHandler: events.StatusDeclined,
		events.CauseStandingRule: events.StatusDeclined, events.CauseBypass: events.StatusDeclined, events.CauseTimeout: events.StatusExpired,
		events.CauseCancelled: events.StatusCancelled, events.CauseSuperseded: events.StatusCancelled, events.CauseStale: events.StatusStale,
		events.CauseExecutorLost: events.StatusAmbiguous, events.CauseGateError: events.StatusError, events.CauseDeliveryFailed: events.StatusError,
		"of another build": events.StatusError,
	} {
		require.Equal(t, want, fold.StatusOf(cause), cause)
	}
}
