package cases

import (
	"bytes"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// judge judges a turn by an object such as "assembled". What it does not take
// stays for others.
func (p *played) judge(w *wants) {
	r := w.report
	var text string
	if w.take("text", &text) {
		same(r, "text", p.first(agent.EventToken), text)
	}
	if w.take("reasoning", &text) {
		same(r, "reasoning", p.first(agent.EventReasoning), text)
	}
	if w.take("finish", &text) {
		same(r, "finish", p.finish(), text)
	}
	var executable bool
	if w.take("executable", &executable) {
		same(r, "executable", len(p.story.ran) > 0, executable)
	}
	p.judgeError(w)
	p.judgeCalls(w)
	p.judgeUsage(w)
	p.judgeNext(w)
	if w.take("raw_arguments", &text) {
		r.check("raw_arguments", p.holdsRaw(text), "the log does not hold %s", shortly(text))
	}
}

func (p *played) finish() string {
	if r := p.round(); r != nil {
		return r.FinishReason
	}
	return "(no round)"
}

// judgeError judges the class of error; null wants none.
func (p *played) judgeError(w *wants) {
	if !w.has("error") {
		return
	}
	var class string
	raw := w.raw("error")
	got := p.failure()
	if raw.Kind() == 'n' {
		same(w.report, "error", got, "")
		return
	}
	if err := json.Unmarshal(raw, &class); err != nil {
		w.report.leave("error", "it is no name of a class")
		return
	}
	ours, known := errorClasses()[class]
	if !known {
		w.report.check("error", got != "", "there was none, want %s", class)
		w.report.leave("the class of error "+class, "it has no counterpart here")
		return
	}
	w.report.check("error", slices.Contains(ours, got), "got %q, want %s", got, class)
}

// errorClasses maps the classes of the cases to our codes and rules.
func errorClasses() map[string][]string {
	return map[string][]string{
		"unexpected_eof":    {agent.CodeUnexpectedEOF},
		"truncated":         {agent.CodeTruncated},
		"length":            {agent.CodeTruncated},
		"content_filter":    {agent.CodeTruncated},
		"protocol":          {agent.CodeInvalidStream},
		"invalid_stream":    {agent.CodeInvalidStream},
		"invalid_json":      {agent.CodeInvalidStream, "invalid_arguments"},
		"invalid_arguments": {"invalid_arguments"},
		"provider_error":    {agent.CodeProviderError},
		"server_error":      {agent.CodeProviderError, agent.CodeUnavailable},
		"upstream_error":    {agent.CodeProviderError, agent.CodeUnavailable},
		"api_error":         {agent.CodeProviderError, agent.CodeUnavailable},
		"overloaded_error":  {agent.CodeProviderError, agent.CodeUnavailable},
		"rate_limit":        {agent.CodeProviderError, agent.CodeUnavailable},
		"limit":             {agent.CodeLimit, "arguments-size"},
		"unknown_tool":      {"tool-exists"},
	}
}

// judgeCalls judges the calls that the turn gave.
func (p *played) judgeCalls(w *wants) {
	var calls []jsontext.Value
	if w.take("tool_calls", &calls) {
		shown := p.shown()
		same(w.report, "the number of tool calls", len(shown), len(calls))
		for i := range min(len(calls), len(shown)) {
			one := parseWants(w.report, w.path+"tool_calls.", calls[i])
			p.judgeCall(one, i, shown[i])
			one.close()
		}
	}
	if w.has("arguments") || w.has("arguments_json") || w.has("arguments_length") { // of the only call
		shown := p.shown()
		same(w.report, "the number of tool calls", len(shown), 1)
		if len(shown) == 1 {
			p.judgeCall(w, 0, shown[0])
		}
	}
	var result string
	if w.take("result", &result) {
		p.judgeResult(w.report, result)
	}
}

// judgeCall judges one call, as clients see it and as it ran.
func (p *played) judgeCall(w *wants, index int, got agent.EventCall) {
	r := w.report
	var text string
	if w.take("id", &text) {
		same(r, "id", got.ID, text)
	}
	if w.take("name", &text) {
		same(r, "name", got.Name, text)
	}
	if w.take("arguments", &text) {
		same(r, "arguments", got.Arguments, text)
		p.judgeRan(r, index, text)
	}
	if w.has("arguments_json") {
		want := w.raw("arguments_json")
		if want.Kind() == '"' {
			_ = json.Unmarshal(want, &text)
			want = jsontext.Value(text)
		}
		r.check("arguments_json", sameJSON([]byte(got.Arguments), want), "got %s, want %s", shortly(got.Arguments), want)
	}
	var length int
	if w.take("arguments_length", &length) {
		same(r, "arguments_length", len(got.Arguments), length)
	}
}

// judgeRan judges that the log and the tool had the arguments to the byte. The
// log keeps what the model wrote: nothing, where the tool gets {}.
func (p *played) judgeRan(r *report, index int, want string) {
	for _, c := range p.story.calls() {
		if c.Index != index || c.At.Compare(p.story.calls()[0].At) < 0 || c.BatchID != p.story.calls()[0].BatchID {
			continue
		}
		raw := p.story.asked(c)
		r.check("arguments in the log", raw == want || want == "{}" && (raw == "" || raw == "null"), "got %s, want %s", shortly(raw), shortly(want))
		if c.Start != nil {
			r.check("arguments of the tool", p.story.times(c.Tool, want) == 1, "%s did not run once with %s", c.Tool, shortly(want))
		}
	}
}

// sameJSON compares by value, with the digits of numbers as they stand.
func sameJSON(a, b []byte) bool {
	x, err1 := valueOf(a)
	y, err2 := valueOf(b)
	return err1 == nil && err2 == nil && reflect.DeepEqual(x, y)
}

func valueOf(b []byte) (any, error) {
	d := stdjson.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

func (p *played) judgeUsage(w *wants) {
	u := w.object("usage")
	if u == nil {
		return
	}
	var got events.Usage
	if r := p.round(); r != nil {
		got = r.Usage
	}
	for name, value := range map[string]int64{"prompt_tokens": got.Prompt, "completion_tokens": got.Completion, "total_tokens": got.Total} {
		var want int64
		if u.take(name, &want) {
			same(w.report, "usage "+name, value, want)
		}
	}
	u.close()
}

// nextAssistant begins the names of expectations on the assistant message that
// the next request repeats.
const nextAssistant = "next_request.assistant."

// judgeNext judges what the next request to the model says of the turn.
func (p *played) judgeNext(w *wants) {
	for _, name := range w.names {
		member, ok := strings.CutPrefix(name, nextAssistant)
		if !ok {
			continue
		}
		want := w.raw(name)
		got := p.replayed()[member]
		w.report.check(name, sameJSON(got, want), "got %s, want %s", clipped(string(got)), want)
	}
}

// replayed is the assistant message in the request after the first turn.
func (p *played) replayed() map[string]jsontext.Value {
	if len(p.requests) < 2 {
		return nil
	}
	var body struct {
		Messages []map[string]jsontext.Value `json:"messages"`
	}
	if json.Unmarshal(p.requests[1], &body) != nil {
		return nil
	}
	for _, m := range body.Messages {
		if string(m["role"]) == `"assistant"` {
			return m
		}
	}
	return nil
}

// judgeResult judges what the model was told of the only call.
func (p *played) judgeResult(r *report, want string) {
	if want != "error tool message" {
		r.leave("result "+want, "")
		return
	}
	calls := p.story.calls()
	told := false
	if len(p.requests) > 1 {
		for _, m := range messagesOf(p.requests[1]) {
			told = told || m.Role == "tool" && len(m.text()) > 0
		}
	}
	failed := len(calls) == 1 && calls[0].Result != nil && calls[0].Result.Status == events.StatusError
	r.check("result", failed && told && len(p.story.ran) == 0, "the call did not end as an error that the model was told of")
}
