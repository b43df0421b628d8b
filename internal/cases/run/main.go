// Run judges the cases of a folder, a line a case: make cases DIR=folder.
package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/countersign-dev/countersign/internal/cases"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	os.Exit(run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is main with its world as arguments; 1 where a case failed, 2 where none
// could be run.
func run(ctx context.Context, args []string, in io.Reader, out, errs io.Writer) int {
	if len(args) == 1 && args[0] == cases.NodeArgument {
		if err := cases.Node(ctx, in, out); err != nil {
			fmt.Fprintf(errs, "node: %v\n", err)
			return 1
		}
		return 0
	}
	if len(args) != 1 {
		fmt.Fprintln(errs, "run: say where the cases are: make cases DIR=folder")
		return 2
	}
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintf(errs, "run: %v\n", err)
		return 2
	}
	results, err := cases.Run(ctx, args[0], cases.Options{Self: []string{self, cases.NodeArgument}, Module: "."})
	if err != nil {
		fmt.Fprintf(errs, "run: %v\n", err)
		return 2
	}
	count := map[cases.Outcome]int{}
	for r := range results {
		fmt.Fprintln(out, r)
		count[r.Outcome]++
	}
	fmt.Fprintf(out, "%d passed, %d failed, %d skipped\n", count[cases.Pass], count[cases.Fail], count[cases.Skip])
	if count[cases.Fail] > 0 {
		return 1
	}
	return 0
}
