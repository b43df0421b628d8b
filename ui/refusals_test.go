package ui_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// refused are the refusals on record, the oldest first.
func (w *world) refused(t *testing.T) []projections.Access {
	t.Helper()
	w.settle()
	log, err := w.views.AccessLog(t.Context(), projections.AccessFilter{Action: "open", Outcome: events.AccessRefused}, "", 500)
	require.NoError(t, err)
	slices.Reverse(log.Items)
	return log.Items
}

// What is refused is on record by its name, once, and neither the answer nor the
// record says whether there is such a thing.
func TestARefusalNamesWhatWasRefused(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{}`)
	w.log.Propose("hidden", w.log.Run("hidden", "carla", "x"), "b1", 0, "Read", `{}`, events.EffectAllow)
	w.settle()
	ben := w.as("ben")
	absent := strings.Repeat("0", 8) + q.RequestID[8:]
	for _, c := range []struct{ there, not, thing string }{
		{"/session?id=hidden", "/session?id=nothing", "session %s"},
		{"/call?session=hidden&batch=b1&index=0", "/call?session=nothing&batch=b1&index=0", "session %s"},
	} {
		there, not := ben.get(c.there), ben.get(c.not)
		require.Equal(t, http.StatusForbidden, there.status, c.there)
		require.Equal(t, there.status, not.status)
		require.Equal(t, there.text("main"), not.text("main"))
	}
	require.Equal(t, http.StatusForbidden, ben.get("/requests/"+absent).status)
	require.Equal(t, http.StatusForbidden, ben.get("/requests/"+absent+"/text").status, "the same thing, once")
	require.Equal(t, http.StatusForbidden, ben.get("/at/0/999999").status)
	require.Equal(t, http.StatusForbidden, ben.get("/access").status)
	var things []string
	for _, a := range w.refused(t) {
		things = append(things, a.Resource)
		require.Empty(t, a.Session, "it belongs to no session")
		require.NotNil(t, a.Actor)
	}
	require.Equal(t, []string{"session hidden", "session nothing", absent, "record 0:999999", "/access"}, things)
	require.Equal(t, http.StatusNotFound, w.as("eve").get("/requests/"+absent).status, "who sees all is told")
}

func TestRefusalsDoNotFillTheLog(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	for i := range 120 {
		require.Equal(t, http.StatusForbidden, ben.get(fmt.Sprintf("/session?id=guess-%d", i)).status)
	}
	all := w.refused(t)
	require.Len(t, all, 100)
	require.Equal(t, "session guess-98", all[98].Resource)
	require.Contains(t, all[99].Reason, "what else is refused until its end is not recorded")
}
