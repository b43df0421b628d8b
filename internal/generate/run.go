package generate

import (
	"fmt"
	"strconv"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Bounds of a session.
const (
	maxCalls   = 30
	maxRounds  = 6
	maxRuns    = 4
	maxPerTurn = 6
)

// run is a run as it is told.
type run struct {
	id, started string // its id, and that of the event that began it
	rounds      int    // finished ones, failed ones too
	round       int    // the last that did not fail
	failed      int    // attempts at the next one
	calls       int
	usage       events.Usage
}

// conversation tells a whole session: one run, and now and then some more.
func (t *telling) conversation() {
	for runs := 1; ; runs++ {
		superseded := t.aRun()
		if runs == maxRuns || t.late() || t.calls >= maxCalls || !superseded && !t.d.chance(0.22) {
			return
		}
		if !superseded {
			t.wait(t.d.around(4*time.Minute, 1, time.Hour))
		}
		if t.late() {
			return
		}
	}
}

// late reports whether no turn begins any more, since log time ends.
func (t *telling) late() bool { return t.now.After(t.o.Until.Add(-lastCall)) }

// waits tells a session whose last call waits for somebody.
func (t *telling) waits() {
	t.begin()
	t.turn(1, pending)
}

// rests tells a session whose run is between two rounds.
func (t *telling) rests() {
	t.begin()
	t.turn(1, carriedOut)
}

// aRun tells a run from its question to its end. It reports whether another
// question took its place.
func (t *telling) aRun() (superseded bool) {
	t.begin()
	defer func() { t.run = nil }()
	for range 1 + t.d.IntN(1+t.d.IntN(maxRounds)) {
		if t.calls >= maxCalls || t.late() && t.calls > 0 {
			break
		}
		if t.d.chance(0.02) {
			t.failedRound()
		}
		n := min(1+t.d.IntN(1+t.d.IntN(maxPerTurn)), maxCalls-t.calls)
		how := carriedOut
		switch x := t.d.Float64(); {
		case x < 0.01:
			how = cancelled
		case x < 0.015:
			how = taken
		}
		if t.turn(n, how) {
			t.finish(events.FinishCancelled, "", "")
			return how == taken
		}
	}
	if t.d.chance(0.01) {
		t.failedRound()
		t.finish(events.FinishError, "unavailable", "the provider answered 503 three times")
		return false
	}
	t.answer()
	return false
}

func (t *telling) begin() {
	question := t.d.payload(fmt.Appendf(nil, "Ticket %d: %s. %s", 1000+t.no, t.text.title(t.d), t.text.some(t.d, t.d.size(120, 0.7, 2000))))
	t.run = &run{id: t.d.eventID(t.now)}
	m := t.tell(&events.RunStarted{
		RunID: t.run.id, Principal: t.who.id, Actor: t.who.actor(t.now.Add(-time.Hour)), Agent: events.Agent{Name: t.agent}, Query: question.Ref(events.MediaText),
		Model: t.model, PromptDigest: t.trade.prompt, ToolsDigest: t.trade.tools, PolicyDigest: t.trade.policy,
	}, about{payloads: []events.Payload{question}})
	t.run.started = m.ID
}

// thinks is the time that the model takes.
func (t *telling) thinks() { t.wait(t.d.around(4*time.Second, 0.7, time.Minute)) }

// roundOf drafts a round that comes next.
func (t *telling) roundOf(outcome events.RoundOutcome, word string) *events.RoundFinished {
	u := events.Usage{Prompt: int64(800 + t.d.IntN(20000)), Completion: int64(20 + t.d.IntN(1500))}
	u.Total = u.Prompt + u.Completion
	t.run.rounds++
	t.run.usage = t.run.usage.Add(u)
	return &events.RoundFinished{
		RunID: t.run.id, BatchID: t.d.eventID(t.now), Round: t.run.round + 1, Attempt: 1, Agent: events.Agent{Name: t.agent}, Dialect: "openai-chat",
		Outcome: outcome, FinishReason: word, Usage: u,
	}
}

// failedRound tells an attempt that the provider broke off; the next round is
// the second attempt at it.
func (t *telling) failedRound() {
	t.thinks()
	e := t.roundOf(events.RoundFailed, "")
	detail := t.d.payload([]byte("HTTP 503 from the provider: " + t.text.title(t.d)))
	e.Code, e.Detail, e.Attempt = "unavailable", detail.Ref(events.MediaText), t.attempt()
	t.tell(e, about{cause: t.run.started, payloads: []events.Payload{detail}})
	t.run.failed++
}

// attempt is the number of the attempt at the round that comes next.
func (t *telling) attempt() int { return t.run.failed + 1 }

// answer tells the last round, and the end.
func (t *telling) answer() {
	t.thinks()
	e := t.roundOf(events.RoundText, "stop")
	said := append([]byte(`{"role":"assistant","content":`), quoted(nil, string(t.text.some(t.d, t.d.size(300, 0.8, 8<<10))))...)
	message := t.d.payload(append(said, '}'))
	e.Message, e.Attempt = message.Ref(events.MediaJSON), t.attempt()
	t.tell(e, about{cause: t.run.started, payloads: []events.Payload{message}})
	t.finish(events.FinishStop, "", "")
}

func (t *telling) finish(reason events.FinishReason, code, detail string) {
	e := &events.RunFinished{RunID: t.run.id, Reason: reason, Code: code, Rounds: t.run.rounds, Calls: t.run.calls, Usage: t.run.usage}
	a := about{cause: t.run.started}
	if detail != "" {
		p := t.d.payload([]byte(detail))
		e.Detail, a.payloads = p.Ref(events.MediaText), []events.Payload{p}
	}
	t.tell(e, a)
}

// message is what the model says as it asks for calls.
func (t *telling) message(calls []*call) []byte {
	b := append([]byte(`{"role":"assistant","content":`), quoted(nil, t.text.title(t.d)+".")...)
	b = append(b, `,"tool_calls":[`...)
	for i, c := range calls {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, `{"id":"`...), c.callID...)
		b = quoted(append(b, `","type":"function","function":{"name":`...), c.kind.name)
		b = quoted(append(b, `,"arguments":`...), string(c.args.Bytes))
		b = append(b, "}}"...)
	}
	return append(b, "]}"...)
}

func callID(batch string, i int) string { return "call_" + batch[len(batch)-12:] + strconv.Itoa(i) }
