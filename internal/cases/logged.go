package cases

import (
	"context"
	"fmt"
	"slices"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
)

// judgeEvents judges what the log and the views hold.
func judgeEvents(ctx context.Context, o Options, f *folder) error {
	switch {
	case f.has("delivery.jsonl"):
		f.report.leave("the bus kafka is not in this version", "")
		f.expect = nil
	case f.has("events.jsonl"):
		return judgePoison(ctx, f)
	case f.has("scenario.json") && f.readWants("scenario.json").has("publish"):
		return judgeAcknowledged(ctx, o, f)
	case f.has("scenario.json"):
		return judgeScenario(ctx, o, f)
	default:
		return judgeStored(ctx, o, f)
	}
	return nil
}

// judgeStored has the case's call run with the case's result, and judges what
// is stored and shown.
func judgeStored(ctx context.Context, o Options, f *folder) error {
	calls := approvals(f)
	if f.has("arguments.json") {
		calls["arguments.json"] = shownCall{ID: "c1", Tool: "Read", Arguments: string(trimEnd(f.read("arguments.json")))}
	}
	if len(calls) == 0 {
		return errNothingToShow
	}
	for file, c := range calls {
		e, err := showApproval(ctx, o, f, c)
		if err != nil {
			return err
		}
		e.judgeStored(f, file)
	}
	return nil
}

func trimEnd(b []byte) []byte {
	for len(b) > 0 && b[len(b)-1] == '\n' {
		b = b[:len(b)-1]
	}
	return b
}

func (e *exhibit) judgeStored(f *folder, file string) {
	all := e.story.calls()
	if len(all) != 1 {
		f.report.fail("%s: the log has %d calls, want 1", file, len(all))
		return
	}
	asked := e.story.asked(all[0])
	f.report.check("the stored arguments", asked == e.call.Arguments, "%s: got %s", file, shortly(asked))
	var n int
	if f.expect.take("stored_arguments_length", &n) {
		same(f.report, "stored_arguments_length", len(asked), n)
	}
	if f.expect.take("stored_length", &n) && all[0].Result != nil {
		result := e.story.text(all[0].Result.Result)
		same(f.report, "stored_length", len(result), n)
		for _, name := range f.glob("result.*") {
			f.report.check("the stored result", result == string(f.read(name)), "it is not %s to the byte", name)
		}
	}
	for _, text := range f.expect.strings("ui_contains") {
		f.report.check("ui_contains", anywhere(e.pages, text), "%q is on no page", text)
	}
}

// budget bounds the repetitions of one variant.
const budget = 12 * time.Second

// judgeAcknowledged kills the node right after it has acknowledged a decision,
// again and again, and judges that everything that anybody was told is stored.
func judgeAcknowledged(ctx context.Context, o Options, f *folder) error {
	var repeat int
	var variants []string
	w := f.readWants("scenario.json")
	w.raw("publish")
	w.raw("then")
	w.take("repeat", &repeat)
	w.take("variants", &variants)
	w.close()
	var invariant string
	f.expect.take("invariant", &invariant)
	for name, signal := range map[string]syscall.Signal{"SIGTERM": syscall.SIGTERM, "kill -9": syscall.SIGKILL} {
		done, began := 0, time.Now()
		for ; done < repeat && time.Since(began) < budget; done++ {
			if err := acknowledgeOnce(ctx, o, f, signal); err != nil {
				return fmt.Errorf("%s, run %d: %w", name, done+1, err)
			}
		}
		if done < repeat {
			f.report.leave(name, fmt.Sprintf("%d of %d runs in the time there is", done, repeat))
		}
	}
	for _, v := range variants {
		switch v {
		case "kafka bus":
			f.report.leave(v, "it is not in this version")
		case "memory bus":
			f.report.leave(v, "it keeps nothing, and says so")
		}
	}
	return nil
}

// acknowledgeOnce plays one run up to the acknowledged decision, and ends the
// node by a signal.
func acknowledgeOnce(ctx context.Context, o Options, f *folder, signal syscall.Signal) error {
	stubs, turns := usualTurns()
	p, err := openPlay(ctx, o, f, stubs, turns...)
	if err != nil {
		return err
	}
	defer p.close()
	ctx = p.begin(ctx)
	r := p.runs[0]
	if err := p.askProtected(ctx, r); err != nil {
		return err
	}
	if _, err := p.decide(ctx, r, "", r.fill([]byte(`{"requestId":"$r","decision":"approve"}`))); err != nil {
		return err
	}
	if err := p.stop(signal); err != nil {
		return err
	}
	s, err := p.node.tell(ctx)
	if err != nil {
		return err
	}
	s.checkAlways(f.report)
	accepted := r.replies[0].Accepted
	stored := slices.ContainsFunc(s.requests(), func(q *request) bool {
		return q.RequestID == r.vars["r"] && (!accepted || q.End != nil && q.End.Verdict == events.VerdictApprove)
	})
	f.report.check("acknowledged => stored", stored, "the accepted decision, or its request, is not in the log")
	for _, e := range r.first.events() {
		b, err := json.Marshal(e)
		if err != nil {
			return err
		}
		f.report.check("what clients saw is stored", s.holds(e), "%s", shortly(string(b)))
	}
	return nil
}

// judgeResultBytes judges what becomes of a result that is no text: of a case
// about proxies, the part that is about our own tools.
func judgeResultBytes(ctx context.Context, o Options, f *folder) error {
	if !f.has("result.bin") {
		f.report.leave("the MCP gateway is not in this version", "")
		f.expect = nil
		return nil
	}
	f.expect.refuse("answers", "the MCP gateway is not in this version")
	e, err := showApproval(ctx, o, f, shownCall{ID: "c1", Tool: "Bash", Arguments: `{"command":"cat"}`})
	if err != nil {
		return err
	}
	var valid bool
	if f.expect.take("sse_valid_utf8", &valid) {
		same(f.report, "sse_valid_utf8", utf8.Valid(e.raw), valid)
	}
	all := e.story.calls()
	var n int
	if f.expect.take("raw_length", &n) && len(all) == 1 && all[0].Result != nil {
		stored := e.story.text(all[0].Result.Result)
		same(f.report, "raw_length", len(stored), n)
		f.report.check("the stored result", stored == string(f.read("result.bin")), "it is not result.bin to the byte")
	}
	return nil
}
