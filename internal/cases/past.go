package cases

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// past is the session of calls that a log held before its node was started.
const past = "past"

// writePast writes refused calls into a new log, one at each of the times. The
// clock of a log never goes back, so the times stand in order.
func writePast(ctx context.Context, data string, times []string) error {
	if len(times) == 0 {
		return nil
	}
	j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(data, "journal.db")})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- j.Run(running) }()
	for i, written := range times {
		if err = writePastCall(ctx, j, i, written); err != nil {
			break
		}
	}
	stop()
	return errors.Join(err, <-ended, j.Close())
}

// writePastCall writes one call and its end. The local zone is of no account
// for what is stored, so the time is made one of it.
func writePastCall(ctx context.Context, j *journal.Journal, i int, written string) error {
	at, err := time.Parse(time.RFC3339Nano, written)
	if err != nil {
		return fmt.Errorf("a time of the past: %w", err)
	}
	minter := events.NewMinter(fmt.Sprintf("agentd/past/%d", i), func() time.Time { return at.Local() })
	call := soundEvent("tool_call")
	call.Session = past
	asked, ok := call.Data.(*events.ToolCall)
	if !ok {
		return errors.New("a call of the past is none")
	}
	asked.Tool = pastTool(i)
	result := events.NewPayload([]byte("refused"))
	minted, err := minter.Mint(call, events.Draft{Session: past, Payloads: []events.Payload{result}, Data: &events.ToolResult{
		CallKey: asked.CallKey, Tool: asked.Tool, Status: events.StatusDeclined, Cause: events.CausePolicy, Rule: asked.Rule, Result: result.Ref(events.MediaText),
	}})
	if err != nil {
		return err
	}
	for _, m := range minted {
		entry := journal.Entry{ID: m.ID, Session: past, Type: string(m.Type), Envelope: m.Envelope, Payloads: m.Payloads, LogTime: at.Local().UnixMicro()}
		if _, err := j.Append(ctx, journal.Ends, entry); err != nil {
			return err
		}
	}
	return nil
}

// pastTool names a call by its place in the list of times.
func pastTool(i int) string { return fmt.Sprintf("Past-%d", i) }
