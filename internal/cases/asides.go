package cases

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The steps that look at the node from the side.

// stepNotExecuted watches for a while that a call is not run.
func (p *play) stepNotExecuted(ctx context.Context, r *run, w *wants) error {
	var call string
	var ms int
	w.take("call", &call)
	w.take("for_ms", &ms)
	if !waited(ctx.Done(), time.Duration(ms)*time.Millisecond) {
		return context.Cause(ctx)
	}
	s, err := p.node.tell(ctx)
	if err != nil {
		return err
	}
	s = s.only(r.conversations())
	p.f.report.check("assert_not_executed", s.count(call) == 0, "%s was run", call)
	return nil
}

var requestLink = regexp.MustCompile(`/requests/([0-9a-f-]{36})`)

// pending reads the inbox, and tells which requests wait there.
func (p *play) pending(ctx context.Context) ([]string, error) {
	res, err := p.node.do(ctx, http.MethodGet, "/inbox/queue", reviewerToken, nil)
	if err != nil {
		return nil, err
	}
	if res.status != http.StatusOK {
		return nil, fmt.Errorf("the inbox was answered with %d", res.status)
	}
	var ids []string
	for _, m := range requestLink.FindAllStringSubmatch(string(res.body), -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids, nil
}

// stepPending judges what waits in the inbox: a number, or the requests.
func (p *play) stepPending(ctx context.Context, r *run, w *wants) error {
	for _, name := range []string{"expect", "expect_count", "count"} {
		if !w.has(name) {
			continue
		}
		raw := w.raw(name)
		if err := p.judgePending(ctx, r, raw); err != nil {
			return err
		}
	}
	save := map[string]string{}
	if !w.take("save", &save) {
		return nil
	}
	waiting, err := p.pending(ctx)
	if err != nil || len(waiting) == 0 {
		return errors.Join(err, errNothingWaits)
	}
	for variable := range save {
		r.vars[variable] = waiting[0]
	}
	return nil
}

var errNothingWaits = errors.New("nothing waits in the inbox")

// judgePending waits for the inbox to say what is expected: it follows the log.
func (p *play) judgePending(ctx context.Context, r *run, raw jsontext.Value) error {
	want := -1
	var ids []string
	if json.Unmarshal(raw, &want) != nil {
		if json.Unmarshal(r.fill(raw), &ids) != nil {
			return notUnderstood("the expected list %s", raw)
		}
		want = len(ids)
	}
	var got []string
	var err error
	for deadline := time.Now().Add(2 * time.Second); time.Now().Before(deadline); {
		if got, err = p.pending(ctx); err != nil {
			return err
		}
		if len(got) == want && !slices.ContainsFunc(ids, func(id string) bool { return !slices.Contains(got, id) }) {
			p.f.report.check("list_pending", true, "")
			return nil
		}
		if !waited(ctx.Done(), again) {
			return context.Cause(ctx)
		}
	}
	p.f.report.check("list_pending", false, "got %s, want %s", strings.Join(got, ", "), raw)
	return nil
}

// stepGoroutines compares the node's goroutines with those before the first
// question. What ends is given ten seconds, on a machine that is busy.
func (p *play) stepGoroutines(ctx context.Context, _ *run, w *wants) error {
	p.counted = true
	for deadline := time.Now().Add(10 * time.Second); ; {
		n, err := p.node.question(askGoroutines)
		if err != nil {
			return err
		}
		p.grown = n - p.baseline
		if p.grown <= 0 || time.Now().After(deadline) {
			return nil
		}
		if !waited(ctx.Done(), again) {
			return context.Cause(ctx)
		}
	}
}

// stepMutate leaves the call alone: what would change it is in the node's
// memory, and what may run is what the log holds.
func (p *play) stepMutate(_ context.Context, _ *run, w *wants) error {
	for _, name := range w.names {
		w.raw(name)
	}
	p.f.report.leave("mutate_pending_call", "nothing outside the process reaches the call; that it ran as approved is judged")
	return nil
}

// settledGoroutines is how many goroutines the node has once it has started
// them all: as many for a while.
func (p *play) settledGoroutines(ctx context.Context) (int, error) {
	last, same := -1, 0
	for same < 10 {
		n, err := p.node.question(askGoroutines)
		if err != nil {
			return 0, err
		}
		if n != last {
			last, same = n, 0
		}
		same++
		if !waited(ctx.Done(), again) {
			return 0, context.Cause(ctx)
		}
	}
	return last, nil
}
