package main

// tools is for who looks after agents and their tools.
func tools() board {
	return board{
		file: "tools.json", uid: "countersign-tools", title: "Countersign: tools",
		about: "What agents call, how it ends, and whether the gate held.",
		rows: []row{
			{"The gate", []panel{
				{
					number, "Violations, last day", "Records that show that a promise of the gate was broken. Anything but 0 is an emergency.", "short", 6,
					[]query{{"sum(increase(countersign_gate_invariant_violations_total[1d]))", ""}},
				},
				{number, "Bypassed, last day", "Starts under a bypass.", "short", 6, []query{{"sum(increase(countersign_gate_bypasses_total[1d]))", ""}}},
				{
					number, "Starts judged again, last day", "What the watch found of starts, under the policy that the log holds.", "short", 6,
					[]query{{"sum by (finding) (increase(countersign_watch_starts_total[1d]))", "{{finding}}"}},
				},
				{number, "Running", "Tool calls that run now.", "short", 6, []query{{"sum(countersign_tool_calls_in_flight)", ""}}},
			}},
			{"Calls", []panel{
				{
					stacked, "Ended a minute, by how", "Executed, failed, declined, expired, cancelled, refused.", "short", 12,
					[]query{{"60 * sum by (outcome) (rate(countersign_tool_calls_total[5m]))", "{{outcome}}"}},
				},
				{stacked, "Ended a minute, by tool", "The ten most called.", "short", 12, []query{{"topk(10, 60 * sum by (tool) (rate(countersign_tool_calls_total[5m])))", "{{tool}}"}}},
				{graph, "Failed, share of what ran", "Errors and time-outs.", "percentunit", 12, []query{{"tool:countersign_tool_calls_failed:ratio_rate5m", "{{tool}}"}}},
				{
					graph, "All but one in twenty run within", "How long tools run; waiting for approval is not in it.", "s", 12,
					[]query{{"histogram_quantile(0.95, sum by (tool, le) (rate(countersign_tool_execution_duration_seconds_bucket[15m])))", "{{tool}}"}},
				},
				{stacked, "Running, by tool", "Tool calls that run now.", "short", 12, []query{{"sum by (tool) (countersign_tool_calls_in_flight) > 0", "{{tool}}"}}},
			}},
			{"Sizes and tokens", []panel{
				{
					graph, "Arguments and results, p95", "In bytes, before any cut.", "bytes", 12,
					[]query{{"histogram_quantile(0.95, sum by (part, le) (rate(countersign_tool_payload_size_bytes_bucket[15m])))", "{{part}}"}},
				},
				{
					graph, "Tokens a minute", "As the providers count them.", "short", 12,
					[]query{{"60 * sum by (model, type) (rate(countersign_llm_tokens_total[5m]))", "{{model}} {{type}}"}},
				},
			}},
		},
	}
}
