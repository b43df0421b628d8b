package models

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

// fixturesDir returns the folder of the recorded provider streams. They are
// not ours, so they are read where they are.
func fixturesDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("COUNTERSIGN_FIXTURES"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		found := filepath.Join(dir, "shared", "fixtures")
		if _, err := os.Stat(found); err == nil {
			return found
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			break
		}
		dir = parent
	}
	const missing = "NOT TESTED: the recorded provider streams are not here; set COUNTERSIGN_FIXTURES to their folder"
	require.NotEqual(t, "1", os.Getenv("REQUIRE_FIXTURES"), missing)
	t.Skip(missing)
	return ""
}

// recording is an entry of EXPECTED.json for a chat-completions stream.
type recording struct {
	Provider        string         `json:"provider"`
	TextLength      int            `json:"text_length"`
	ReasoningLength int            `json:"reasoning_length"`
	ToolCalls       []agent.Call   `json:"tool_calls"`
	FinishReasons   []string       `json:"finish_reasons"`
	UsageTotal      *int64         `json:"usage_total"`
	Error           jsontext.Value `json:"error"`
}

func TestRecordedStreams(t *testing.T) {
	dir := fixturesDir(t)
	var recordings map[string]recording
	require.NoError(t, json.Unmarshal(readFile(t, dir, "EXPECTED.json"), &recordings, json.MatchCaseInsensitiveNames(true)))
	tested := 0
	for name, want := range recordings {
		if want.Provider != "openai-chat" {
			continue
		}
		tested++
		stream := recordedStream(t, dir, name)
		for way, read := range deliveries(t, stream) {
			t.Run(name+"/"+way, func(t *testing.T) { want.check(t, read()) })
		}
	}
	require.Equal(t, 9, tested)
}

// recordedStream reads a recording; one that is a chunk a line gets its framing.
func recordedStream(t *testing.T, dir, name string) []byte {
	t.Helper()
	b := readFile(t, dir, name)
	if !strings.HasSuffix(name, ".chunks.jsonl") {
		return b
	}
	return []byte(data(strings.Split(strings.TrimSpace(string(b)), "\n")...))
}

func (want recording) check(t *testing.T, got result) {
	t.Helper()
	require.Len(t, []rune(got.turn.Text), want.TextLength)
	require.Len(t, []rune(got.turn.Reasoning), want.ReasoningLength)
	require.Len(t, got.turn.Calls, len(want.ToolCalls))
	for i, call := range want.ToolCalls {
		require.Equal(t, call, got.turn.Calls[i])
	}
	if len(want.FinishReasons) > 0 {
		require.Equal(t, want.FinishReasons[0], got.turn.Finish)
	}
	if want.UsageTotal != nil {
		require.Equal(t, *want.UsageTotal, got.turn.Usage.TotalTokens)
	}
	requireReplayable(t, got.turn)
	if absent(want.Error) {
		require.NoError(t, got.err)
		return
	}
	var failure struct {
		Message string `json:"message"`
	}
	require.NoError(t, json.Unmarshal(want.Error, &failure))
	require.Equal(t, agent.CodeProviderError, got.code(t))
	require.ErrorContains(t, got.err, failure.Message)
}

// Requests that providers have accepted: ours, after the same turn, has the
// same messages.
func TestRecordedFollowUps(t *testing.T) {
	dir := fixturesDir(t)
	for _, name := range []string{"openai-chat.gpt-4o-mini.parallel", "llamacpp-chat.gpt-oss.tool"} {
		t.Run(name, func(t *testing.T) {
			turn := readStream(bytes.NewReader(readFile(t, dir, name+".0.sse")))
			require.NoError(t, turn.err)
			var accepted acceptedRequest
			readJSON(t, &accepted, dir, name+".1.request.json")
			got, err := encodeRequest("m", accepted.ours(turn.turn))
			require.NoError(t, err)
			var ours acceptedRequest
			require.NoError(t, json.Unmarshal(got, &ours))
			require.Equal(t, accepted.normal(), ours.normal())
		})
	}
}

// acceptedRequest is the conversation of a recorded request.
type acceptedRequest struct {
	Messages []struct {
		wireMessage

		ToolCallID string `json:"tool_call_id"`
	} `json:"messages"`
}

// ours is what our loop would send in its place: the recorded words, but the
// assistant's message as our decoder made it.
func (a acceptedRequest) ours(turn agent.Turn) agent.Request {
	var req agent.Request
	var done []agent.Result
	for _, m := range a.Messages {
		switch m.Role {
		case "system":
			req.System = contentText(m.Content)
		case "user":
			req.Messages = append(req.Messages, user(contentText(m.Content)))
		case "assistant":
			req.Messages = append(req.Messages, agent.Message{Assistant: turn.Message})
		case "tool":
			done = append(done, agent.Result{CallID: m.ToolCallID, Text: contentText(m.Content)})
		}
	}
	req.Messages = append(req.Messages, agent.Message{Results: done})
	return req
}

// normal forgets the one difference that means nothing: content null or absent.
func (a acceptedRequest) normal() acceptedRequest {
	for i := range a.Messages {
		if absent(a.Messages[i].Content) {
			a.Messages[i].Content = jsontext.Value("null")
		}
	}
	return a
}

// contentText is the text of a message whose content is one.
func contentText(v jsontext.Value) string {
	text, _ := jsontext.AppendUnquote(nil, v)
	return string(text)
}
