package cases

import (
	"context"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// outcome is all that came of a scenario, or of one of its runs.
type outcome struct {
	p     *play
	story *story
	runs  []*run
}

// expectation judges one member of expect.json. It takes it.
type expectation func(o *outcome, w *wants)

// expectations is the table of what can be expected of a scenario.
func expectations() map[string]expectation {
	return map[string]expectation{
		"executed":                         (*outcome).executed,
		"not_executed":                     (*outcome).notExecuted,
		"executed_commands":                (*outcome).commands,
		"not_executed_commands":            (*outcome).notCommands,
		"executed_arguments":               (*outcome).executedArguments,
		"execution_count_max":              (*outcome).countMax,
		"executed_lines":                   (*outcome).lines,
		"never_executed_lines":             (*outcome).neverLines,
		"executed_iff_accepted_is_approve": (*outcome).iffApprove,
		"accepted_true":                    (*outcome).accepted,
		"approval_reply":                   (*outcome).approvalReply,
		"decisions_in_audit":               (*outcome).decisions,
		"audit":                            (*outcome).audit,
		"approval_requests":                (*outcome).approvalRequests,
		"events_in_order":                  (*outcome).eventsInOrder,
		"order":                            (*outcome).order,
		"present":                          (*outcome).present,
		"outcome":                          (*outcome).callOutcome,
		"heartbeats_min":                   (*outcome).heartbeats,
		"next_model_request":               (*outcome).nextRequest,
		"valid_pairing":                    (*outcome).pairing,
		"model_request_for":                (*outcome).requestFor,
		"http_status":                      (*outcome).statuses,
		"leaks":                            (*outcome).leaks,
		"runs":                             (*outcome).eachRun,
		"any_of":                           (*outcome).anyOf,
		"never":                            (*outcome).never,
		"rule":                             func(_ *outcome, w *wants) { w.raw("rule") }, // a label
	}
}

// judge judges what came of the scenario by all of expect.json that is in the
// table.
func (p *play) judge(ctx context.Context) error {
	s, err := p.node.tell(ctx)
	if err != nil {
		return err
	}
	s.checkAlways(p.f.report)
	for _, body := range p.provider.asked() {
		checkPairing(p.f.report, body)
	}
	o := &outcome{p: p, story: s, runs: p.runs}
	if p.runs[0].line > 0 || len(p.runs) == 1 {
		o.judge(p.f.expect)
		return nil
	}
	for _, r := range p.runs { // repetitions: all holds for each
		o.each(r).judge(p.f.expect)
	}
	return nil
}

func (o *outcome) judge(w *wants) {
	table := expectations()
	for _, name := range w.names {
		if expect := table[name]; expect != nil {
			expect(o, w)
		}
	}
}

// each is the outcome of one run.
func (o *outcome) each(r *run) *outcome {
	return &outcome{p: o.p, story: o.story.only(r.conversations()), runs: []*run{r}}
}

// executed judges the calls that ran exactly once; none listed means that
// nothing ran at all.
func (o *outcome) executed(w *wants) {
	ids := w.strings("executed")
	if len(ids) == 0 {
		n := 0
		for _, c := range o.story.calls() {
			n += o.story.count(c.CallID)
		}
		w.report.check("executed", n == 0, "%d calls ran, want none", n)
	}
	for _, id := range ids {
		w.report.check("executed", o.story.count(id) == 1, "%s ran %d times", id, o.story.count(id))
	}
}

func (o *outcome) notExecuted(w *wants) {
	for _, id := range w.strings("not_executed") {
		w.report.check("not_executed", o.story.count(id) == 0, "%s ran %d times", id, o.story.count(id))
	}
}

func (o *outcome) never(w *wants) {
	for _, id := range w.strings("never") {
		w.report.check("never", o.story.count(id) == 0, "%s ran", id)
	}
}

// command counts the calls that ran and whose arguments have this command.
func (o *outcome) command(want string) int {
	n := 0
	for _, c := range o.story.calls() {
		if c.Start == nil || o.story.times(c.Tool, o.story.started(c)) == 0 {
			continue
		}
		var args struct {
			Command string `json:"command"`
		}
		if json.Unmarshal([]byte(o.story.started(c)), &args) == nil && args.Command == want {
			n++
		}
	}
	return n
}

func (o *outcome) commands(w *wants) {
	for _, c := range w.strings("executed_commands") {
		w.report.check("executed_commands", o.command(c) == 1, "%q ran %d times", c, o.command(c))
	}
}

func (o *outcome) notCommands(w *wants) {
	for _, c := range w.strings("not_executed_commands") {
		w.report.check("not_executed_commands", o.command(c) == 0, "%q ran %d times", c, o.command(c))
	}
}

// executedArguments judges what exactly the tools ran with.
func (o *outcome) executedArguments(w *wants) {
	want := w.strings("executed_arguments")
	var got []string
	for _, c := range o.story.calls() {
		if c.Start != nil && o.story.times(c.Tool, o.story.started(c)) > 0 {
			got = append(got, o.story.started(c))
		}
	}
	w.report.check("executed_arguments", slices.Equal(got, want), "got %q, want %q", got, want)
}

func (o *outcome) countMax(w *wants) {
	var most map[string]int
	w.take("execution_count_max", &most)
	for id, n := range most {
		w.report.check("execution_count_max", o.story.count(id) <= n, "%s ran %d times", id, o.story.count(id))
	}
}

// ran reports whether a line's run executed anything.
func (o *outcome) ran(r *run) bool {
	one := o.each(r)
	return slices.ContainsFunc(one.story.calls(), func(c *call) bool { return one.story.count(c.CallID) > 0 })
}

func (o *outcome) lines(w *wants) { o.byLine(w, "executed_lines", true) }

func (o *outcome) neverLines(w *wants) { o.byLine(w, "never_executed_lines", false) }

func (o *outcome) byLine(w *wants, name string, want bool) {
	var lines []int
	w.take(name, &lines)
	for _, n := range lines {
		if n < 1 || n > len(o.runs) || o.runs[n-1].line != n {
			w.report.fail("%s: there is no line %d", name, n)
			continue
		}
		w.report.check(name, o.ran(o.runs[n-1]) == want, "line %d: executed is %v", n, !want)
	}
}

// eachRun judges each run of the case by its own object.
func (o *outcome) eachRun(w *wants) {
	var runs []jsontext.Value
	w.take("runs", &runs)
	same(w.report, "the number of runs", len(o.runs), len(runs))
	for i := range min(len(runs), len(o.runs)) {
		one := parseWants(w.report, "runs.", runs[i])
		o.each(o.runs[i]).judge(one)
		one.close()
	}
}

// anyOf judges that one of the objects holds, whole.
func (o *outcome) anyOf(w *wants) {
	var choices []jsontext.Value
	w.take("any_of", &choices)
	var failures []string
	for _, c := range choices {
		trial := &report{}
		one := parseWants(trial, "any_of.", c)
		o.judge(one)
		one.close()
		if len(trial.failures) == 0 && len(trial.left) == 0 {
			w.report.check("any_of", true, "")
			return
		}
		failures = append(append(failures, trial.failures...), trial.left...)
	}
	w.report.check("any_of", false, "none holds: %q", failures)
}

// streamed are the events of a run's first stream, and those of the others
// behind them.
func (o *outcome) streamed() []agent.Event {
	var all []agent.Event
	for _, r := range o.runs {
		for _, s := range r.streams {
			all = append(all, s.events()...)
		}
	}
	return all
}

// inOrder reports whether want is a subsequence of got.
func inOrder(got, want []string) bool {
	for _, g := range got {
		if len(want) > 0 && g == want[0] {
			want = want[1:]
		}
	}
	return len(want) == 0
}

func (o *outcome) eventsInOrder(w *wants) {
	want := w.strings("events_in_order")
	for _, r := range o.runs {
		var got []string
		for _, e := range r.first.events() {
			got = append(got, e.Type)
		}
		w.report.check("events_in_order", inOrder(got, want), "got %q", got)
	}
}

func (o *outcome) heartbeats(w *wants) {
	var least int
	w.take("heartbeats_min", &least)
	n := 0
	for _, e := range o.streamed() {
		if e.Type == agent.EventHeartbeat {
			n++
		}
	}
	w.report.check("heartbeats_min", n >= least, "got %d, want %d", n, least)
}

// logNames are the cases' names of events that we call otherwise.
func logNames() map[string]string {
	return map[string]string{"execution_start": string(events.TypeToolStarted), "execution_end": string(events.TypeToolResult)}
}

// order judges a subsequence of the log, of "type" or "type:what".
func (o *outcome) order(w *wants) {
	want := w.strings("order")
	for _, r := range o.runs {
		one := o.each(r)
		w.report.check("order", inOrder(one.logged(want), want), "got %q", one.logged(want))
	}
}

func (o *outcome) present(w *wants) {
	want := w.strings("present")
	got := o.logged(want)
	for _, name := range want {
		w.report.check("present", slices.Contains(got, name), "%s is not in the log", name)
	}
}

// callOutcome judges how the calls that ran are shown to have ended.
func (o *outcome) callOutcome(w *wants) {
	var want string
	w.take("outcome", &want)
	if want == "unknown" {
		want = string(events.StatusAmbiguous)
	}
	for _, c := range o.story.calls() {
		if c.Start == nil {
			continue
		}
		got := "open"
		if c.Result != nil {
			got = string(c.Result.Status)
		}
		same(w.report, "outcome", got, want)
	}
}
