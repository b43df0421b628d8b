package gate_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// posters post rulings on one request at once and return the answers.
func (h *house) posters(t *testing.T, rulings []gate.Ruling) []gate.Answer {
	t.Helper()
	answers := make([]gate.Answer, len(rulings))
	var wg sync.WaitGroup
	begin := make(chan struct{})
	for i, r := range rulings {
		wg.Go(func() {
			<-begin
			a, err := h.Decide(t.Context(), r)
			if err != nil {
				t.Errorf("a poster was told %v", err)
			}
			answers[i] = a
		})
	}
	close(begin)
	wg.Wait()
	return answers
}

// Opposite decisions at once: one takes effect, and each poster is told the
// truth of it.
func TestAHundredOppositeDecisionsAtOnce(t *testing.T) {
	const runs, people = 200, 100
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	for run := range runs {
		session := fmt.Sprint("s", run)
		h.propose(t, session, "Bash")
		q := h.request(t, session, 0)
		rulings := make([]gate.Ruling, people)
		for i := range rulings {
			verdict := []events.Verdict{events.VerdictApprove, events.VerdictDecline}[i%2]
			rulings[i] = ruling(q, verdict, reviewer(fmt.Sprint("p-", i)))
		}
		answers := h.posters(t, rulings)
		winner := -1
		for i, a := range answers {
			if a.Accepted {
				require.Equal(t, -1, winner, "two were told that theirs took effect")
				winner = i
			}
		}
		require.NotEqual(t, -1, winner, "somebody's took effect")
		end := h.request(t, session, 0).End
		require.Equal(t, fmt.Sprint("p-", winner), end.Actor.Person)
		require.Equal(t, answers[winner].EventID, end.EventID)
		word := map[events.Verdict]string{events.VerdictApprove: "approved by", events.VerdictDecline: "declined by"}[end.Verdict]
		for i, a := range answers {
			require.True(t, i == winner || strings.Contains(a.Reason, word+" "+h.name(end.Actor.Person)), a.Reason)
		}
		var ran atomic.Int32
		r, _ := h.carry(t, session, 0, ok(&ran))
		require.Equal(t, end.Verdict == events.VerdictApprove, ran.Load() == 1, "it ran if and only if it was approved")
		require.Equal(t, events.CauseHuman, r.Cause)
	}
}

// name is what build's Names make of a person.
func (h *house) name(person string) string { return strings.ToUpper(person[2:3]) + person[3:] }

// A retry with the key of the first gets the first's answer: at once, later,
// after a restart; the key of another person does not.
func TestIdempotencyKeys(t *testing.T) {
	for _, c := range []struct {
		name string
		word gate.Ruling
	}{
		{"approve", gate.Ruling{Verdict: events.VerdictApprove}},
		{"decline", gate.Ruling{Verdict: events.VerdictDecline}},
		{"modify", gate.Ruling{Verdict: events.VerdictModify, Arguments: []byte(changed)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := open(t, log, "b1", time.Minute)
			h.propose(t, "s", "Bash")
			q := h.request(t, "s", 0)
			r := ruling(q, c.word.Verdict, alice, keyed("k"), func(r *gate.Ruling) { r.Arguments = c.word.Arguments })
			same := make([]gate.Ruling, 20)
			for i := range same {
				same[i] = r
			}
			answers := h.posters(t, same)
			for _, a := range answers {
				require.True(t, a.Accepted, a.Reason)
				require.Equal(t, answers[0].EventID, a.EventID, "all are told of the one that counted")
			}
			h.stop()
			h = open(t, log, "b2", time.Minute)
			before := log.count(events.TypeDecision)
			again := h.accepted(t, r)
			require.Equal(t, answers[0].EventID, again.EventID)
			require.Equal(t, before, log.count(events.TypeDecision), "a retry appends nothing")

			other := r
			other.Actor = bob
			require.Contains(t, h.refused(t, other), "Alice", "another person's key is another key")
			other = r
			other.IdempotencyKey = "k2"
			require.Contains(t, h.refused(t, other), "Alice", "another key is another decision")
			other = r
			other.Comment = "and another word"
			require.Contains(t, h.refused(t, other), "Idempotency-Key was used for another decision")
			if other = r; r.Verdict == events.VerdictModify {
				other.Arguments = []byte(`{"command":"id"}`)
				require.Contains(t, h.refused(t, other), "Idempotency-Key was used for another decision")
			}
			if other = r; r.Verdict != events.VerdictDecline {
				other.Verdict, other.Arguments = events.VerdictDecline, nil
				require.Contains(t, h.refused(t, other), "Idempotency-Key was used for another decision")
			}
		})
	}
}

// A retry of an approve whose text was changed since approves nothing new.
func TestARetryDoesNotApproveAnotherText(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.askByHand(t, "s", func(e *events.ApprovalRequest) { e.Quorum = 2 })
	q := h.request(t, "s", 0)
	first := ruling(q, events.VerdictApprove, alice, keyed("k"))
	a := h.accepted(t, first)
	require.Equal(t, 1, a.Needed)
	h.accepted(t, ruling(q, "", bob, becomes(changed)))
	require.Equal(t, a.EventID, h.accepted(t, first).EventID, "the first's answer")
	q = h.request(t, "s", 0)
	require.Equal(t, fold.Pending, q.State, "and no vote for what bob wrote")
	require.Equal(t, 1, q.Needed())
	first.IdempotencyKey = "k2"
	h.accepted(t, first)
	require.Equal(t, fold.Approved, h.request(t, "s", 0).State)
}

// The text that a client saw is compared with the one that it would approve,
// even where that changes while the first is being read.
func TestATextThatChangesWhileItIsCompared(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.askByHand(t, "s", func(e *events.ApprovalRequest) { e.Quorum = 2 })
	q := h.request(t, "s", 0)
	saw := func(r *gate.Ruling) { r.ArgumentsDigest = events.DigestOf([]byte(`{"command":"ls"}`)) }
	log.set(func(l *memLog) { l.reading = func() { h.accepted(t, ruling(q, "", bob, becomes(changed))) } })
	require.Contains(t, h.refused(t, ruling(q, events.VerdictApprove, alice, saw)), "other arguments now")
	require.Equal(t, 1, h.request(t, "s", 0).Needed())
}

// A person's name goes with the first decision that the log takes.
func TestANameIsRecordedOnceWithADecision(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Bash", "Bash")
	log.set(refuses(events.TypeDecision, 1, events.ErrRefused))
	_, err := h.Decide(t.Context(), ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
	require.True(t, gate.Refused(err))
	require.Zero(t, log.count(events.TypePerson))
	for i := range 2 {
		h.accepted(t, ruling(h.request(t, "s", i), events.VerdictApprove, alice))
		require.Equal(t, 1, log.count(events.TypePerson))
	}
}

func TestFourEyes(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.askByHand(t, "s", func(e *events.ApprovalRequest) { e.FourEyes = true })
	q := h.request(t, "s", 0)
	require.Contains(t, h.refused(t, ruling(q, events.VerdictApprove, reviewer("p-carla"))), "who asked may not decide")
	require.Equal(t, 1, h.accepted(t, ruling(q, "", bob, becomes(changed))).Needed, "nobody has approved bob's text")
	require.Contains(t, h.refused(t, ruling(q, events.VerdictApprove, bob)), "who wrote the arguments may not approve them")
	h.accepted(t, ruling(q, events.VerdictApprove, alice))
}

// Approves and modifications at once: whatever holds in the end, each poster
// is told whether theirs counted.
func TestModificationsAtOnce(t *testing.T) {
	for run := range 50 {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		h.propose(t, "s", "Bash")
		q := h.request(t, "s", 0)
		var rulings []gate.Ruling
		for i := range 10 {
			who := reviewer(fmt.Sprint("p-", i))
			rulings = append(rulings, ruling(q, "", who, becomes(fmt.Sprintf(`{"command":"ls %d"}`, i))))
			if run%2 == 0 {
				rulings = append(rulings, ruling(q, events.VerdictApprove, who))
			}
		}
		var answers []told
		for _, a := range h.posters(t, rulings) {
			answers = append(answers, told{event: a.EventID, accepted: a.Accepted, reason: a.Reason})
		}
		var ran []execution
		h.carry(t, "s", 0, func(_ context.Context, arguments []byte) gate.Output {
			x := execution{call: callName{"s", key("s", 0)}, executor: h.Executor(), arguments: string(arguments), records: int64(len(log.all()))}
			ran = append(ran, x)
			return gate.Output{}
		})
		require.Len(t, ran, 1)
		require.Empty(t, judgeLog(log).verdict(ran, answers))
		h.stop()
	}
}

// A time-out and a person at the same moment: one of them, by place.
func TestATimeOutRacesAPerson(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := open(t, newMemLog(time.Now), "b1", time.Second)
		for i := range 20 {
			session := fmt.Sprint("s", i)
			h.propose(t, session, "Bash")
			q := h.request(t, session, 0)
			<-time.After(time.Until(q.Deadline) + time.Duration(i-10)*200*time.Microsecond)
			a, err := h.Decide(t.Context(), ruling(q, events.VerdictApprove, alice))
			require.NoError(t, err)
			var ran atomic.Int32
			r, text := h.carry(t, session, 0, ok(&ran))
			require.Equal(t, a.Accepted, ran.Load() == 1)
			require.Equal(t, !a.Accepted, r.Status == events.StatusExpired && r.Cause == events.CauseTimeout, text)
		}
	})
}
