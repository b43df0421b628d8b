package cases

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// Options say how cases are run.
type Options struct {
	// Timeout bounds each case; 0 means 30 s, 60 s for what takes many steps.
	Timeout time.Duration
	// Parallel is how many run at a time; 0 means 2.
	Parallel int
	// Self is the program and arguments that serve as a [Node]: for the kinds
	// that need a process of their own.
	Self []string
	// Module is the folder of the module's source, for the kind build; "" skips
	// that.
	Module string
	Logger *slog.Logger // nil: none
}

// judge judges a case of one kind.
type judge func(ctx context.Context, o Options, f *folder) error

// judges is the table from kind to judge.
func judges() map[string]judge {
	return map[string]judge{
		"stream":   judgeStream,
		"request":  judgeRequest,
		"policy":   judgePolicy,
		"render":   judgeRender,
		"load":     judgeLoad,
		"build":    judgeBuild,
		"jsonrpc":  judgeResultBytes,
		"steps":    judgeSteps,
		"http":     judgeHTTP,
		"events":   judgeEvents,
		"scenario": judgeScenario,
		"query":    judgeQuery,
		"metrics":  judgeMetrics,
	}
}

// Run judges all cases of a folder, and yields their results in the order of
// the folders' names.
func Run(ctx context.Context, dir string, o Options) (iter.Seq[Result], error) {
	dirs, err := listFolders(dir)
	if err != nil {
		return nil, err
	}
	o.Parallel = cmp.Or(o.Parallel, 2)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	return func(yield func(Result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		results := make([]chan Result, len(dirs))
		var group errgroup.Group
		group.SetLimit(o.Parallel)
		for i := range results {
			results[i] = make(chan Result, 1)
		}
		go func() {
			for i := range dirs {
				group.Go(func() error { results[i] <- judgeFolder(ctx, o, dirs[i]); return nil })
			}
		}()
		for i := range results {
			if !yield(<-results[i]) {
				return
			}
		}
	}, nil
}

// judgeFolder judges one case. A judge that panics is a failure, never a pass.
func judgeFolder(ctx context.Context, o Options, dir string) (result Result) {
	f := openFolder(dir)
	defer func() {
		if p := recover(); p != nil {
			f.report.fail("the runner panicked: %v", p)
			result = f.report.result(f.number)
		}
	}()
	ctx, cancel := context.WithTimeoutCause(ctx, o.timeout(f), fmt.Errorf("the case took longer than %v", o.timeout(f)))
	defer cancel()
	f.judge(ctx, o)
	if f.expect != nil {
		f.expect.close()
	}
	return f.report.result(f.number)
}

func (o Options) timeout(f *folder) time.Duration {
	usual := 30 * time.Second
	if slices.Contains([]string{"load", "build", "metrics", "query"}, f.kind) {
		usual = time.Minute
	}
	return cmp.Or(o.Timeout, usual)
}

// judge runs the judges of the case's kind; "render+policy" has two.
func (f *folder) judge(ctx context.Context, o Options) {
	if f.kind == "" {
		return
	}
	if later(f.area) && (f.kind != "jsonrpc" || !f.has("result.bin")) {
		f.report.leave("area "+f.area+" is not in this version", "")
		f.expect = nil
		return
	}
	for kind := range strings.SplitSeq(f.kind, "+") {
		j, ok := judges()[kind]
		if !ok {
			f.report.leave("kind "+kind+" is not judged", "")
			continue
		}
		err := j(ctx, o, f)
		switch {
		case errors.Is(err, errNotUnderstood), errors.Is(err, errNothingToShow):
			f.report.leave(err.Error(), "")
			f.report.judged = nil // half of a case is not a judgement on it
			f.expect = nil
			return
		case err != nil && ctx.Err() != nil:
			f.report.fail("%v (%v)", context.Cause(ctx), err)
		case err != nil:
			f.report.fail("%v", err)
		}
	}
}
