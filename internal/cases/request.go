package cases

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/models"
)

// history is history.json: one turn of the model with its results, in the
// order in which they were ready.
type history struct {
	Assistant struct {
		Content   *string        `json:"content"`
		ToolCalls []scriptedCall `json:"tool_calls"`
	} `json:"assistant"`
	Results []struct {
		ID    string `json:"id"`
		Text  string `json:"text"`
		Extra string `json:"extra_user_content"`
	} `json:"results"`
}

// judgeRequest has package models send a history to a stub, and looks at the
// body that came.
func judgeRequest(ctx context.Context, _ Options, f *folder) error {
	f.expect.refuse("anthropic", "the provider is not in this version")
	w := f.readWants("history.json")
	var h history
	if !w.take("assistant", &h.Assistant) || !w.take("results", &h.Results) {
		return nil
	}
	if name := w.unknown(); name != "" {
		f.report.leave("history.json: "+name, "")
	}
	roles, err := sentRoles(ctx, f.report, h)
	if err != nil {
		return err
	}
	var want []string
	if f.expect.take("openai_roles_after_user", &want) {
		f.report.check("openai_roles_after_user", strings.HasPrefix(strings.Join(roles, " "), strings.Join(want, " ")), "got %q", roles)
	}
	return nil
}

// sentRoles sends the history and tells what stands after the user's message.
func sentRoles(ctx context.Context, r *report, h history) ([]string, error) {
	p := newProvider()
	defer p.Close()
	m, err := models.NewOpenAI(models.OpenAIOptions{Name: "stub", BaseURL: p.url(), Model: "stub", HTTPClient: &http.Client{}})
	if err != nil {
		return nil, err
	}
	query := "go"
	assistant, err := assistantMessage(h)
	if err != nil {
		return nil, err
	}
	results := agent.Message{Results: []agent.Result{}}
	for _, one := range h.Results {
		results.Results = append(results.Results, agent.Result{CallID: one.ID, Text: one.Text})
		if one.Extra != "" {
			r.leave("extra_user_content", "a tool cannot say more than its result in this version")
		}
	}
	messages := []agent.Message{{User: &query}, {Assistant: assistant}, results}
	if _, err := m.Stream(ctx, agent.Request{Messages: messages}, func(agent.Delta) {}); err != nil {
		return nil, fmt.Errorf("the history was not sent: %w", err)
	}
	return rolesAfterUser(p.asked()[0]), nil
}

// assistantMessage is the turn as the provider would have written it.
func assistantMessage(h history) (json.RawMessage, error) {
	calls := []any{}
	for _, c := range h.Assistant.ToolCalls {
		calls = append(calls, map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": c.Arguments}})
	}
	return json.Marshal(map[string]any{"role": "assistant", "content": h.Assistant.Content, "tool_calls": calls})
}

// rolesAfterUser tells the messages behind the first of the user:
// "assistant(c1,c2)", "tool(c1)".
func rolesAfterUser(body []byte) []string {
	var roles []string
	seen := false
	for _, m := range messagesOf(body) {
		switch {
		case !seen:
			seen = m.Role == "user"
		case m.Role == "assistant":
			var ids []string
			for _, c := range m.ToolCalls {
				ids = append(ids, c.ID)
			}
			roles = append(roles, "assistant("+strings.Join(ids, ",")+")")
		case m.Role == "tool":
			roles = append(roles, "tool("+m.ToolCallID+")")
		default:
			roles = append(roles, m.Role)
		}
	}
	return roles
}

// checkPairing judges that in a request each assistant message with calls is
// followed at once by one result a call, in order.
func checkPairing(r *report, body []byte) {
	messages := messagesOf(body)
	for i, m := range messages {
		for j, c := range m.ToolCalls {
			at := i + 1 + j
			if at >= len(messages) || messages[at].Role != "tool" || messages[at].ToolCallID != c.ID {
				r.fail("a request to the model has no result of call %s in its place", c.ID)
			}
		}
		if m.Role == "tool" && !answers(messages, i) {
			r.fail("a request to the model has a result of %s that answers no call", m.ToolCallID)
		}
	}
}

// answers reports whether the tool message at i belongs to the assistant
// message before it.
func answers(messages []chatMessage, i int) bool {
	at := i
	for at >= 0 && messages[at].Role == "tool" {
		at--
	}
	return at >= 0 && messages[at].Role == "assistant" && i-at <= len(messages[at].ToolCalls)
}
