package ui_test

import (
	"cmp"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// lists writes a morning in which calls end in every way.
func (w *world) lists() {
	w.t.Helper()
	l := w.log
	ben := l.Person("p-ben", "Ben Okafor", "reviewer")
	l.Person("carla", "Carla Ruiz", "agent")
	run := l.Run("s1", "carla", "Drop the legacy tables, clean the build folder, then tell the team")
	l.Round("s1", run, "b1", 1, 7, "I will do it")
	free := l.Propose("s1", run, "b1", 0, "Read", `{"path":"migrations/0042_drop_legacy.sql"}`, events.EffectAllow)
	l.Start(free, nil, "")
	l.Result(free, events.StatusOK, events.CausePolicy, "DROP TABLE legacy;")
	approved, q := l.Protected("s1", run, "b1", 1, "Bash", `{"command":"rm -rf ./build && psql \"$DATABASE_URL\" -f migrations/0042_drop_legacy.sql"}`)
	l.Advance(72 * time.Second)
	d := l.Decide(q, ben, events.VerdictApprove, "")
	l.Start(approved, &q, d)
	l.Result(approved, events.StatusError, events.CauseHuman, "exit status 1")
	changed, q := l.Protected("s1", run, "b1", 2, "Write", `{"path":"config/payment.yaml"}`)
	q, d = l.Modify(q, ben, `{"path":"config/payment.test.yaml"}`)
	l.Start(changed, &q, d)
	l.Result(changed, events.StatusOK, events.CauseHuman, "x")
	declined, q := l.Protected("s1", run, "b1", 3, "Edit", `{"path":"docs/CHANGELOG.md"}`)
	l.Advance(22 * time.Second)
	l.Decide(q, ben, events.VerdictDecline, "not on a Friday")
	l.Result(declined, events.StatusDeclined, events.CauseHuman, "no")
	expired, q := l.Protected("s1", run, "b1", 4, "mail__send", `{"to":"all@example.org","subject":"done"}`)
	l.Advance(4 * time.Minute)
	l.End(q, events.CauseTimeout)
	l.Result(expired, events.StatusExpired, events.CauseTimeout, "late")
	lost, q := l.Protected("s1", run, "b1", 5, "Deploy", `{"env":"staging"}`)
	d = l.Decide(q, ben, events.VerdictApprove, "")
	l.Start(lost, &q, d)
	l.Result(lost, events.StatusAmbiguous, events.CauseExecutorLost, "?")
	denied := l.Propose("s1", run, "b1", 6, "Kill", `{}`, events.EffectDeny)
	l.Result(denied, events.StatusDeclined, events.CausePolicy, "denied")
	w.ask("s2", "Write", `{"path":"a-very-long-name-without-any-place-to-break-it-that-goes-on-and-on-and-on.txt"}`)
}

// U29: the lists fit each window, light and dark, and axe-core finds nothing.
// The pictures are left in the folder that COUNTERSIGN_SCREENSHOTS names.
func TestU29ListsFitEachWindow(t *testing.T) {
	t.Parallel()
	folder := cmp.Or(os.Getenv("COUNTERSIGN_SCREENSHOTS"), t.TempDir())
	w := newWorld(t, nil)
	w.lists()
	eve := w.as("eve")
	eve.export("/history/export?tool=Bash", "csv")
	w.as("ben").get("/access")
	w.settle()
	ctx, complaints := w.browser(t, "eve")
	for name, path := range map[string]string{
		"history": "/history?rule=required-tools&state=error,ambiguous,waiting&from=today&asker=carla", "search": "/history?q=legacy",
		"sessions": "/sessions?state=waiting&asker=carla", "access": "/access?outcome=ok", "record": "/at/0/7", "call": "/call?session=s1&batch=b1&index=2",
	} {
		for _, l := range []look{{"light", 1280}, {"dark", 320}} {
			at := name + "-" + l.String()
			l.open(t, ctx, w.server.URL+path)
			requireGood(t, ctx, at)
			png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(folder, at+".png"), png, 0o600))
		}
	}
	require.Empty(t, complaints())
}
