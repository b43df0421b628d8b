package ui_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/countersign-dev/countersign/events"
)

func TestServe(t *testing.T) {
	if os.Getenv("SERVE") == "" {
		t.Skip("only to look at")
	}
	w := newWorld(t, nil)
	l := w.log
	l.SetNow(time.Now().Add(-10 * time.Minute))
	ben := l.Person("ben", "Ben Okafor", "reviewer")
	l.Person("carla", "Carla Reyes", "agent")
	run := l.Run("prod-release-2026-11-30", "carla", "release 2026-11-30 to production: clean the build, migrate the database, write the changelog")
	s := "prod-release-2026-11-30"
	l.Round(s, run, "b1", 1, 4, "I will read the migration, clean the build folder and run it, then update the changelog.")
	c := l.Propose(s, run, "b1", 0, "Read", `{"path":"migrations/0042_drop_legacy.sql"}`, events.EffectAllow)
	l.Start(c, nil, "")
	l.Result(c, events.StatusOK, events.CausePolicy, "DROP TABLE legacy;\n-- 1 row\n")
	c1, q1 := l.Protected(s, run, "b1", 1, "Edit", `{"path":"config/payment.yaml","old":"limit: 10","new":"limit: 100"}`)
	q1b, d := l.Modify(q1, ben, `{"path":"config/payment.yaml","old":"limit: 10","new":"limit: 50"}`)
	l.Start(c1, &q1b, d)
	l.Result(c1, events.StatusOK, events.CauseHuman, "1 place changed")
	c2, q2 := l.Protected(s, run, "b1", 2, "Write", `{"path":"docs/CHANGELOG.md","content":"# 2026-11-30\n\n- legacy dropped\n"}`)
	l.Decide(q2, ben, events.VerdictDecline, "not in this release")
	l.Result(c2, events.StatusDeclined, events.CauseHuman, "Declined by a reviewer (Ben Okafor). The reviewer's comment: not in this release\n The tool was not run.")
	l.Decide(q2, ben, events.VerdictApprove, "")
	cx, qx := l.Protected(s, run, "b1", 4, "mail__send", `{"to":"all@example.org","subject":"release"}`)
	l.Advance(4 * time.Minute)
	l.End(qx, events.CauseTimeout)
	l.Result(cx, events.StatusExpired, events.CauseTimeout, "Nobody answered the approval request in time, so it expired. The tool was not run.")
	l.SetNow(time.Now().Add(-2 * time.Minute))
	w.gate.add(q1)
	_, q3 := l.Protected(s, run, "b1", 3, "Bash", "{\"command\":\"rm -rf ./build\u200b && psql \\\"$DATABASE_URL\\\" -f migrations/0042_drop_legacy.sql\u202e\",\"timeout_ms\":120000,\"url\":\"https://ex\u0430mple.com/x\"}")
	w.gate.add(q3)
	r2 := l.Run("refund limits", "carla", "raise the refund limits")
	l.SetNow(time.Now().Add(-70 * time.Second))
	_, q4 := l.Protected("refund limits", r2, "b1", 0, "Write", `{"path":"config/limits.yaml","content":"refunds:\n  daily: 500\n  monthly: 9000\n\tkeep: true\n","mode":420}`)
	w.gate.add(q4)
	r3 := l.Run("vendor review", "carla", "mail the vendor")
	l.SetNow(time.Now().Add(-20 * time.Second))
	_, q5 := l.Protected("vendor review", r3, "b1", 0, "mail__send", `{"to":"legal@example.org","subject":"Q4 vendor contract","body":"`+strings.Repeat("x", 3000)+`"}`)
	w.gate.add(q5)
	w.settle()
	go func() {
		for range time.Tick(time.Second) {
			l.SetNow(time.Now())
		}
	}()
	link, _, _ := w.store.NewLink(t.Context())
	fmt.Fprintf(os.Stderr, "URL %s\nLINK %s\nBEN %s\nREQ %s\nREQ2 %s\nMOD %s\nDEC %s\n", w.server.URL, link, w.tokens["ben"], q3.RequestID, q4.RequestID, q1.RequestID, q2.RequestID)
	for {
		if b, _ := os.ReadFile("/tmp/uishots/add"); len(b) > 0 {
			os.Remove("/tmp/uishots/add")
			id := fmt.Sprintf("late-%d", time.Now().Unix())
			_, q := l.Protected(id, l.Run(id, "carla", "late"), "b1", 0, "Bash", `{"command":"`+strings.TrimSpace(string(b))+`"}`)
			w.gate.add(q)
		}
		if _, err := os.Stat("/tmp/uishots/stop"); err == nil {
			return
		}
		time.Sleep(200 * time.Millisecond)
	}
}
