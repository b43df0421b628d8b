package models

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/agent"
)

const (
	callChunk  = `{"choices":[{"delta":{"tool_calls":[{"index":0,"id":"c","function":{"name":"T","arguments":"{}"}}]}}]}`
	textChunk  = `{"choices":[{"delta":{"content":"hi"}}]}`
	stopChunk  = `{"choices":[{"delta":{},"finish_reason":"stop"}]}`
	callsChunk = `{"choices":[{"delta":{},"finish_reason":"tool_calls"}]}`
)

func finishChunk(word string) string {
	return `{"choices":[{"delta":{},"finish_reason":"` + word + `"}]}`
}

// TestTurns: streams that differ from the protocol without harm.
func TestTurns(t *testing.T) {
	tests := []struct {
		name      string
		stream    string
		text      string
		reasoning string
		calls     int
		finish    string
	}{
		{"[DONE] without a finish reason, text alone", data(textChunk, "[DONE]"), "hi", "", 0, ""},
		{"a finish reason without [DONE]", data(callChunk, callsChunk), "", "", 1, "tool_calls"},
		{"nothing is read after [DONE]", data(textChunk, stopChunk, "[DONE]", "}{"), "hi", "", 0, "stop"},
		{"blanks around [DONE]", data(textChunk, stopChunk, " [DONE] ", "}{"), "hi", "", 0, "stop"},
		{"finish and call in one chunk", data(`{"choices":[{"delta":{"tool_calls":[{"id":"c","function":{"name":"T","arguments":"{}"}}]},"finish_reason":"stop"}]}`), "", "", 1, "stop"},
		{"the first word counts", data(textChunk, finishChunk(""), stopChunk, callsChunk), "hi", "", 0, "stop"},
		{"tool_calls without calls, but text", data(textChunk, callsChunk), "hi", "", 0, "tool_calls"},
		{"an unknown word, text alone", data(textChunk, finishChunk("done")), "hi", "", 0, "done"},
		{"choices null, absent, empty", data(`{"choices":null}`, `{}`, `{"choices":[]}`, `null`, textChunk, stopChunk), "hi", "", 0, "stop"},
		{"delta null or absent", data(`{"choices":[{"delta":null}]}`, `{"choices":[{}]}`, textChunk, stopChunk), "hi", "", 0, "stop"},
		{"several choices", data(`{"choices":[{"index":1,"delta":{"content":"no"},"finish_reason":"length"},{"index":0,"delta":{"content":"yes"}}]}`, `{"choices":[{"delta":{"content":"!"}},{"delta":{"content":"?"}}]}`, stopChunk), "yes!", "", 0, "stop"},
		{"only other choices", data(`{"choices":[{"index":1,"delta":{"content":"no"}}]}`, textChunk, stopChunk), "hi", "", 0, "stop"},
		{"case matters in names", data(`{"Choices":[{"delta":{"content":"no"}}],"ERROR":"no"}`, textChunk, stopChunk), "hi", "", 0, "stop"},
		{"error null, error empty", data(`{"error":null,"choices":[{"delta":{"content":"a"},"error":null}]}`, `{"error":""}`, stopChunk), "a", "", 0, "stop"},
		{"both reasoning names say one thing", data(`{"choices":[{"delta":{"reasoning_content":"r","reasoning":"r","reasoning_details":[{"text":"r"}]}}]}`, stopChunk), "", "r", 0, "stop"},
		{"reasoning_content empty beside reasoning", data(`{"choices":[{"delta":{"reasoning_content":"","reasoning":"r"}}]}`, stopChunk), "", "r", 0, "stop"},
		{"a refusal is text", data(`{"choices":[{"delta":{"content":null,"refusal":"no"}}]}`, stopChunk), "no", "", 0, "stop"},
		{"content in parts", data(`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"r"}]},{"type":"text","text":"t"},{"type":"image"}]}}]}`, stopChunk), "t", "r", 0, "stop"},
		{"a pair of surrogates in two chunks", data(`{"choices":[{"delta":{"content":"a\ud83d"}}]}`, `{"choices":[{"delta":{"content":"\ude80b"}}]}`, stopChunk), "a🚀b", "", 0, "stop"},
		{"half a character in text", data(`{"choices":[{"delta":{"content":"a\ud83d"}}]}`, `{"choices":[{"delta":{"content":"b\ud83d"}}]}`, stopChunk), "a\uFFFDb\uFFFD", "", 0, "stop"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := readStream(strings.NewReader(test.stream))
			require.NoError(t, got.err)
			require.Equal(t, test.text, got.turn.Text)
			require.Equal(t, test.text, got.heard.text())
			require.Equal(t, test.reasoning, got.turn.Reasoning)
			require.Equal(t, test.reasoning, got.heard.reasoning())
			require.Len(t, got.turn.Calls, test.calls)
			require.Equal(t, test.finish, got.turn.Finish)
			requireReplayable(t, got.turn)
		})
	}
}

// TestTurnsRefused: streams after which no tool may start. What had come of
// text and calls is in the turn all the same.
func TestTurnsRefused(t *testing.T) {
	tests := []struct {
		name    string
		stream  string
		code    string
		message string // a part of it
		text    string
		calls   int
	}{
		{"nothing", "", agent.CodeUnexpectedEOF, "finish reason", "", 0},
		{"the end before the end", data(textChunk, callChunk), agent.CodeUnexpectedEOF, "finish reason", "hi", 1},
		{"[DONE] with calls but no finish reason", data(callChunk, "[DONE]"), agent.CodeUnexpectedEOF, "finish reason", "", 1},
		{"[DONE] without its empty line", data(textChunk) + "data: [DONE]\n", agent.CodeUnexpectedEOF, "", "hi", 0},
		{"the length limit", data(textChunk, callChunk, finishChunk("length")), agent.CodeTruncated, "length", "hi", 1},
		{"the length limit after another word", data(callChunk, callsChunk, finishChunk("length")), agent.CodeTruncated, "length", "", 1},
		{"another word after the length limit", data(callChunk, finishChunk("MAX_TOKENS"), callsChunk), agent.CodeTruncated, "MAX_TOKENS", "", 1},
		{"a content filter", data(textChunk, finishChunk("content_filter")), agent.CodeTruncated, "content_filter", "hi", 0},
		{"an unknown word with calls", data(callChunk, finishChunk("halted")), agent.CodeInvalidStream, "halted", "", 1},
		{"the word error", data(callChunk, finishChunk("error")), agent.CodeProviderError, "error", "", 1},
		{"tool_calls and nothing else", data(callsChunk), agent.CodeInvalidStream, "no call", "", 0},
		{"an error event", data(callChunk) + "event: error\ndata: {\"error\":{\"message\":\"m\",\"code\":\"x\"}}\n\n" + data(callsChunk), agent.CodeProviderError, "the provider says: m (x)", "", 1},
		{"an error event of words", "event: error\ndata: out of memory\n\n", agent.CodeProviderError, "out of memory", "", 0},
		{"an error event without words", "event: error\ndata:\n\n", agent.CodeProviderError, "(nothing)", "", 0},
		{"an error after the finish reason", data(callChunk, callsChunk, `{"error":"late"}`), agent.CodeProviderError, "late", "", 1},
		{"an error object", data(callChunk, `{"error":{"message":"overloaded"}}`), agent.CodeProviderError, "overloaded", "", 1},
		{"an error string beside choices", data(`{"error":"e","choices":[{"delta":{"content":"no"}}]}`), agent.CodeProviderError, ": e", "", 0},
		{"an error of another shape", data(`{"error":{"why":["x"]}}`), agent.CodeProviderError, `{"why":["x"]}`, "", 0},
		{"an error that is false", data(`{"error":false}`, stopChunk), agent.CodeProviderError, "false", "", 0},
		{"an error in the choice", data(callChunk, `{"choices":[{"delta":{},"finish_reason":"error","error":{"code":502,"message":"upstream"}}]}`), agent.CodeProviderError, "upstream", "", 1},
		{"a chunk that is an error", data(`{"object":"error","message":"too long","type":"BadRequestError","code":400}`), agent.CodeProviderError, "too long", "", 0},
		{"a chunk that does not parse", data(textChunk, `{"choices":[{"delta"`, stopChunk), agent.CodeInvalidStream, "cannot be read", "hi", 0},
		{"more after a chunk", data(textChunk + textChunk), agent.CodeInvalidStream, "cannot be read", "", 0},
		{"a chunk of another type", data(`{"choices":{"delta":{}}}`), agent.CodeInvalidStream, "", "", 0},
		{"a member named twice", data(`{"choices":[{"delta":{"content":"a","content":"b"}}]}`, stopChunk), agent.CodeInvalidStream, "duplicate", "", 0},
		{"bytes that are no UTF-8", data("{\"choices\":[{\"delta\":{\"content\":\"\xff\"}}]}", stopChunk), agent.CodeInvalidStream, "UTF-8", "", 0},
		{"content of another type", data(`{"choices":[{"delta":{"content":7}}]}`, stopChunk), agent.CodeInvalidStream, "content", "", 0},
		{"reasoning of another type", data(`{"choices":[{"delta":{"reasoning":{}}}]}`, stopChunk), agent.CodeInvalidStream, "reasoning", "", 0},
		{"a finish reason of another type", data(`{"choices":[{"finish_reason":1}]}`), agent.CodeInvalidStream, "finish_reason", "", 0},
		{"an index of another type", data(`{"choices":[{"index":"0"}]}`), agent.CodeInvalidStream, "index", "", 0},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := readStream(strings.NewReader(test.stream))
			require.Equal(t, test.code, got.code(t))
			require.ErrorContains(t, got.err, test.message)
			require.Equal(t, test.text, got.turn.Text)
			require.Len(t, got.turn.Calls, test.calls)
			requireReplayable(t, got.turn)
		})
	}
}

func TestUsage(t *testing.T) {
	const full = `{"usage":{"prompt_tokens":20,"completion_tokens":10,"total_tokens":30}}`
	want := agent.Usage{PromptTokens: 20, CompletionTokens: 10, TotalTokens: 30}
	tests := []struct {
		name   string
		chunks []string
		want   agent.Usage
	}{
		{"none", nil, agent.Usage{}},
		{"first", []string{full, textChunk}, want},
		{"twice is not added", []string{full, full}, want},
		{"growing", []string{`{"usage":{"prompt_tokens":20,"completion_tokens":4,"total_tokens":24}}`, full}, want},
		{"zeros and null later", []string{full, `{"usage":{"prompt_tokens":0,"completion_tokens":0,"total_tokens":0}}`, `{"usage":null}`}, want},
		{"no total", []string{`{"usage":{"prompt_tokens":20,"completion_tokens":10}}`}, want},
		{"beyond 2^53", []string{`{"usage":{"prompt_tokens":9007199254740993,"total_tokens":9007199254740993}}`}, agent.Usage{PromptTokens: 9007199254740993, TotalTokens: 9007199254740993}},
		{"beyond all reason", []string{`{"usage":{"prompt_tokens":9223372036854775807,"completion_tokens":1}}`, `{"usage":{"total_tokens":9223372036854775807}}`}, agent.Usage{CompletionTokens: 1, TotalTokens: 1}},
		{"of another type", []string{`{"usage":[]}`, `{"usage":{"prompt_tokens":"x","completion_tokens":-1,"total_tokens":1.5}}`}, agent.Usage{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := readStream(strings.NewReader(data(append(test.chunks, stopChunk)...)))
			require.NoError(t, got.err)
			require.Equal(t, test.want, got.turn.Usage)
		})
	}
}

// A turn beyond the bound, in many small chunks or in one, is no success.
func TestTurnLimit(t *testing.T) {
	piece := `{"choices":[{"delta":{"content":"` + strings.Repeat("x", 1<<20) + `"}}]}`
	chunks := make([]string, 33)
	for i := range chunks {
		chunks[i] = piece
	}
	got := readStream(strings.NewReader(data(append(chunks, stopChunk)...)))
	require.Equal(t, agent.CodeLimit, got.code(t))
	got = readStream(strings.NewReader("data: " + strings.Repeat("x", maxTurnBytes+1)))
	require.Equal(t, agent.CodeLimit, got.code(t))
}

func TestExtraContentIsReplayed(t *testing.T) {
	got := readStream(strings.NewReader(data(chunksOf([]string{
		`{"index":0,"id":"c","function":{"name":"T","arguments":"{}"},"extra_content":{"google": {"thought_signature":"s"}}}`,
	})...)))
	require.NoError(t, got.err)
	require.Contains(t, string(got.turn.Message), `"extra_content":{"google": {"thought_signature":"s"}}`)
}
