package generate

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/policy"
)

func until() time.Time { return time.Date(2026, 11, 20, 17, 0, 0, 0, time.UTC) }

// made fills a journal and returns all of it.
func made(t *testing.T, o Options) ([]journal.Stored, *journal.Journal, Made) {
	t.Helper()
	j, err := journal.Open(t.Context(), journal.Options{Path: filepath.Join(t.TempDir(), "journal.db")})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	if o.Until.IsZero() {
		o.Until = until()
	}
	m, err := Fill(t.Context(), j, o)
	require.NoError(t, err)
	all, err := j.Read(t.Context(), 0, m.Events+1)
	require.NoError(t, err)
	require.Len(t, all, m.Events)
	return all, j, m
}

// idle are the reasons for which made-up events may not count, and the least
// share of all events that is to be there.
func idle() map[fold.Reason]float64 {
	return map[fold.Reason]float64{
		fold.ReasonNotFolded:  0.01,   // views, sign-ins, what belongs to the house
		fold.ReasonNotPending: 0.0005, // approvals after the end
		fold.ReasonVoted:      0.0002, // the same person twice
		fold.ReasonTooLate:    0.0001, // after the deadline, before the gate said so
	}
}

// A generated journal must be one that a gate could have written: every record
// that moves a fold counts, but for those that are meant not to, and nothing is
// left open.
func TestGeneratedSessionsCount(t *testing.T) {
	all, _, _ := made(t, Options{Events: 20_000})
	meant := reasons(t, Options{Events: 20_000, Until: until()})
	sessions, found := map[string]*fold.Session{}, map[fold.Reason]int{}
	for i, stored := range all {
		if i%17 == 0 {
			eventstest.Validate(t, stored.Record.Envelope)
		}
		s := sessions[stored.Session]
		if s == nil {
			s = fold.NewSession(stored.Session)
			sessions[stored.Session] = s
		}
		r := fold.Decode(stored.Record)
		require.NoError(t, r.Err)
		o := s.Apply(r)
		if r.Envelope.Type != events.TypeShutdown {
			require.Equal(t, meant[r.Envelope.ID], o.Reason, "%s in row %d", r.Envelope.Type, stored.Row)
		}
		found[o.Reason]++
	}
	for reason, least := range idle() {
		require.Greater(t, found[reason], int(least*float64(len(all))), reason)
		delete(found, reason)
	}
	delete(found, "")
	require.Empty(t, found, "reasons that are not listed")
	for id, s := range sessions {
		require.False(t, s.Busy(), id)
	}
}

// reasons is what is meant not to count, by event id.
func reasons(t *testing.T, o Options) map[string]fold.Reason {
	t.Helper()
	w, err := newWorld(o.withDefaults())
	require.NoError(t, err)
	all := map[string]fold.Reason{}
	take := func(s *stream) {
		for _, m := range s.moments {
			all[m.ID] = m.idle
		}
	}
	take(w.house().stream)
	some := w.tellSome(0, o.Events/10)
	require.NoError(t, some.err)
	for _, s := range some.streams {
		take(s)
	}
	return all
}

func TestTheSameOptionsMakeTheSameBytes(t *testing.T) {
	o := Options{Events: 3000, Pending: 3, Seed: 7, Days: 5}
	_, a, first := made(t, o)
	_, b, second := made(t, o)
	require.Equal(t, a.Head(), b.Head())
	require.Equal(t, first, second)
	o.Seed++
	_, c, _ := made(t, o)
	require.NotEqual(t, a.Head(), c.Head())
}

// Log time spans the days that were asked for, and never goes back.
func TestLogTime(t *testing.T) {
	all, j, _ := made(t, Options{Events: 20_000, Days: 21})
	require.NoError(t, j.VerifyAll(t.Context(), func(int64) {}))
	last := int64(0)
	days := map[string]int{}
	for _, s := range all {
		require.GreaterOrEqual(t, s.Record.LogTime, last)
		last = s.Record.LogTime
		days[time.UnixMicro(last).UTC().Format(time.DateOnly)]++
	}
	require.Equal(t, until().UnixMicro(), last)
	require.GreaterOrEqual(t, len(days), 21)
	require.Greater(t, days["2026-11-18"], 5*days["2026-11-15"], "a Wednesday, a Sunday")
}

func TestPendingAndUnfinished(t *testing.T) {
	all, _, m := made(t, Options{Sessions: 20, Pending: 12, Unfinished: 5})
	require.Equal(t, 37, m.Sessions)
	sessions := map[string]*fold.Session{}
	for _, s := range all {
		if sessions[s.Session] == nil {
			sessions[s.Session] = fold.NewSession(s.Session)
		}
		sessions[s.Session].Apply(fold.Decode(s.Record))
	}
	waiting, unfinished := 0, 0
	for _, s := range sessions {
		for _, q := range s.Requests {
			if q.State == fold.Pending {
				require.True(t, q.Deadline.After(until().Add(24*time.Hour)))
				waiting++
			}
		}
		if s.Run() != nil {
			unfinished++
		}
	}
	require.Equal(t, 12, waiting)
	require.Equal(t, 17, unfinished)
}

// What is asked for is what is made, about, and a little more; payloads weigh
// about 400 bytes an event.
func TestAverage(t *testing.T) {
	all, _, m := made(t, Options{Events: 60_000})
	t.Logf("%d events of %d sessions, %d bytes", m.Events, m.Sessions, m.Bytes)
	require.InEpsilon(t, 60_000, m.Events, 0.05)
	require.GreaterOrEqual(t, m.Events, 60_000)
	require.InEpsilon(t, perSession, float64(m.Events)/float64(m.Sessions), 0.05, "events of a session")
	envelopes := int64(0)
	for _, s := range all {
		envelopes += int64(len(s.Record.Envelope))
	}
	require.InDelta(t, 400, float64(m.Bytes-envelopes)/float64(m.Events), 120, "bytes of payloads for an event")
}

// Every start can be judged again by what the log itself holds: the policy that
// it names, and the definition of its tool.
func TestTheDefinitionsAreThere(t *testing.T) {
	all, j, _ := made(t, Options{Events: 2000})
	defined := map[events.Digest][]byte{}
	for _, s := range all {
		switch e := fold.Decode(s.Record).Event.(type) {
		case *events.Definition:
			content, err := j.Payload(t.Context(), 0, fold.Decode(s.Record).Envelope.ID, e.Content.Commitment)
			require.NoError(t, err)
			defined[e.Digest] = content.Bytes
			require.Equal(t, e.Digest, events.DigestOf(content.Bytes))
		case *events.ToolCall:
			require.Contains(t, defined, e.PolicyDigest)
			if e.ToolSource != events.SourceUnknown {
				require.Contains(t, string(defined[e.ToolDigest]), `"name":"`+e.Tool+`"`)
				require.Contains(t, []string{policy.RuleRequired, policy.RuleDefault, policy.RuleDenied}, e.Rule)
			}
		}
	}
}
