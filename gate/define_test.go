package gate_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
)

// defined returns the definitions of a log, in its order.
func defined(t *testing.T, log *memLog) (found []*events.Definition) {
	t.Helper()
	for _, e := range log.all() {
		env, err := events.DecodeEnvelope(e.Record.Envelope)
		require.NoError(t, err)
		event, err := env.Event()
		require.NoError(t, err)
		if d, ok := event.(*events.Definition); ok {
			found = append(found, d)
		}
	}
	return found
}

// What events name by digest is recorded once, as what it is.
func TestDefinitionsAreRecordedOnce(t *testing.T) {
	all := []gate.Definition{
		{Kind: events.DefinePrompt, Name: "system", Content: []byte("You are helpful.")},
		{Kind: events.DefineConfiguration, Name: "agentd", Content: []byte(`{}`)},
	}
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		for range 2 {
			require.NoError(t, h.Define(t.Context(), all...))
			synctest.Wait() // the gate has read what it recorded
		}
		got := defined(t, log)
		require.Len(t, got, len(all))
		for i, media := range []string{events.MediaText, events.MediaJSON} {
			require.Equal(t, all[i].Kind, got[i].Kind)
			require.Equal(t, all[i].Digest(), got[i].Digest)
			require.Equal(t, media, got[i].Content.MediaType)
		}
	})
}

// The gate's own definitions stand in an order that is the same at each start.
func TestTheGateDefinesItsPolicyAndTools(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		require.NoError(t, h.DefineAll(t.Context()))
		var names []string
		for _, d := range defined(t, log) {
			names = append(names, d.Name)
		}
		require.Equal(t, []string{"policy", "Bash", "Read", "Rm"}, names)
	})
}
