package cases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// call is a call of the fold.
type call = fold.Call

// logged tells the log as the cases name it: the types of the events that
// count, with the words of those in want that go into detail.
func (o *outcome) logged(want []string) []string {
	var got []string
	names := logNames()
	for _, r := range o.story.records {
		if r.Event == nil {
			continue
		}
		for _, w := range want {
			kind, what, detailed := strings.Cut(w, ":")
			if ours, ok := names[kind]; ok {
				kind = ours
			}
			if string(r.Event.Type()) == kind && (!detailed || o.about(r, what)) {
				got = append(got, w)
			}
		}
	}
	return got
}

// about reports whether an event is about a call, or says a verdict.
func (o *outcome) about(r fold.Record, what string) bool {
	if d, ok := r.Event.(*events.Decision); ok {
		return string(d.Verdict) == what || string(d.Cause) == what
	}
	keyed, ok := r.Event.(interface{ Key() events.CallKey })
	if !ok {
		return false
	}
	c := o.story.sessions[r.Envelope.SessionID].Calls[keyed.Key()]
	return c != nil && c.CallID == what
}

// replies are the answers to decisions of all runs, in order.
func (o *outcome) replies() []reply {
	var all []reply
	for _, r := range o.runs {
		all = append(all, r.replies...)
	}
	return all
}

func (o *outcome) accepted(w *wants) {
	var want int
	w.take("accepted_true", &want)
	for i, r := range o.runs {
		n := 0
		for _, a := range r.replies {
			if a.Accepted {
				n++
			}
		}
		w.report.check("accepted_true", n == want, "run %d: %d replies, want %d", i+1, n, want)
	}
}

// approvalReply judges the last reply.
func (o *outcome) approvalReply(w *wants) {
	one := w.object("approval_reply")
	if one == nil {
		return
	}
	all := o.replies()
	if len(all) == 0 {
		w.report.fail("approval_reply: there was no reply")
		return
	}
	var want bool
	if one.take("accepted", &want) {
		same(w.report, "approval_reply", all[len(all)-1].Accepted, want)
	}
	one.close()
}

// iffApprove judges that a run's call ran if and only if the reply that was
// accepted was to an approve, and that the log names the one who sent it.
func (o *outcome) iffApprove(w *wants) {
	var want bool
	w.take("executed_iff_accepted_is_approve", &want)
	for i, r := range o.runs {
		approved := slices.ContainsFunc(r.replies, func(a reply) bool { return a.Accepted && a.decision == "approve" })
		w.report.check("executed_iff_accepted_is_approve", (o.ran(r) == approved) == want, "run %d: approved %v, executed %v", i+1, approved, o.ran(r))
	}
}

// decisions judges how many decisions counted for each run. Those that did not
// are on record as attempts.
func (o *outcome) decisions(w *wants) {
	var want int
	w.take("decisions_in_audit", &want)
	for i, r := range o.runs {
		n := 0
		for _, q := range o.each(r).story.requests() {
			n += len(q.Decided)
			if q.End != nil && len(q.Decided) == 0 {
				n++
			}
		}
		w.report.check("decisions_in_audit", n == want, "run %d: %d decisions count, want %d", i+1, n, want)
	}
}

// audit judges what the log says.
func (o *outcome) audit(w *wants) {
	a := w.object("audit")
	if a == nil {
		return
	}
	var text string
	var n int
	for _, q := range o.story.requests() {
		if a.take("decision", &text) {
			got := "none"
			if q.End != nil {
				got = decisionName(q.End)
			}
			same(w.report, "audit.decision", got, text)
		}
		if a.has("reviewer") {
			o.reviewer(w.report, q, a.raw("reviewer"))
		}
	}
	if a.take("distinct_calls", &n) {
		same(w.report, "audit.distinct_calls", len(o.story.calls()), n)
	}
	a.close()
}

// decisionName is a decision in a word: what a person said, or the cause.
func decisionName(v *fold.Vote) string {
	if v.Cause == events.CauseHuman {
		return string(v.Verdict)
	}
	return string(v.Cause)
}

func (o *outcome) reviewer(r *report, q *fold.Request, want jsontext.Value) {
	none := q.End != nil && q.End.Actor == nil
	if want.Kind() == 'n' {
		r.check("audit.reviewer", none, "the decision has an actor")
		return
	}
	r.leave("audit.reviewer", fmt.Sprintf("%s is a name of the case", want))
}

func (o *outcome) approvalRequests(w *wants) {
	var want int
	w.take("approval_requests", &want)
	same(w.report, "approval_requests", len(o.story.requests()), want)
}

func (o *outcome) statuses(w *wants) {
	var want []int
	w.take("http_status", &want)
	var got []int
	for _, r := range o.runs {
		if len(r.statuses) > 0 {
			got = append(got, r.statuses...)
			continue
		}
		for _, a := range r.replies {
			got = append(got, a.status)
		}
	}
	w.report.check("http_status", slices.Equal(got, want), "got %d, want %d", got, want)
}

func (o *outcome) leaks(w *wants) {
	var want int
	w.take("leaks", &want)
	if !o.p.counted {
		w.report.leave("leaks", "no step counts goroutines")
		return
	}
	w.report.check("leaks", o.p.grown <= want, "%d goroutines more than before", o.p.grown)
}

func (o *outcome) pairing(w *wants) {
	var want bool
	w.take("valid_pairing", &want)
	trial := &report{}
	for _, body := range o.p.provider.asked() {
		checkPairing(trial, body)
	}
	w.report.check("valid_pairing", (len(trial.failures) == 0) == want, "%q", trial.failures)
}

// requestFor judges that the model was asked for a stream.
func (o *outcome) requestFor(w *wants) {
	var name string
	w.take("model_request_for", &name)
	for _, r := range o.runs {
		s := r.streams[name]
		ok := s != nil && s.status == 200 && len(s.events()) > 0
		w.report.check("model_request_for", ok, "the stream %s was refused or is empty", name)
	}
}

// nextRequest judges what the model was told in the request after a turn.
func (o *outcome) nextRequest(w *wants) {
	n := w.object("next_model_request")
	if n == nil {
		return
	}
	var tools []struct {
		ID       string         `json:"tool_call_id"`
		Contains jsontext.Value `json:"contains"`
	}
	if n.take("tool_messages", &tools) && len(tools) > 0 {
		said := o.toolMessages(tools[0].ID)
		for i, t := range tools {
			if i >= len(said) || said[i].ToolCallID != t.ID {
				w.report.check("next_model_request", false, "the model was not told of %s in its place", t.ID)
				continue
			}
			for _, text := range textsOf(t.Contains) {
				w.report.check("next_model_request", strings.Contains(strings.ToLower(said[i].text()), strings.ToLower(text)),
					"%s: %q lacks %q", t.ID, said[i].text(), text)
			}
		}
	}
	var per int
	if n.take("tool_messages_per_turn", &per) {
		o.perTurn(w.report, per)
	}
	n.close()
}

func textsOf(raw jsontext.Value) []string {
	var one string
	if json.Unmarshal(raw, &one) == nil {
		return []string{one}
	}
	var all []string
	_ = json.Unmarshal(raw, &all) // absent is none
	return all
}

// toolMessages returns the results behind the turn that has a call.
func (o *outcome) toolMessages(id string) []chatMessage {
	for _, body := range o.p.provider.asked() {
		messages := messagesOf(body)
		for i, m := range messages {
			if !slices.ContainsFunc(m.ToolCalls, func(c chatCall) bool { return c.ID == id }) {
				continue
			}
			end := i + 1
			for end < len(messages) && messages[end].Role == "tool" {
				end++
			}
			return messages[i+1 : end]
		}
	}
	return nil
}

func (o *outcome) perTurn(r *report, want int) {
	for _, body := range o.p.provider.asked() {
		messages := messagesOf(body)
		for i, m := range messages {
			if len(m.ToolCalls) == 0 {
				continue
			}
			n := 0
			for i+1+n < len(messages) && messages[i+1+n].Role == "tool" {
				n++
			}
			same(r, "tool_messages_per_turn", n, want)
		}
	}
}
