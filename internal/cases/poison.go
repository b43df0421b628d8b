package cases

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/projections"
)

// foldSession and request are of the fold.
type (
	foldSession = fold.Session
	request     = fold.Request
)

// holds reports whether what a client was told is in the log. Pieces of text
// are not in it before their round has finished, and bind nobody.
func (s *story) holds(e agent.Event) bool {
	switch e.Type {
	case agent.EventApproval:
		return slices.ContainsFunc(s.requests(), func(q *request) bool { return q.RequestID == e.RequestID })
	case agent.EventToolCall:
		return !slices.ContainsFunc(e.ToolCalls, func(c agent.EventCall) bool { return s.callOf(c.ID) == nil })
	case agent.EventToolResult:
		return !slices.ContainsFunc(e.ToolResults, func(c agent.EventResult) bool { return s.callOf(c.ID) == nil || s.callOf(c.ID).Result == nil })
	default:
		return true
	}
}

func (s *story) callOf(id string) *call {
	for _, c := range s.calls() {
		if c.CallID == id {
			return c
		}
	}
	return nil
}

// judgePoison writes the case's events into a journal as they are, sound or
// not, and judges that the views pass over what they cannot read.
func judgePoison(ctx context.Context, f *folder) error {
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(dir, "journal.db")})
	if err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- j.Run(running) }()
	err = viewPoison(ctx, f, dir, j)
	stop()
	return errors.Join(err, <-ended, j.Close())
}

func viewPoison(ctx context.Context, f *folder, dir string, j *journal.Journal) error {
	lines := f.lines("events.jsonl")
	minter := events.NewMinter("agentd/case/boot", time.Now)
	ids := map[string]string{}
	for _, line := range lines {
		e, name, err := entryOf(minter, line)
		if err != nil {
			return err
		}
		ids[name] = e.ID
		if _, err := j.Append(ctx, journal.Ends, e); err != nil {
			return err
		}
	}
	source := bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "cases"})
	views, err := projections.Open(ctx, projections.Options{Path: filepath.Join(dir, "views.db"), Source: source})
	if err != nil {
		return err
	}
	err = readPoison(ctx, f, views, ids, uint64(len(lines)))
	return errors.Join(err, views.Close())
}

// readPoison runs the views until they have read all lines, for five seconds at
// most, and judges what they have.
func readPoison(ctx context.Context, f *folder, views *projections.Views, ids map[string]string, lines uint64) error {
	running, stop := context.WithTimeout(ctx, 5*time.Second)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- views.Run(running) }()
	for running.Err() == nil {
		status, changed := views.Changed()
		if status.Records >= lines {
			break
		}
		select {
		case <-changed:
		case <-running.Done():
		}
	}
	timeline, err := views.Timeline(ctx, poisoned, "", 100)
	if err != nil {
		return err
	}
	aside, err := views.SetAside(ctx, 100)
	if err != nil {
		return err
	}
	stop()
	f.report.check("all are read within 5 s", views.Status().Records == lines, "%d of %d", views.Status().Records, lines)
	for _, name := range f.expect.strings("in_views") {
		found := slices.ContainsFunc(timeline.Items, func(s projections.Step) bool { return s.Envelope.ID == ids[name] })
		f.report.check("in_views", found, "%s is not in the session's timeline", name)
	}
	var want int
	if f.expect.take("dead_letter", &want) {
		same(f.report, "dead_letter", len(aside), want)
	}
	return <-ended
}

// poisoned is the session of the events.
const poisoned = "r"

// plainLine is an event as events.jsonl writes it.
type plainLine struct {
	ID   string         `json:"id"`
	Type string         `json:"type"`
	Call jsontext.Value `json:"call"`
}

// entryOf makes an entry of a line: a sound event of ours for a sound one, the
// same kind of damage for a damaged one.
func entryOf(m *events.Minter, line jsontext.Value) (journal.Entry, string, error) {
	var p plainLine
	if !readable(line, &p) {
		_, rest, _ := strings.Cut(string(line), `"id":"`)
		name, _, _ := strings.Cut(rest, `"`)
		return journal.Entry{ID: events.NewID(), Session: poisoned, Type: "broken", Envelope: line}, name, nil
	}
	minted, err := m.Mint(soundEvent(p.Type))
	if err != nil {
		return journal.Entry{}, "", err
	}
	one := minted[0]
	var envelope map[string]jsontext.Value
	if err := json.Unmarshal(one.Envelope, &envelope); err != nil {
		return journal.Entry{}, "", err
	}
	switch {
	case len(p.Call) > 0 && p.Call.Kind() != '"': // a member of the wrong type
		envelope["data"] = jsontext.Value(`{"call_id":` + string(p.Call) + `}`)
	case !slices.Contains([]string{"tool_call", "finish", "approval_request", "decision", "tool_result"}, p.Type):
		envelope["type"] = jsontext.Value(`"` + p.Type + `"`)
		envelope["dataschema"] = jsontext.Value(`"/schemas/` + p.Type + `/99"`)
		delete(envelope, "critical")
	}
	b, err := json.Marshal(envelope, json.Deterministic(true))
	return journal.Entry{ID: one.ID, Session: poisoned, Type: p.Type, Envelope: b, Payloads: one.Payloads}, p.ID, err
}

// readable reports whether a line is JSON, and reads it.
func readable(line jsontext.Value, p *plainLine) bool { return json.Unmarshal(line, p) == nil }

// soundEvent is an event of the session: a call, or for any other word what
// can stand alone.
func soundEvent(word string) events.Draft {
	if word != "tool_call" {
		return events.Draft{Session: poisoned, Data: &events.Access{Action: "view", Outcome: events.AccessOK, Resource: poisoned, Via: "cases"}}
	}
	arguments := events.NewPayload([]byte("{}"))
	return events.Draft{Session: poisoned, Payloads: []events.Payload{arguments}, Data: &events.ToolCall{
		CallKey: events.CallKey{BatchID: events.NewID()}, CallID: "c1", Tool: "Bash", ToolSource: events.SourceUnknown,
		Arguments: arguments.Ref(events.MediaJSON), Agent: events.Agent{Name: "main"}, Model: "stub", Principal: "case",
		Enforcement: events.Enforced, Effect: events.EffectDeny, Rule: "tool-exists", PolicyDigest: events.DigestOf(nil),
	}}
}
