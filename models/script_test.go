package models

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

const notesScript = `
chunk: 4
closing: The end.
conversations:
  - match: notes
    turns:
      - reasoning: Look first.
        text: Reading.
        calls:
          - name: Read
            arguments: '{"n":12345678901234567890}'
          - {id: mine, name: Now}
      - text: Done.
  - match: fail
    turns:
      - text: Hm
        error: {code: provider_error, message: overloaded}
      - calls: [{name: Read, arguments: '{"a'}]
        finish: length
  - turns:
      - text: Hello.
      - text: Again.
`

func parsed(t *testing.T, text string) *Scripted {
	t.Helper()
	script, err := ParseScript("demo.yaml", []byte(text))
	require.NoError(t, err)
	return NewScripted("demo", script)
}

func TestScriptedTurn(t *testing.T) {
	m := parsed(t, notesScript)
	require.Equal(t, "demo", m.Name())
	require.Equal(t, "openai-chat", m.Dialect())
	var h heard
	turn, err := m.Stream(t.Context(), agent.Request{Messages: []agent.Message{user("release notes, please")}}, h.sink)
	require.NoError(t, err)
	require.Equal(t, []agent.Delta{{Reasoning: "Look"}, {Reasoning: " fir"}, {Reasoning: "st."}, {Text: "Read"}, {Text: "ing."}}, h.deltas)
	require.Equal(t, []agent.Call{{ID: "call-1-1-1", Name: "Read", Arguments: `{"n":12345678901234567890}`}, {ID: "mine", Name: "Now"}}, turn.Calls)
	require.Equal(t, "tool_calls", turn.Finish)
	requireReplayable(t, turn)
	require.Contains(t, string(turn.Message), `"reasoning_content":"Look first."`)
}

// TestScriptPlace: the next turn follows from the messages alone.
func TestScriptPlace(t *testing.T) {
	said := assistant(`{"role":"assistant","content":"x"}`)
	asked, told := calling("a"), results(agent.Result{CallID: "a"})
	tests := []struct {
		name     string
		messages []agent.Message
		want     string
	}{
		{"first turn", []agent.Message{user("the notes")}, "Reading."},
		{"after its calls", []agent.Message{user("the notes"), asked, told}, "Done."},
		{"over", []agent.Message{user("the notes"), asked, told, said}, "The end."},
		{"over stays over", []agent.Message{user("the notes"), asked, told, said, user("more"), said}, "The end."},
		{"goes on over another message", []agent.Message{user("the notes"), said, user("go on")}, "Done."},
		{"begins anew", []agent.Message{user("the notes"), said, said, user("notes again")}, "Reading."},
		{"in the middle of a conversation", []agent.Message{user("hi"), said, user("the notes"), said}, "Done."},
		{"no match", []agent.Message{user("hi")}, "Hello."},
		{"no match, second message", []agent.Message{user("hi"), said, user("and?")}, "Again."},
		{"no match, over", []agent.Message{user("hi"), said, said}, "The end."},
		{"no messages", nil, "Hello."},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var h heard
			turn, err := parsed(t, notesScript).Stream(t.Context(), agent.Request{Messages: test.messages}, h.sink)
			require.NoError(t, err)
			require.Equal(t, test.want, turn.Text)
		})
	}
}

func TestScriptNothingMatches(t *testing.T) {
	m := parsed(t, "conversations: [{match: x, turns: [{text: y}]}]")
	got := ask(t.Context(), m)
	require.NoError(t, got.err)
	require.Equal(t, defaultClosing, got.turn.Text)
}

func TestScriptFailures(t *testing.T) {
	m := parsed(t, notesScript)
	var r result
	r.turn, r.err = m.Stream(t.Context(), agent.Request{Messages: []agent.Message{user("fail")}}, r.heard.sink)
	require.Equal(t, agent.CodeProviderError, r.code(t))
	require.ErrorContains(t, r.err, "overloaded")
	require.Equal(t, "Hm", r.turn.Text)

	r.turn, r.err = m.Stream(t.Context(), agent.Request{Messages: []agent.Message{user("fail"), assistant(`{"role":"assistant"}`)}}, r.heard.sink)
	require.Equal(t, agent.CodeTruncated, r.code(t))
	require.Equal(t, `{"a`, r.turn.Calls[0].Arguments)

	_, err := m.Stream(t.Context(), agent.Request{Messages: []agent.Message{calling("a")}}, r.heard.sink)
	require.ErrorIs(t, err, ErrRequest)
}

func TestScriptPace(t *testing.T) {
	m := parsed(t, "delay: 1s\nchunk: 1\nconversations: [{turns: [{text: äöü}, {text: äöü, chunk: 2, delay: 10ms}]}]")
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		got := ask(t.Context(), m)
		require.NoError(t, got.err)
		require.Equal(t, []string{"ä", "ö", "ü"}, got.heard.texts())
		require.Equal(t, 3*time.Second, time.Since(began))
	})
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		var h heard
		_, err := m.Stream(t.Context(), agent.Request{Messages: []agent.Message{user("x"), assistant(`{"role":"assistant"}`)}}, h.sink)
		require.NoError(t, err)
		require.Equal(t, []string{"äö", "ü"}, h.texts())
		require.Equal(t, 20*time.Millisecond, time.Since(began))
	})
}

func TestScriptCancel(t *testing.T) {
	m := parsed(t, "delay: 1s\nchunk: 1\nconversations: [{turns: [{text: abc, calls: [{name: T}]}]}]")
	synctest.Test(t, func(t *testing.T) {
		why := errors.New("cancelled by a person")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(1500*time.Millisecond, func() { cancel(why) })
		got := ask(ctx, m)
		require.Equal(t, why, got.err)
		require.Equal(t, "a", got.turn.Text)
		require.Empty(t, got.turn.Calls)
	})
}

// TestParseScriptRefuses: each error names the file, and the line where there
// is one.
func TestParseScriptRefuses(t *testing.T) {
	const turn = "conversations:\n  - turns:\n      - "
	tests := []struct{ name, text, want string }{
		{"empty", "", "demo.yaml: is empty"},
		{"a comment alone", "# nothing\n", "demo.yaml"},
		{"no YAML", "a: [", "demo.yaml: yaml: line 1"},
		{"a list", "- a", "demo.yaml:1: want a mapping"},
		{"no conversations", "closing: x", "demo.yaml:1: no conversations"},
		{"no conversations in the list", "conversations: []", "demo.yaml:1: no conversations"},
		{"unknown key", "delay: 1s\nspeed: 3", `demo.yaml:2: unknown key "speed": want one of chunk, closing, conversations, delay`},
		{"key of another case", turn + "Text: x", `demo.yaml:3: unknown key "Text"`},
		{"key given twice", turn + "text: x\n        text: y", `demo.yaml:4: key "text" is given twice`},
		{"text that is a number", turn + "text: 5", "demo.yaml:3: want a text; put it in quotes"},
		{"arguments that are no string", turn + "calls:\n          - name: Read\n            arguments: {path: x}", "demo.yaml:5: want a text"},
		{"a call without a name", turn + "calls: [{id: x}]", "demo.yaml:3: a call without a name"},
		{"calls that are no list", turn + "calls: {name: x}", "demo.yaml:3: want a list"},
		{"an empty turn", turn + "finish: stop", "demo.yaml:3: an empty turn"},
		{"a conversation without turns", "conversations: [{match: x}]", "demo.yaml:1: a conversation without turns"},
		{"an unknown error code", turn + "error: {code: oops}", `demo.yaml:3: error code "oops": want one of unexpected_eof`},
		{"a bad delay", "delay: fast", "demo.yaml:1: want a duration"},
		{"a negative delay", "delay: -1s", "demo.yaml:1: want a duration"},
		{"a bad chunk", "chunk: 0", "demo.yaml:1: want a whole number"},
		{"an alias", "conversations:\n  - turns: &t [{text: x}]\n    match: a\n  - turns: *t", "demo.yaml:4: want a list"},
		{"a merge key", turn + "<<: {text: x}", `demo.yaml:3: unknown key "<<"`},
		{"never reached", "conversations:\n  - match: a\n    turns: [{text: x}]\n  - match: bab\n    turns: [{text: y}]", "demo.yaml:4: never reached"},
		{"two without match", "conversations:\n  - turns: [{text: x}]\n  - turns: [{text: y}]", "demo.yaml:3: never reached"},
		{"two documents", "conversations: [{turns: [{text: x}]}]\n---\na: b", "demo.yaml: more than one document"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := ParseScript("demo.yaml", []byte(test.text))
			require.ErrorIs(t, err, ErrScript)
			require.ErrorContains(t, err, test.want)
		})
	}
}

// No file makes the parser or the player panic.
func FuzzParseScript(f *testing.F) {
	f.Add(notesScript, "notes")
	f.Add("conversations: [{turns: [{text: y}]}]\n---\n", "")
	f.Fuzz(func(t *testing.T, text, query string) {
		script, err := ParseScript("f", []byte(text))
		if err != nil || strings.Contains(text, "delay") {
			return
		}
		var h heard
		turn, _ := NewScripted("f", script).Stream(t.Context(), agent.Request{Messages: []agent.Message{user(query)}}, h.sink)
		require.Equal(t, turn.Text, h.text())
		requireReplayable(t, turn)
	})
}
