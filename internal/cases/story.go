package cases

import (
	"context"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/gate"
)

// story is what log and stubs say of a case's runs.
type story struct {
	texts    map[string]string // payloads by commitment
	records  []fold.Record
	sessions map[string]*fold.Session
	ran      []execution
}

// tellStory reads the whole log, folds it, and reads the stubs' notes.
func tellStory(ctx context.Context, log gate.Log, notes string) (*story, error) {
	s := &story{texts: map[string]string{}, sessions: map[string]*fold.Session{}}
	for row := int64(0); ; {
		entries, err := log.Read(ctx, row, 1000)
		if err != nil {
			return nil, fmt.Errorf("read the log: %w", err)
		}
		if len(entries) == 0 {
			break
		}
		for _, e := range entries {
			r := fold.Decode(e.Record)
			s.add(r)
			s.keep(ctx, log, r)
			row = e.Row
		}
	}
	var err error
	s.ran, err = executions(notes)
	return s, err
}

func (s *story) add(r fold.Record) {
	s.records = append(s.records, r)
	id := r.Envelope.SessionID
	if id == "" {
		return
	}
	if s.sessions[id] == nil {
		s.sessions[id] = fold.NewSession(id)
	}
	s.sessions[id].Apply(r)
}

// calls returns all calls in the order of the log.
func (s *story) calls() []*fold.Call {
	var all []*fold.Call
	for _, session := range s.sessions {
		for _, c := range session.Calls {
			all = append(all, c)
		}
	}
	slices.SortFunc(all, func(a, b *fold.Call) int {
		if c := a.At.Compare(b.At); c != 0 {
			return c
		}
		return a.Index - b.Index
	})
	return all
}

// requests returns all approval requests in the order of the log.
func (s *story) requests() []*fold.Request {
	var all []*fold.Request
	for _, session := range s.sessions {
		for _, q := range session.Requests {
			all = append(all, q)
		}
	}
	slices.SortFunc(all, func(a, b *fold.Request) int { return a.At.Compare(b.At) })
	return all
}

// keep reads the payloads of a record: the log may be closed when they are
// asked for. What cannot be read is said so.
func (s *story) keep(ctx context.Context, log gate.Log, r fold.Record) {
	if r.Event == nil {
		return
	}
	for _, ref := range events.Refs(r.Event) {
		if _, have := s.texts[ref.Commitment]; have {
			continue
		}
		b, err := log.Payload(ctx, r.Envelope.ID, ref)
		if err != nil {
			b = fmt.Appendf(nil, "(unreadable payload: %v)", err)
		}
		s.texts[ref.Commitment] = string(b)
	}
}

// text is a payload.
func (s *story) text(ref *events.Ref) string {
	if ref == nil {
		return ""
	}
	return s.texts[ref.Commitment]
}

// asked returns the arguments of a call as the model wrote them.
func (s *story) asked(c *fold.Call) string { return s.text(c.Arguments) }

// started returns the arguments that a call was started with.
func (s *story) started(c *fold.Call) string {
	text := s.text(c.Start.Arguments)
	if args, err := events.DecodeArguments([]byte(text)); err == nil {
		return string(args.Text)
	}
	return text
}

// count returns how often the call of an id was run: by the notes of the
// stubs, told apart by the log's starts.
func (s *story) count(callID string) int {
	n := 0
	for _, c := range s.calls() {
		if c.CallID == callID && c.Start != nil && s.times(c.Tool, s.started(c)) > 0 {
			n++
		}
	}
	return n
}

// times counts the executions of a tool with these arguments.
func (s *story) times(tool, arguments string) int {
	n := 0
	for _, e := range s.ran {
		if e.Tool == tool && string(e.Arguments) == arguments {
			n++
		}
	}
	return n
}

// starts counts the starts that count of a tool with these arguments.
func (s *story) starts(tool, arguments string) int {
	n := 0
	for _, c := range s.calls() {
		if c.Start != nil && c.Tool == tool && s.started(c) == arguments {
			n++
		}
	}
	return n
}

// checkAlways judges what no case needs to say: nothing ran without a start
// that counts, nor more often; ids are not empty; and each ended call has one
// result that counts.
func (s *story) checkAlways(r *report) {
	for _, e := range s.ran {
		if ran, begun := s.times(e.Tool, string(e.Arguments)), s.starts(e.Tool, string(e.Arguments)); ran > begun {
			r.fail("%s ran %d times with %s, and the log has %d starts that count", e.Tool, ran, shortly(string(e.Arguments)), begun)
		}
	}
	for _, c := range s.calls() {
		if c.CallID == "" {
			r.fail("a call of %s has an empty id", c.Tool)
		}
		if c.Effect == events.EffectAsk && c.Start != nil && (c.Request == nil || c.Request.State != fold.Approved) {
			r.fail("call %s started without an approval", c.CallID)
		}
	}
}

// only returns the story of some sessions. What the stubs ran is not told
// apart.
func (s *story) only(sessions []string) *story {
	part := &story{texts: s.texts, sessions: map[string]*fold.Session{}, ran: s.ran}
	for _, id := range sessions {
		if s.sessions[id] != nil {
			part.sessions[id] = s.sessions[id]
		}
	}
	for _, r := range s.records {
		if part.sessions[r.Envelope.SessionID] != nil {
			part.records = append(part.records, r)
		}
	}
	return part
}
