package cases_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/cases"
)

// mutation is an expectation that is wrong, and what the failure must name.
type mutation struct {
	number, path string
	value        any
	says         string
}

// Every expectation of a case that holds, made wrong, fails: the runner looks.
func TestWrongExpectationsFail(t *testing.T) {
	for _, m := range mutations() {
		t.Run(m.number+" "+m.path, func(t *testing.T) {
			t.Parallel()
			got := runOne(t, m.number, func(dir string) { set(t, filepath.Join(dir, "expect.json"), m.path, m.value) })
			require.Equal(t, cases.Fail, got.Outcome, got.String())
			require.Contains(t, got.Note, m.says)
		})
	}
}

func mutations() []mutation {
	return append(append(streamMutations(), scenarioMutations()...), otherMutations()...)
}

func streamMutations() []mutation {
	return []mutation{
		{"001", "assembled|tool_calls|0|id", "call_w2", "id:"},
		{"001", "assembled|tool_calls|0|name", "Edit", "name:"},
		{"001", "assembled|text", "some", "text:"},
		{"001", "assembled|finish", "stop", "finish:"},
		{"001", "executable", false, "executable:"},
		{"001", "error", "truncated", "error:"},
		{"001", "error", "a class of others", "error:"},
		{"001", "assembled|tool_calls", []any{}, "the number of tool calls:"},
		{"001", "files", map[string]any{"stream.sse": map[string]any{"never": []any{"call_w1"}}}, "never:"},
		{"001", "files", map[string]any{"stream.sse": map[string]any{"any_of": []any{map[string]any{"text": "x"}, map[string]any{"error": "protocol"}}}}, "any_of:"},
		{"001", "files", map[string]any{"other.sse": map[string]any{"text": "x"}}, "other.sse, which is not there"},
		{"001", "assembled|tool_calls|0", map[string]any{"arguments_json": map[string]any{"path": "/tmp/a.txt", "content": "ho"}}, "arguments_json:"},
		{"001", "assembled|tool_calls|0", map[string]any{"arguments_length": 38}, "arguments_length:"},
		{"011", "files|stream.sse|error", "truncated", "error:"},
		{"011", "files|stream-empty-args.sse|executable", true, "executable:"},
		{"012", "audit_raw_arguments|length.sse", "{}", "audit_raw_arguments:"},
		{"012", "files|mislabelled.sse|error", "truncated", "error:"},
		{"013", "usage|total_tokens", 60, "usage total_tokens:"},
		{"014", "assembled|tool_calls|0|arguments", "{ }", "arguments:"},
		{"014", "raw_arguments", "null", "raw_arguments:"},
		{"016", "files|stream-required.sse|tool_calls|0|arguments", `{"days":1}`, "arguments:"},
		{"017", "assembled|text", "こんにちわ", "text:"},
		{"024", "files|reasoning.sse|reasoning", "I should read it.I should read it.", "reasoning:"},
		{"024", "files|reasoning_content.sse|next_request.assistant.reasoning_content", "x", "next_request"},
	}
}

func scenarioMutations() []mutation {
	return []mutation{
		{"025", "executed_commands", []any{"rm -r build"}, "executed_commands:"},
		{"025", "not_executed_commands", []any{"ls"}, "not_executed_commands:"},
		{"025", "audit|distinct_calls", 1, "audit.distinct_calls:"},
		{"025", "next_model_request|tool_messages_per_turn", 2, "tool_messages_per_turn:"},
		{"034", "executed", []any{"c1"}, "executed:"},
		{"034", "next_model_request|tool_messages|0|contains|0", "approved", "next_model_request:"},
		{"034", "next_model_request|tool_messages|0|tool_call_id", "c2", "next_model_request:"},
		{"034", "events_in_order", []any{"tool_result", "approval_request"}, "events_in_order:"},
		{"034", "approval_requests", 2, "approval_requests:"},
		{"034", "decisions_in_audit", 2, "decisions_in_audit:"},
		{"034", "accepted_true", 0, "accepted_true:"},
		{"034", "audit", map[string]any{"decision": "approve"}, "audit.decision:"},
		{"034", "audit", map[string]any{"reviewer": nil}, "audit.reviewer:"},
		{"037", "model_request_for", "s3", "model_request_for:"},
		{"037", "valid_pairing", false, "valid_pairing:"},
		{"040", "runs|2|executed_arguments|0", `{"path":"/etc/a","content":"x"}`, "executed_arguments:"},
		{"040", "runs|0|executed", []any{"c1"}, "executed:"},
		{"040", "runs", []any{}, "the number of runs:"},
		{"044", "http_status", []any{401, 403, 200}, "http_status:"},
		{"047", "heartbeats_min", 100, "heartbeats_min:"},
		{"049", "any_of", []any{map[string]any{"approval_reply": map[string]any{"accepted": false}}}, "any_of:"},
		{"049", "leaks", -1000, "leaks:"},
		{"050", "order", []any{"execution_start:c1", "decision:approve"}, "order:"},
		{"050", "not_executed", []any{"c1"}, "not_executed:"},
		{"050", "execution_count_max", map[string]any{"c1": 0}, "execution_count_max:"},
		{"050", "never", []any{"c1"}, "never:"},
		{"055", "executed", []any{"c1", "c2"}, "executed:"},
		{"055", "executed", []any{}, "executed:"},
		{"057", "next_model_request|tool_messages|0|contains|0", "use the staging db", "next_model_request:"},
		{"095", "outcome", "ok", "outcome:"},
		{"095", "present", []any{"tool_result", "revision"}, "present:"},
	}
}

func otherMutations() []mutation {
	return []mutation{
		{"036", "openai_roles_after_user", []any{"assistant(c1,c2)", "tool(c2)", "tool(c1)"}, "openai_roles_after_user:"},
		{"053", "allowed_lines", []any{1}, "allowed_lines:"},
		{"053", "denied_lines", []any{2}, "denied_lines:"},
		{"053", "gated_lines", []any{8}, "there is no line 8"},
		{"053", "warn_lines", []any{1}, "warn_lines:"},
		{"058", "html_must_contain_any", []any{"no such text"}, "html_must_contain_any:"},
		{"058", "html_must_not_contain_codepoints", []any{"0061"}, "html_must_not_contain_codepoints:"},
		{"058", "warning", false, "warning:"},
		{"062", "dom_must_not_contain", []any{"main"}, "dom_must_not_contain:"},
		{"062", "headers", map[string]any{"Content-Security-Policy": nil}, "header Content-Security-Policy:"},
		{"062", "headers", map[string]any{"X-Other": "present"}, "header X-Other:"},
		{"062", "must_not_contain_bytes_hex", []any{"61"}, "bytes on pages:"},
		{"064", "flag_lines", []any{6}, "flag_lines:"},
		{"065", "visible_text_must_contain", "mv", "visible_text_must_contain:"},
		{"065", "not_executable", []any{"approval.json"}, "there is no approval.json"},
		{"058", "not_executable", []any{"approval.json"}, "approval.json was run"},
		{"087", "stored_length", 28, "stored_length:"},
		{"087", "ui_contains", []any{"between"}, "ui_contains:"},
		{"091", "in_views", []any{"e2"}, "in_views:"},
		{"091", "dead_letter", 1, "dead_letter:"},
		{"096", "stored_arguments_length", 342, "stored_arguments_length:"},
		{"097", "results|3", "row 501", "results:"},
		{"097", "results|7", "detected", "results:"},
		{"098", "counts|0", 3, "counts:"},
		{"098", "counts|1", 2, "counts:"},
		{"098", "counts", []any{4}, "the number of counts:"},
		{"098", "order_indices_by_instant|2", []any{5, 7}, "order_indices_by_instant:"},
		{"098", "order_indices_by_instant|0", 1, "order_indices_by_instant:"},
		{"098", "order_indices_by_instant", []any{0, 1}, "all are found:"},
		{"100", "panic", true, "panic:"},
		{"100", "series_max", 10, "series_max:"},
		{"102", "headers|Content-Type", "text/plain", "header Content-Type:"},
		{"102", "content_encoding", "gzip", "header Content-Encoding:"},
		{"103", "parsed_events_equal_published", false, "parsed_events_equal_published:"},
		{"104", "pending_after_reconnect", []any{"A"}, "pending_after_reconnect:"},
	}
}
