package projections_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// sessionKey names a call of the log: a CallKey is one of a session.
type sessionKey struct {
	session string
	key     events.CallKey
}

// oracle counts what storied says, by decoding records and by nothing of this
// package: the first end of each thing counts.
type oracle struct {
	values   map[string]float64
	requests map[string]time.Time  // when they were asked; removed when they end
	asked    map[sessionKey]string // the request of a call
	defined  map[string]bool
	modified map[string]string // decision → request
}

func judged(t testing.TB, l *pt.Log) map[string]float64 {
	t.Helper()
	o := &oracle{
		values: map[string]float64{}, requests: map[string]time.Time{}, asked: map[sessionKey]string{}, defined: map[string]bool{},
		modified: map[string]string{},
	}
	entries, err := l.Read(t.Context(), 0, l.Len())
	require.NoError(t, err)
	open := map[string]map[events.CallKey]string{} // calls of a session without a result
	for _, e := range entries {
		env, err := events.DecodeEnvelope(e.Record.Envelope)
		require.NoError(t, err)
		event, err := env.Event()
		require.NoError(t, err)
		o.values[fmt.Sprintf("countersign_events_appended_total{type=%q}", env.Type)]++
		if open[env.SessionID] == nil {
			open[env.SessionID] = map[events.CallKey]string{}
		}
		o.read(event, env, time.UnixMicro(e.Record.LogTime), open[env.SessionID])
	}
	o.values[`countersign_approvals_pending{policy="required-tools"}`] = float64(len(o.requests))
	return o.values
}

func (o *oracle) read(event events.Event, env events.Envelope, at time.Time, open map[events.CallKey]string) {
	switch e := event.(type) {
	case *events.Definition:
		o.defined[e.Name] = true
	case *events.ToolCall:
		name := e.Tool
		if !o.defined[name] {
			name = projections.OtherTool
		}
		open[e.CallKey] = name
	case *events.ApprovalRequest:
		o.requests[e.RequestID] = at
		o.values[`countersign_approval_requests_total{origin="subagent",policy="required-tools"}`]++
		o.asked[sessionKey{env.SessionID, e.CallKey}] = e.RequestID
	case *events.Decision:
		switch {
		case e.Verdict == events.VerdictModify:
			o.modified[env.ID] = e.RequestID
			o.ends(e.RequestID, "approved_modified", "human", at)
		case e.Cause == events.CauseTimeout:
			o.ends(e.RequestID, "expired", "system", at)
		case e.Verdict == events.VerdictApprove:
			o.ends(e.RequestID, "approved", "human", at)
		default:
			o.ends(e.RequestID, "declined", "human", at)
		}
	case *events.ToolResult:
		o.result(e, env.SessionID, at, open)
	default:
	}
}

func (o *oracle) ends(request, end, by string, at time.Time) {
	asked, pending := o.requests[request]
	if !pending {
		return
	}
	delete(o.requests, request)
	o.values[fmt.Sprintf(`countersign_approval_decisions_total{decided_by=%q,decision=%q,policy="required-tools"}`, by, end)]++
	latency := `countersign_approval_decision_latency_seconds_%s{decision=%q,policy="required-tools"}`
	o.values[fmt.Sprintf(latency, "count", end)]++
	o.values[fmt.Sprintf(latency, "sum", end)] += at.Sub(asked).Seconds()
}

func (o *oracle) result(e *events.ToolResult, session string, at time.Time, open map[events.CallKey]string) {
	tool, isOpen := open[e.CallKey]
	if !isOpen {
		return
	}
	delete(open, e.CallKey)
	outcome := string(e.Status)
	if e.Status == events.StatusOK {
		outcome = "executed"
	}
	o.values[fmt.Sprintf(`countersign_tool_calls_total{origin="subagent",outcome=%q,tool=%q}`, outcome, tool)]++
	if e.Executor != "" {
		o.values[fmt.Sprintf(`countersign_tool_execution_duration_seconds_sum{outcome=%q,tool=%q}`, outcome, tool)] += float64(e.DurationMS) / 1000
	}
	if e.Status == events.StatusStale {
		o.ends(o.asked[sessionKey{session, e.CallKey}], "stale", "system", at)
	}
}
