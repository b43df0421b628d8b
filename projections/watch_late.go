package projections

import (
	"fmt"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// since is what stands against a start from a log time on. Until raceBound later
// an executor may not have known of it.
type since struct {
	at int64
	wrong
}

// tooLate judges a start that the fold does not count though it names a warrant
// that stood once: by what came before it, and how long before. An executor
// publishes one start for a call, and runs nothing unless that one counts.
func (t *traces) tooLate(r folded, c *fold.Call, e *events.ToolStarted) wrong {
	if c.Start != nil && c.Start.Executor == e.Executor && t.starters[e.CallKey] == r.Envelope.Source {
		return wrong{ExecutedTwice, "the executor that started the call starts it again"}
	}
	first := since{at: r.LogTime + 1}
	for _, s := range t.against(r, c, e) {
		if s.at < first.at {
			first = s
		}
	}
	switch {
	case first.wrong == wrong{} && r.session.Blocked != "":
		return wrong{} // nothing starts there until this build is upgraded; who asks in vain runs nothing
	case first.wrong == wrong{}:
		return wrong{ExecutedWithoutApproval, "its warrant does not stand, and nothing that came before explains it"}
	case racing(first.at, r.LogTime):
		return wrong{}
	}
	first.detail += fmt.Sprintf(" %v before", micros(r.LogTime-first.at).Round(time.Second))
	return first.wrong
}

// against is all that stands against a start.
func (t *traces) against(r folded, c *fold.Call, e *events.ToolStarted) (all []since) {
	add := func(at int64, i Invariant, detail string) { all = append(all, since{at, wrong{i, detail}}) }
	if c.Start != nil {
		add(c.Start.At.LogTime, ExecutedTwice, "it starts a call that was started")
	}
	if c.Result != nil {
		add(c.Result.At.LogTime, ExecutedAfterDecline, "it starts a call that got its result")
	}
	if at, over := t.overSince(r.session, c); over {
		add(at, ExecutedAfterDecline, "it starts a call whose run was over")
	}
	switch q, run := c.Request, runOf(r.session, c.RunID); {
	case e.Warrant.Kind == events.WarrantBypass && run != nil && run.Bypass != nil:
		if until := run.Bypass.Until.UnixMicro(); until < r.LogTime {
			add(until, ExecutedWithoutApproval, "it names a bypass that had ended")
		}
	case q == nil:
	case q.Revoked:
		add(t.revoked[q.RequestID], ExecutedAfterDecline, "it starts a call whose approval was taken back")
	case q.State == fold.Approved:
		if lapsed := q.StartBy().UnixMicro(); lapsed < r.LogTime {
			add(lapsed, ExecutedAfterDecline, "it starts a call whose approval had lapsed")
		}
	}
	return all
}

// overSince returns since when no call of a call's run can start, if that is so.
// A call that came after the run was cancelled could not start from then on.
func (t *traces) overSince(s *fold.Session, c *fold.Call) (at int64, over bool) {
	run := runOf(s, c.RunID)
	if run == nil {
		return 0, false
	}
	if at, over = t.cancelled[run.ID]; !over && run.Finished != nil {
		at, over = run.EndedAt.LogTime, true
	}
	return max(at, c.At.LogTime), over
}

// runOf returns a run of a session, or nil.
func runOf(s *fold.Session, id string) *fold.Run {
	for _, run := range s.Runs {
		if run.ID == id {
			return run
		}
	}
	return nil
}
