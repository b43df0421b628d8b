package ui_test

import (
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/ui"
)

// Statement S10: who gets a stream, and what of it.

func TestS10WithoutASessionThereIsNoStream(t *testing.T) {
	w := newWorld(t, nil)
	for name, c := range map[string]struct {
		authorization string
		status        int
	}{
		"nobody":     {"", http.StatusUnauthorized},
		"a stranger": {"Bearer " + w.tokens["ben"] + "x", http.StatusUnauthorized},
		"an agent":   {"Bearer " + w.tokens["mal"], http.StatusForbidden},
	} {
		t.Run(name, func(t *testing.T) {
			a := w.stranger().do(http.MethodGet, "/live", nil, map[string]string{"Authorization": c.authorization})
			require.Equal(t, c.status, a.status)
			require.Contains(t, a.header.Get("Content-Type"), "text/html")
		})
	}
}

// askOnly writes a request that is for one group alone.
func (w *world) askOnly(session, group string) {
	w.t.Helper()
	c := w.log.Propose(session, w.log.Run(session, "carla", "q"), "b1", 0, "Bash", `{}`, events.EffectAsk)
	w.log.Ask(c, func(q *events.ApprovalRequest) { q.Approvers = []string{group} })
	w.settle()
}

// Ben is a reviewer of no group: of what is for others he gets no byte, and no
// number.
func TestS10NobodyHearsOfWhatIsNotForThem(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Heartbeat = 10 * time.Millisecond })
	w.ask("for all", "Write", `{}`)
	w.askOnly("for sre", "group:sre")
	w.settle()
	ben, eve := w.as("ben"), w.as("eve")

	for who, pending := range map[*person]int{ben: 1, eve: 2} {
		_, frames := who.listen(t.Context(), "", nil)
		state := next(t, frames).notice(t)
		require.Equal(t, "state", state.Kind)
		require.Equal(t, pending, *state.Pending)
		require.Equal(t, map[int]string{1: "1", 2: "2"}[pending], who.get("/sessions").doc.Find("#pending").Contents().First().Text())
	}

	begin := w.end()
	quiet := w.raw("ben", idAt(w, begin))
	w.askOnly("also for sre", "group:sre")
	w.log.Append(events.Draft{Data: &events.Access{Action: "verify", Outcome: events.AccessOK, Via: "console"}})
	_, all := eve.listen(t.Context(), idAt(w, begin), nil)
	upTo(t, all, w.end())
	require.NoError(t, quiet.SetReadDeadline(time.Now().Add(200*time.Millisecond)))
	text := readUntilCut(quiet)
	require.Contains(t, text, ": alive")
	require.NotContains(t, text, "id:")
	require.NotContains(t, text, "sre")

	// What comes after it for him has his own count.
	_, frames := ben.listen(t.Context(), idAt(w, begin), nil)
	_, q := w.ask("for all again", "Write", `{}`)
	got := upTo(t, frames, w.end())
	last := got[len(got)-1].notice(t)
	require.Equal(t, q.RequestID, last.Request)
	require.Equal(t, 2, *last.Pending)
}

// Who is asked by a second request in a session may see the first, too.
func TestS10ASessionThatOpensToSomebodyCountsForThem(t *testing.T) {
	w := newWorld(t, nil)
	c := w.log.Propose("s", w.log.Run("s", "carla", "q"), "b1", 0, "Bash", `{}`, events.EffectAsk)
	w.log.Ask(c, func(q *events.ApprovalRequest) { q.Approvers = []string{"group:sre"} })
	begin := w.end()
	ben := w.as("ben")
	_, frames := ben.listen(t.Context(), idAt(w, begin), nil)
	w.log.Protected("s", "run-s", "b2", 0, "Write", `{}`)
	got := upTo(t, frames, w.end())
	require.Equal(t, 2, *got[len(got)-1].notice(t).Pending)
	require.Equal(t, 2, ben.get("/inbox").doc.Find(".card").Length())
}

// turncoat is an Auth that can change its mind about everybody.
type turncoat struct {
	*auth.Store

	mu   sync.Mutex
	then func(auth.Identity) (auth.Identity, error) // mu
}

// FromRequest implements ui.Auth.
func (a *turncoat) FromRequest(r *http.Request) (auth.Identity, error) {
	who, err := a.Store.FromRequest(r)
	a.mu.Lock()
	defer a.mu.Unlock()
	if err != nil || a.then == nil {
		return who, err
	}
	return a.then(who)
}

func TestS10AStreamEndsWithTheRightToIt(t *testing.T) {
	const check = 100 * time.Millisecond
	var a *turncoat
	w := newWorld(t, func(o *ui.Options) {
		a = &turncoat{Store: o.Auth.(*auth.Store)}
		o.Auth, o.Live.Check = a, check
	})
	become := func(f func(auth.Identity) (auth.Identity, error)) {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.then = f
	}
	for name, lose := range map[string]func(*person){
		"signed out": func(p *person) { p.post("/sign-out", url.Values{}) },
		"expired": func(*person) {
			become(func(auth.Identity) (auth.Identity, error) { return auth.Identity{}, auth.ErrBadCredentials })
		},
		"another role": func(*person) {
			become(func(i auth.Identity) (auth.Identity, error) {
				i.Roles = []string{auth.RoleAgent}
				return i, nil
			})
		},
	} {
		t.Run(name, func(t *testing.T) {
			become(nil)
			ben := w.as("ben")
			_, frames := ben.listen(t.Context(), "", nil)
			next(t, frames)
			lose(ben)
			ended(t, frames, 20*check)
		})
	}
}

// The interval that is built in keeps the five seconds.
func TestS10TheRightIsAskedForOftenEnough(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	ben := w.as("ben")
	_, frames := ben.listen(t.Context(), "", nil)
	next(t, frames)
	ben.post("/sign-out", url.Values{})
	ended(t, frames, 5*time.Second)
}
