package generate

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/fold"
)

// A generated journal must be one that a gate could have written: every record
// that moves a fold counts, and nothing is left open.
func TestGeneratedSessionsCount(t *testing.T) {
	entries, err := newStory().sessions(2000)
	require.NoError(t, err)
	sessions := map[string]*fold.Session{}
	for i, e := range entries {
		eventstest.Validate(t, e.Envelope)
		s := sessions[e.Session]
		if s == nil {
			s = fold.NewSession(e.Session)
			sessions[e.Session] = s
		}
		o := s.Apply(fold.Decode(events.Record{Offset: uint64(i), LogTime: int64(i), Envelope: e.Envelope}))
		require.True(t, o.Counts, "%s: %s", e.Type, o.Reason)
	}
	for id, s := range sessions {
		require.False(t, s.Busy(), id)
	}
}
