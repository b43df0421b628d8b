package main_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
)

// plan is what the model does with a query: rounds of calls, and then a text.
// It is the query itself, so that the model needs no memory.
type plan [][]ask

// ask is one call.
type ask struct {
	Tool      string `json:"tool"`
	Arguments string `json:"arguments"`
}

func (p plan) query() string {
	b, err := json.Marshal(p)
	if err != nil {
		panic(err) // unreachable: strings
	}
	return string(b)
}

// count is a call of a counting tool.
func count(tool, key string) ask { return ask{tool, fmt.Sprintf(`{"key":%q}`, key)} }

// provider is an OpenAI-compatible model server that carries out the plan in
// the last user message.
type provider struct {
	server *httptest.Server

	mu   sync.Mutex
	asks [][]message // mu; the messages of every request
}

// message is one of a request, as the model server gets it.
type message struct {
	Role       string `json:"role"`
	Content    string `json:"content"`
	ToolCallID string `json:"tool_call_id"`
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := &provider{}
	p.server = httptest.NewServer(p)
	t.Cleanup(p.server.Close)
	return p
}

func (p *provider) url() string { return p.server.URL + "/v1" }

// told returns what the model was told as the result of a call, in the last
// request with one.
func (p *provider) told(query, callID string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	text := ""
	for _, messages := range p.asks {
		mine := false
		for _, m := range messages {
			if m.Role == "user" {
				mine = m.Content == query
			}
			if mine && m.Role == "tool" && m.ToolCallID == callID {
				text = m.Content
			}
		}
	}
	return text
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var body struct {
		Messages []message `json:"messages"`
	}
	b, err := io.ReadAll(r.Body)
	if err == nil {
		err = json.Unmarshal(b, &body)
	}
	if err != nil || r.URL.Path != "/v1/chat/completions" {
		http.Error(w, fmt.Sprintf(`{"error":{"message":"bad request to %s"}}`, r.URL.Path), http.StatusBadRequest)
		return
	}
	p.mu.Lock()
	p.asks = append(p.asks, body.Messages)
	p.mu.Unlock()
	todo, round := planOf(body.Messages)
	w.Header().Set("Content-Type", "text/event-stream")
	if round >= len(todo) {
		answer(w)
		return
	}
	askFor(w, round, todo[round])
}

// planOf reads the plan and how far it has come.
func planOf(messages []message) (plan, int) {
	var todo plan
	round := 0
	for _, m := range messages {
		switch m.Role {
		case "user":
			round = 0
			if json.Unmarshal([]byte(m.Content), &todo) != nil {
				todo = nil
			}
		case "assistant":
			round++
		}
	}
	return todo, round
}

func answer(w http.ResponseWriter) {
	for _, word := range []string{"All", " is", " done."} {
		chunk(w, map[string]any{"content": word}, nil)
	}
	end(w, "stop")
}

func askFor(w http.ResponseWriter, round int, calls []ask) {
	chunk(w, map[string]any{"role": "assistant", "content": "I will call."}, nil)
	for i, c := range calls {
		half := len(c.Arguments) / 2
		head := map[string]any{"index": i, "id": callID(round, i), "type": "function", "function": map[string]any{"name": c.Tool, "arguments": c.Arguments[:half]}}
		chunk(w, map[string]any{"tool_calls": []any{head}}, nil)
		chunk(w, map[string]any{"tool_calls": []any{map[string]any{"index": i, "function": map[string]any{"arguments": c.Arguments[half:]}}}}, nil)
	}
	end(w, "tool_calls")
}

// callID is the id of a call: each round's are its own.
func callID(round, index int) string { return fmt.Sprintf("call-%d-%d", round, index) }

func chunk(w http.ResponseWriter, delta map[string]any, finish any) {
	b, err := json.Marshal(map[string]any{"choices": []any{map[string]any{"index": 0, "delta": delta, "finish_reason": finish}}})
	if err == nil {
		fmt.Fprintf(w, "data: %s\n\n", b)
		w.(http.Flusher).Flush() //nolint:forcetypeassert // the server's own
	}
}

func end(w http.ResponseWriter, reason string) {
	chunk(w, map[string]any{}, reason)
	fmt.Fprint(w, strings.Join([]string{`data: {"choices":[],"usage":{"prompt_tokens":9,"completion_tokens":3,"total_tokens":12}}`, "data: [DONE]", ""}, "\n\n"))
}
