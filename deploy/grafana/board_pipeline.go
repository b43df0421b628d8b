package main

// pipeline is for who operates agentd.
func pipeline() board {
	return board{
		file: "pipeline.json", uid: "countersign-pipeline", title: "Countersign: pipeline",
		about: "The log, the views over it, and who is connected.",
		rows:  []row{pipelineNow(), pipelineLog(), pipelineViews(), pipelineStreams()},
	}
}

// pipelineNow is how things stand.
func pipelineNow() row {
	return row{"Now", []panel{
		{number, "Records", "In the log.", "short", 4, []query{{"max(countersign_event_log_head_sequence)", ""}}},
		{number, "Last record", "How long ago.", "s", 4, []query{{"time() - max(countersign_event_log_head_timestamp_seconds)", ""}}},
		{number, "Views behind", "Age of what the console shows while there is more. Over half a minute alerts.", "s", 4, []query{{"max(countersign_projection_lag_seconds)", ""}}},
		{number, "Set aside", "Records that the views could not read: see the console's page System.", "short", 4, []query{{"sum(countersign_projection_errors_total)", ""}}},
		{number, "Room on the disk", "Below the floor no work begins.", "bytes", 4, []query{{"min(countersign_event_log_disk_free_bytes)", ""}}},
		{number, "Version", "The build that runs.", "short", 4, []query{{"countersign_build_info", "{{version}}"}}},
	}}
}

// pipelineLog is what is appended, and how long that takes.
func pipelineLog() row {
	return row{"The log", []panel{
		{stacked, "Records a second, by type", "What is appended.", "short", 12, []query{{"sum by (type) (rate(countersign_events_appended_total[5m])) > 0", "{{type}}"}}},
		{
			graph, "Append", "How long an append takes until it is durable. Each call waits for two.", "s", 12,
			[]query{
				{"histogram_quantile(0.5, sum by (le) (rate(countersign_event_append_duration_seconds_bucket[5m])))", "p50"},
				{"histogram_quantile(0.99, sum by (le) (rate(countersign_event_append_duration_seconds_bucket[5m])))", "p99"},
			},
		},
		{
			stacked, "Appends that were not stored, a minute", "Refused for want of room, in conflict, given up or failed. The objective is one in two thousand.", "short", 12,
			[]query{{`60 * sum by (result) (rate(countersign_event_append_duration_seconds_count{result!~"ok|duplicate"}[5m]))`, "{{result}}"}},
		},
		{graph, "Stored, share of an hour", "The objective is 99.95 %.", "percentunit", 12, []query{{"countersign:event_appended:ratio_rate1h", "stored"}}},
		{
			graph, "Room on the disk", "And the floor below which no work begins.", "bytes", 12,
			[]query{{"countersign_event_log_disk_free_bytes", "free"}, {"countersign_event_log_disk_floor_bytes", "floor"}},
		},
		{
			stacked, "Events over the bus, a second", "Published to the log and consumed by subscribers.", "short", 12,
			[]query{{"sum by (direction, result) (rate(countersign_bus_messages_total[5m]))", "{{direction}} {{result}}"}},
		},
	}}
}

// pipelineViews is how far the views are.
func pipelineViews() row {
	return row{"Views", []panel{
		{graph, "Records behind", "Of each projection.", "short", 8, []query{{"max by (projection) (countersign_projection_lag_events)", "{{projection}}"}}},
		{
			graph, "Fresh within a second", "Share of transactions. The objective is 99 %.", "percentunit", 8,
			[]query{{"projection:countersign_projection_fresh:ratio_rate5m", "{{projection}}"}},
		},
		{
			graph, "Records read, a second", "And how far a rebuild has come, where there is one (1 is all).", "short", 8,
			[]query{{"deriv(countersign_projection_position_sequence[5m])", "{{projection}}"}, {"countersign_projection_rebuild_progress_ratio", "rebuilt"}},
		},
	}}
}

// pipelineStreams is who is connected, and how soon they are told.
func pipelineStreams() row {
	return row{"Who is connected", []panel{
		{stacked, "Live streams", "Open now.", "short", 8, []query{{"sum by (stream) (countersign_sse_clients)", "{{stream}}"}}},
		{
			stacked, "Streams ended a minute", "Slow readers are cut, and come back where they were.", "short", 8,
			[]query{{"60 * sum by (stream, reason) (rate(countersign_sse_disconnects_total[5m]))", "{{stream}} {{reason}}"}},
		},
		{
			graph, "Streams that went on, a minute", "By what they had missed.", "short", 8,
			[]query{{"60 * sum by (stream, result) (rate(countersign_sse_resumes_total[5m]))", "{{stream}} {{result}}"}},
		},
		{
			graph, "Told within", "From a commit to its message on the way to a browser.", "s", 8,
			[]query{{"histogram_quantile(0.99, sum by (stream, le) (rate(countersign_sse_delivery_latency_seconds_bucket[5m])))", "{{stream}} p99"}},
		},
		{graph, "Told within a second", "Share of messages. The objective is 99 %.", "percentunit", 8, []query{{"stream:countersign_sse_delivered:ratio_rate5m", "{{stream}}"}}},
		{graph, "Messages a second", "Sent on live streams.", "short", 8, []query{{"sum by (stream) (rate(countersign_sse_messages_sent_total[5m]))", "{{stream}}"}}},
		{
			stacked, "Requests a second", "Over HTTP, by status.", "short", 8,
			[]query{{"sum by (code) (rate(countersign_http_requests_total[5m]))", "{{code}}"}},
		},
		{
			graph, "Pages and answers, p99", "The ten slowest routes.", "s", 8,
			[]query{{"topk(10, histogram_quantile(0.99, sum by (handler, le) (rate(countersign_http_request_duration_seconds_bucket[5m]))))", "{{handler}}"}},
		},
		{
			graph, "Exports, and what listeners missed, an hour", "Exports by how they ended; things that slow listeners of the loop were not told.", "short", 8,
			[]query{
				{"sum by (format, result) (increase(countersign_exports_total[1h])) > 0", "{{format}} {{result}}"},
				{"sum(increase(countersign_loop_unheard_total[1h])) > 0", "unheard"},
			},
		},
	}}
}
