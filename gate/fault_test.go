package gate_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// Invariant 10: if the log cannot take the start, the tool does not run.
func TestALogThatRefusesTheStart(t *testing.T) {
	for _, err := range []error{fmt.Errorf("%w: the disk is full", events.ErrRefused), errors.New("an unknown failure")} {
		log := newMemLog(time.Now)
		h := open(t, log, "b1", time.Minute)
		h.propose(t, "s", "Bash", "Read")
		h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
		log.set(refuses(events.TypeToolStarted, 2, err))
		for i := range 2 {
			var ran atomic.Int32
			r, text := h.carry(t, "s", i, ok(&ran))
			require.Zero(t, ran.Load())
			require.Equal(t, events.StatusError, r.Status)
			require.Equal(t, events.CauseGateError, r.Cause)
			require.Contains(t, text, "no person's refusal")
			require.Contains(t, text, "The tool was not run.")
		}
	}
}

func TestALogThatStopped(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Read", "Bash")
	q := h.request(t, "s", 1)
	log.set(dead(h.source))
	var ran atomic.Int32
	require.ErrorIs(t, h.Carry(t.Context(), "s", key("s", 0), ok(&ran)), events.ErrLogStopped)
	require.Zero(t, ran.Load())
	_, err := h.Decide(t.Context(), ruling(q, events.VerdictApprove, alice))
	require.ErrorIs(t, err, events.ErrLogStopped)
	require.Equal(t, fold.Pending, h.request(t, "s", 1).State, "what was not recorded decides nothing")
	require.ErrorIs(t, h.Propose(t.Context(), proposal("s2", "", "Read")), events.ErrLogStopped)
}

// What the log says it did not take may stand in it all the same: such a start
// is never followed by a run, and its call gets a result.
func TestAStartThatWasStoredThoughTheAppendFailed(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Read")
	log.set(func(l *memLog) {
		once := true
		l.fail = func(_ string, drafts []events.Draft) *fault {
			if drafts[0].Data.Type() != events.TypeToolStarted || !once {
				return nil
			}
			once = false
			return &fault{err: errors.New("the answer was lost"), stored: true}
		}
	})
	var ran atomic.Int32
	r, text := h.carry(t, "s", 0, ok(&ran))
	require.Zero(t, ran.Load())
	require.Equal(t, events.StatusAmbiguous, r.Status)
	require.Contains(t, text, "unknown")
}

// A result is tried again until the log has it, and once.
func TestAResultIsNeverDropped(t *testing.T) {
	for _, stored := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := open(t, log, "b1", time.Minute)
			h.propose(t, "s", "Read")
			log.set(func(l *memLog) {
				times := 3
				l.fail = func(_ string, drafts []events.Draft) *fault {
					if times == 0 || drafts[0].Data.Type() != events.TypeToolResult {
						return nil
					}
					times--
					return &fault{err: errors.New("not now"), stored: stored}
				}
			})
			var ran atomic.Int32
			r, _ := h.carry(t, "s", 0, ok(&ran))
			require.Equal(t, events.StatusOK, r.Status)
			require.EqualValues(t, 1, ran.Load())
			require.Equal(t, 1, log.count(events.TypeToolResult))
		})
	}
}

// A result that can never be recorded as it is ends its call all the same, once
// tried, in words that can.
func TestAResultThatCannotBeRecorded(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Read")
	tried := 0
	log.set(func(l *memLog) {
		l.fail = func(_ string, drafts []events.Draft) *fault {
			if drafts[0].Data.Type() != events.TypeToolResult {
				return nil
			}
			if tried++; tried > 1 {
				return nil
			}
			return &fault{err: events.ErrUnrecordable}
		}
	})
	var ran atomic.Int32
	r, text := h.carry(t, "s", 0, ok(&ran))
	require.Equal(t, events.StatusOK, r.Status)
	require.Equal(t, "(The result of this call could not be recorded.)", text)
	require.EqualValues(t, 1, ran.Load())
	require.Equal(t, 2, tried)
}

// Durable, but not judged in time: an error with the event's id, and the truth
// later.
func TestWhatIsNotBackInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(time.Now)
		h := openWith(t, log, time.Minute, func(o *gate.Options) { o.JudgedWithin = time.Second })
		h.propose(t, "s", "Bash")
		q := h.request(t, "s", 0)
		log.set(func(l *memLog) { l.held[h.source] = true })
		a, err := h.Decide(t.Context(), ruling(q, events.VerdictApprove, alice))
		require.ErrorIs(t, err, gate.ErrNotBack)
		require.NotEmpty(t, a.EventID)
		require.False(t, a.Accepted)
		require.Equal(t, fold.Pending, h.request(t, "s", 0).State)
		log.set(func(l *memLog) { l.held[h.source] = false })
		h.until(t, "s", func(s *fold.Session) bool { return s.Requests[q.RequestID].State == fold.Approved })
		require.Equal(t, a.EventID, h.request(t, "s", 0).End.EventID)

		log.set(func(l *memLog) { l.held[h.source] = true })
		a, err = h.Decide(t.Context(), ruling(q, "", alice, becomes(changed)))
		require.NoError(t, err, "what has ended is known without the fold")
		require.Contains(t, a.Reason, "approved by Alice")
	})
}

// A modification whose revision is not back either.
func TestARevisionThatIsNotBackInTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := newMemLog(time.Now)
		h := openWith(t, log, time.Minute, func(o *gate.Options) { o.JudgedWithin = time.Second })
		h.propose(t, "s", "Bash")
		q := h.request(t, "s", 0)
		log.set(refuses(events.TypeRevision, 3, errors.New("not now")))
		a, err := h.Decide(t.Context(), ruling(q, "", alice, becomes(changed)))
		require.ErrorIs(t, err, gate.ErrNotBack)
		require.NotEmpty(t, a.EventID)
		h.until(t, "s", func(s *fold.Session) bool { return s.Requests[q.RequestID].State == fold.Approved })
		var ran atomic.Int32
		_, text := h.carry(t, "s", 0, ok(&ran))
		require.Equal(t, events.DigestOf([]byte(changed)), events.DigestOf([]byte(text)), "it was judged as soon as the log took it")
	})
}

// Invariant 3: a start that comes back late runs once, and one that comes back
// without effect does not.
func TestAStartThatIsNotBackInTime(t *testing.T) {
	for _, revoked := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			log := newMemLog(time.Now)
			h := openWith(t, log, time.Minute, func(o *gate.Options) { o.JudgedWithin = time.Second })
			h.propose(t, "s", "Bash")
			a := h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictApprove, alice))
			log.set(func(l *memLog) { l.held[h.source] = true })
			if revoked {
				_, err := log.as(hand).Append(t.Context(), events.Draft{Session: "s", Data: &events.Revocation{
					RequestID: h.request(t, "s", 0).RequestID, Decision: a.EventID, Actor: *bob,
				}})
				require.NoError(t, err)
			}
			var ran atomic.Int32
			carried := make(chan error, 1)
			go func() { carried <- h.Carry(t.Context(), "s", key("s", 0), ok(&ran)) }()
			<-time.After(30 * time.Second)
			require.Equal(t, 1, log.count(events.TypeToolStarted))
			require.Zero(t, ran.Load())
			log.set(func(l *memLog) { l.held[h.source] = false })
			require.NoError(t, <-carried)
			r, text := h.result(t, "s", 0)
			if revoked {
				require.Zero(t, ran.Load())
				require.Equal(t, events.StatusCancelled, r.Status, text)
				require.Contains(t, text, "taken back")
				return
			}
			require.EqualValues(t, 1, ran.Load())
			require.Equal(t, events.StatusOK, r.Status, text)
		})
	}
}

func TestArgumentsThatAreGone(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Bash", "Read")
	q := h.request(t, "s", 0)
	log.lose(callEvent(t, h, "s", 0))
	log.lose(callEvent(t, h, "s", 1))
	require.Contains(t, h.refused(t, ruling(q, events.VerdictApprove, alice, func(r *gate.Ruling) { r.ArgumentsDigest = "x" })), "cannot be read now")
	h.accepted(t, ruling(q, events.VerdictApprove, alice))
	for i := range 2 {
		var ran atomic.Int32
		r, _ := h.carry(t, "s", i, ok(&ran))
		require.Zero(t, ran.Load())
		require.Equal(t, events.StatusError, r.Status)
		require.Equal(t, events.CauseGateError, r.Cause)
	}
}

// A modification whose text is gone is refused, not held for ever.
func TestAModifiedTextThatIsGone(t *testing.T) {
	log := newMemLog(time.Now)
	h := open(t, log, "b1", time.Minute)
	h.propose(t, "s", "Bash")
	q := h.request(t, "s", 0)
	text := events.NewPayload([]byte(changed)).Ref(events.MediaJSON)
	_, err := log.as(hand).Append(t.Context(), events.Draft{Session: "s", Data: &events.Decision{
		RequestID: q.RequestID, RequestDigest: q.Digest, Verdict: events.VerdictModify, Cause: events.CauseHuman, Arguments: text, Actor: alice, Via: "hand",
	}})
	require.NoError(t, err)
	h.until(t, "s", func(s *fold.Session) bool { return len(s.Requests[q.RequestID].Revisions) == 1 })
	q = h.request(t, "s", 0)
	require.Equal(t, events.RevisionRefused, q.Revisions[0].Outcome)
	require.Equal(t, fold.Pending, q.State)
}

func callEvent(t *testing.T, h *house, session string, i int) (id string) {
	t.Helper()
	require.NoError(t, h.View(t.Context(), session, func(s *fold.Session) { id = s.Calls[key(session, i)].EventID }))
	return id
}

func TestAToolThatPanics(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Read", "Read")
	r, text := h.carry(t, "s", 0, func(context.Context, []byte) gate.Output { panic("oh") })
	require.Equal(t, events.StatusError, r.Status)
	require.NotContains(t, text, "oh", "what is inside a tool is not told to the model")
	var ran atomic.Int32
	r, _ = h.carry(t, "s", 1, ok(&ran))
	require.Equal(t, events.StatusOK, r.Status, "the gate goes on")
}

// A result beyond the bound is cut, visibly, with its size and a commitment to
// the whole.
func TestLargeResults(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Read", "Read", "Read")
	whole := bytes.Repeat([]byte("x"), 15<<20)
	r, text := h.carry(t, "s", 0, func(context.Context, []byte) gate.Output { return gate.Output{Content: whole} })
	require.Equal(t, events.StatusOK, r.Status)
	require.Len(t, text, gate.MaxResult)
	require.EqualValues(t, len(whole), r.Result.TruncatedFrom.Bytes)

	r, _ = h.carry(t, "s", 1, func(context.Context, []byte) gate.Output {
		return gate.Output{Content: whole[:10], FullBytes: 1 << 40, FullDigest: events.DigestOf(whole)}
	})
	require.EqualValues(t, 1<<40, r.Result.TruncatedFrom.Bytes, "what the tool itself cut")

	long := strings.Repeat("y", 1000)
	r, _ = h.carry(t, "s", 2, func(context.Context, []byte) gate.Output {
		return gate.Output{Content: []byte("z"), MediaType: long, StoppedBy: long}
	})
	require.Equal(t, events.StatusOK, r.Status, "labels of any length do not keep a result out of the log")
}

// Whatever a model writes, its call gets a result, and the turn is recorded.
func TestArgumentsThatNothingCanRun(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	p := proposal("s", "", "Bash", "Bash", "Bash", "Bash", "Read", strings.Repeat("T", 1000), "")
	for i, args := range []string{
		`{"command":`, `{"command":"a","command":"b"}`, `{"command":"a","` + strings.Repeat("\u2028", 200<<10) + `":1}`,
		`{"command":"` + strings.Repeat("a", gate.MaxArguments) + `"}`, "",
	} {
		p.Calls[i].Arguments = []byte(args)
	}
	require.NoError(t, h.Propose(t.Context(), p))
	for i := range p.Calls {
		r, text := h.result(t, "s", i)
		require.Equal(t, events.StatusError, r.Status, text)
		require.Equal(t, events.CausePolicy, r.Cause)
		require.Contains(t, text, "not run")
		require.Less(t, len(text), 4<<10)
	}
}

func TestALongCommentFitsTheResult(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Bash")
	h.accepted(t, ruling(h.request(t, "s", 0), events.VerdictDecline, alice, func(r *gate.Ruling) { r.Comment = strings.Repeat("no ", 270_000) }))
	var ran atomic.Int32
	r, text := h.carry(t, "s", 0, ok(&ran))
	require.Equal(t, events.StatusDeclined, r.Status)
	require.Contains(t, text, "(Alice)")
	require.NotNil(t, r.Result.TruncatedFrom)
}

func TestAProposalThatDoesNotCount(t *testing.T) {
	h := open(t, newMemLog(time.Now), "b1", time.Minute)
	h.propose(t, "s", "Read")
	require.ErrorIs(t, h.Propose(t.Context(), proposal("s", "", "Read")), gate.ErrNotCounted, "its key was used")
	other := proposal("s", "", "Read")
	other.BatchID, other.Principal = "b2", "p-dora"
	require.ErrorIs(t, h.Propose(t.Context(), other), gate.ErrNotCounted, "another's conversation")
	require.ErrorIs(t, h.Propose(t.Context(), proposal("s2", "r9", "Read")), gate.ErrNotCounted, "no such run")
	require.NoError(t, h.Propose(t.Context(), proposal("s3", "")), "nothing is asked")
}
