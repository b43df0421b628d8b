package cases

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// answer is one response body of the provider, with a flush and a pause at
// each of the cuts.
type answer struct {
	body  []byte
	cuts  []int
	pause time.Duration
}

// provider is an OpenAI-compatible model server that plays a case's turns. It
// keeps nothing of a conversation: which turn comes next follows from the
// request, so many conversations may play the same turns, and a restart does
// not lose the place.
type provider struct {
	*httptest.Server

	mu       sync.Mutex
	turns    []answer
	requests []jsontext.Value // the bodies, in order; mu
}

func newProvider(turns ...answer) *provider {
	p := &provider{turns: turns}
	p.Server = httptest.NewServer(http.HandlerFunc(p.serve))
	return p
}

// url is where the protocol's paths begin.
func (p *provider) url() string { return p.URL + "/v1" }

// asked returns the bodies of the requests so far.
func (p *provider) asked() []jsontext.Value {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.requests)
}

func (p *provider) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	p.note(body).write(w, r)
}

// note keeps the request and picks its answer: the turn after those that the
// conversation has. Past the last turn the model has nothing more to say.
func (p *provider) note(body []byte) answer {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.requests = append(p.requests, body)
	n := turnsPlayed(body)
	if n < len(p.turns) {
		return p.turns[n]
	}
	return answer{body: textTurn("That is all.")}
}

// chatRequest is what the stub reads of a request.
type chatRequest struct {
	Messages []chatMessage `json:"messages"`
}

type chatMessage struct {
	Role       string         `json:"role"`
	Content    jsontext.Value `json:"content"`
	ToolCallID string         `json:"tool_call_id"`
	ToolCalls  []chatCall     `json:"tool_calls"`
}

type chatCall struct {
	ID       string `json:"id"`
	Function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	} `json:"function"`
}

// text is the content where that is text.
func (m chatMessage) text() string {
	var s string
	if json.Unmarshal(m.Content, &s) != nil {
		return string(m.Content)
	}
	return s
}

func messagesOf(body []byte) []chatMessage {
	var r chatRequest
	if json.Unmarshal(body, &r) != nil {
		return nil
	}
	return r.Messages
}

// turnsPlayed counts the turns of a conversation: its assistant messages, and
// the questions that were left without one because their turn failed.
func turnsPlayed(body []byte) int {
	n, before := 0, ""
	for _, m := range messagesOf(body) {
		if m.Role == "assistant" || m.Role == "user" && before == "user" {
			n++
		}
		before = m.Role
	}
	return n
}

func (a answer) write(w http.ResponseWriter, r *http.Request) {
	at := 0
	for _, cut := range a.cuts {
		if cut < at || cut > len(a.body) {
			continue
		}
		w.Write(a.body[at:cut]) //nolint:gosec // who has gone away gets nothing
		if f, ok := w.(http.Flusher); ok {
			f.Flush()
		}
		at = cut
		if !waited(r.Context().Done(), a.pause) {
			return
		}
	}
	w.Write(a.body[at:]) //nolint:gosec // as above
}

// waited waits, and reports whether it was not stopped.
func waited(stop <-chan struct{}, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-stop:
		return false
	}
}

// chunk writes one event of a stream.
func chunk(b *strings.Builder, delta any, finish string) {
	choice := map[string]any{"index": 0, "delta": delta}
	if finish != "" {
		choice["finish_reason"] = finish
	}
	raw, err := json.Marshal(map[string]any{"choices": []any{choice}}, json.Deterministic(true))
	if err != nil {
		raw = []byte("{}") // texts and maps of texts can be encoded
	}
	b.WriteString("data: " + string(raw) + "\n\n")
}

// textTurn is a turn that says something and ends.
func textTurn(text string) []byte {
	var b strings.Builder
	chunk(&b, map[string]any{"role": "assistant", "content": text}, "")
	chunk(&b, map[string]any{}, "stop")
	b.WriteString("data: [DONE]\n\n")
	return []byte(b.String())
}

// scriptedCall is a call as scenario.json writes it.
type scriptedCall struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
}

// callsTurn is a turn that asks for tools.
func callsTurn(text string, calls []scriptedCall) []byte {
	var b strings.Builder
	if text != "" {
		chunk(&b, map[string]any{"role": "assistant", "content": text}, "")
	}
	for i, c := range calls {
		chunk(&b, map[string]any{"tool_calls": []any{map[string]any{
			"index": i, "id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments},
		}}}, "")
	}
	chunk(&b, map[string]any{}, "tool_calls")
	b.WriteString("data: [DONE]\n\n")
	return []byte(b.String())
}
