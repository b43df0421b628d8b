package projections

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/policy"
)

// exported is a family of tallies as scrapers see it.
type exported struct {
	family family
	desc   *prometheus.Desc
	kind   prometheus.ValueType
	labels int       // how many of a, b, c
	bounds []float64 // nil: no histogram
	unit   float64   // how many of sum's units are one of the metric's
}

const perSecond = 1e6 // microseconds

func counter(f family, name, help string, labels ...string) exported {
	return exported{family: f, desc: prometheus.NewDesc(name, help, labels, nil), kind: prometheus.CounterValue, labels: len(labels)}
}

func histogram(f family, unit float64, bounds []float64, name, help string, labels ...string) exported {
	e := counter(f, name, help, labels...)
	e.bounds, e.unit = bounds, unit
	return e
}

// exportedFamilies are the totals that come from the log.
func exportedFamilies() []exported {
	pending := counter(famPending, "countersign_approvals_pending", "Approval requests that nobody has decided, by the rule that asked.", "policy")
	pending.kind = prometheus.GaugeValue
	return []exported{
		pending,
		counter(famRequests, "countersign_approval_requests_total", "Approval requests.", "policy", "origin"),
		counter(famDecisions, "countersign_approval_decisions_total", "Ends of approval requests, by what ended them.", "policy", "decision", "decided_by"),
		histogram(famLatency, perSecond, waitBounds(), "countersign_approval_decision_latency_seconds",
			"From an approval request to its end, in log time.", "policy", "decision"),
		histogram(famDwell, perSecond, waitBounds(), "countersign_approval_review_dwell_seconds",
			"From when the deciding person was first shown a request to the decision, in log time.", "decision"),
		counter(famBypasses, "countersign_gate_bypasses_total", "Starts of calls that would have asked, under a bypass.", "reason"),
		counter(famViolations, "countersign_gate_invariant_violations_total", "Records that show that a promise of the gate was broken.", "invariant"),
		counter(famStarts, "countersign_watch_starts_total", "Starts as the watch judged them: again under the recorded policy, or as nobody enforced them.", "finding"),
		counter(famCalls, "countersign_tool_calls_total", "Tool calls that ended, by how.", "tool", "origin", "outcome"),
		histogram(famDurations, perSecond, runBounds(), "countersign_tool_execution_duration_seconds",
			"How long tools ran; waiting for approval is not in it.", "tool", "outcome"),
		histogram(famSizes, 1, sizeBounds(), "countersign_tool_payload_size_bytes", "Sizes of arguments and results, before any cut.", "part"),
		counter(famAside, "countersign_projection_errors_total", "Records that a projection could not read or store, and set aside.", "projection", "reason"),
		counter(famEvents, "countersign_events_appended_total", "Records of the log, by type of event.", "type"),
	}
}

// zeros are the tallies that are exported before they are first counted: those
// that alerts read, since an increase from nothing is no increase to Prometheus,
// and those of closed sets.
func zeros(rules map[string]bool) []tallyKey {
	var keys []tallyKey
	zero := func(f family, l ...string) {
		var all labels
		copy(all[:], l)
		keys = append(keys, tallyKey{family: f, a: all[0], b: all[1], c: all[2]})
	}
	for _, invariant := range Invariants() {
		zero(famViolations, string(invariant))
	}
	for _, found := range findings() {
		zero(famStarts, found)
	}
	for _, t := range events.AllTypes() {
		zero(famEvents, string(t))
	}
	zero(famBypasses, bypassOfRequest)
	zero(famAside, auditName, reasonAside)
	for rule := range rules {
		zero(famPending, rule)
		zero(famRequests, rule, "main")
		for _, e := range ends() {
			zero(famDecisions, rule, string(e.end), string(e.decider))
		}
	}
	return keys
}

// end is a way in which requests end.
type end struct {
	end     RequestEnd
	decider Decider
}

func ends() []end {
	return []end{
		{EndApproved, DeciderHuman},
		{EndModified, DeciderHuman},
		{EndDeclined, DeciderHuman},
		{EndApproved, DeciderHandler},
		{EndDeclined, DeciderHandler},
		{EndDeclined, DeciderSystem}, // policy denies it by now
		{EndExpired, DeciderSystem},
		{EndCancelled, DeciderSystem},
		{EndStale, DeciderSystem},
		{EndFailed, DeciderSystem},
	}
}

// askingRules are the rules that ask in every policy.
func askingRules() map[string]bool {
	return map[string]bool{policy.RuleRequired: true, policy.RuleDefault: true}
}
