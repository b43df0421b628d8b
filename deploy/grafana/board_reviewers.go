package main

// reviewers is for who answers requests, and who looks after them.
func reviewers() board {
	return board{
		file: "reviewers.json", uid: "countersign-reviewers", title: "Countersign: reviewers",
		about: "What waits, how long people take, and what becomes of what agents ask.",
		rows:  []row{reviewersNow(), reviewersRequests(), reviewersTimes()},
	}
}

// reviewersNow is what waits.
func reviewersNow() row {
	return row{"Now", []panel{
		{number, "Waiting", "Requests that nobody has decided.", "short", 4, []query{{"countersign:approvals_pending:sum", ""}}},
		{
			number, "Oldest", "How long the oldest request has waited. Over two minutes alerts.", "s", 4,
			[]query{{"countersign:approvals_oldest_pending_age_seconds:max", ""}},
		},
		{
			number, "Next to expire", "Time left of the request that expires first. It counts as no.", "s", 4,
			[]query{{"min(countersign_approvals_next_expiry_timestamp_seconds - time())", ""}},
		},
		{number, "Consoles open", "Live streams of the console: browsers in which somebody may be looking.", "short", 4, []query{{`sum(countersign_sse_clients{stream="console"})`, ""}}},
		{number, "Calls held", "Calls that this process holds until somebody decides.", "short", 4, []query{{"sum(countersign_gate_waiters)", ""}}},
		{
			number, "Expired, last hour", "Requests that nobody answered in time.", "short", 4,
			[]query{{`sum(increase(countersign_approval_decisions_total{decision="expired"}[1h]))`, ""}},
		},
	}}
}

// reviewersRequests is what becomes of requests.
func reviewersRequests() row {
	return row{"Requests", []panel{
		{stacked, "Waiting, by rule", "The rule of the policy that asked.", "short", 12, []query{{"sum by (policy) (countersign_approvals_pending)", "{{policy}}"}}},
		{
			graph, "Asked a minute", "Requests by the rule that asked, of agents and of their subagents.", "short", 12,
			[]query{{"60 * sum by (policy, origin) (rate(countersign_approval_requests_total[5m]))", "{{policy}} ({{origin}})"}},
		},
		{
			stacked, "Ended a minute", "What became of requests.", "short", 12,
			[]query{{"60 * sum by (decision) (policy_decision:countersign_approval_decisions:rate5m)", "{{decision}}"}},
		},
		{
			graph, "Expired, share of an hour", "Over a fifth alerts, from three requests on.", "percentunit", 12,
			[]query{{"policy:countersign_approval_expired:ratio_rate1h", "{{policy}}"}},
		},
	}}
}

// reviewersTimes is how long people take.
func reviewersTimes() row {
	return row{"Time to decide", []panel{
		{graph, "Half are decided within", "From request to end, over an hour.", "s", 12, []query{{"policy:countersign_approval_decision_latency_seconds:p50_1h", "{{policy}}"}}},
		{graph, "All but one in twenty within", "Near the time-out, people are too late.", "s", 12, []query{{"policy:countersign_approval_decision_latency_seconds:p95_1h", "{{policy}}"}}},
		{
			graph, "Decided within 2.5 s of the first look", "Nobody reads a request in that time. A high share means that people approve unread.", "percentunit", 12,
			[]query{{`sum by (decision) (rate(countersign_approval_review_dwell_seconds_bucket{le="2.5"}[6h])) / sum by (decision) (rate(countersign_approval_review_dwell_seconds_count[6h]))`, "{{decision}}"}},
		},
		{
			stacked, "Decisions posted a minute", "To this process, by the way in and what became of them.", "short", 12,
			[]query{{"60 * sum by (channel, result) (rate(countersign_approval_submissions_total[5m]))", "{{channel}} {{result}}"}},
		},
	}}
}
