package ui_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// U29, for the pages that look back: axe-core finds nothing, light and wide,
// dark and narrow, with all that is folded open, and nothing hangs over the
// edge.
func TestU29PagesThatLookBack(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	richStory(w)
	ctx, complaints := w.browser(t, "eve")
	for name, path := range map[string]string{
		"session": "/session?id=release", "a long session": "/session?id=night", "tools": "/tools", "a tool": "/tools/view?name=Bash",
		"insights": "/insights?span=30d", "system": "/system",
	} {
		for _, l := range []look{{"light", 1280}, {"dark", 320}} {
			l.open(t, ctx, w.server.URL+path)
			eval[bool](t, ctx, `(document.querySelectorAll("details").forEach(d => d.open = true), true)`)
			requireGood(t, ctx, name+", "+l.String())
		}
	}
	require.Empty(t, complaints())
}
