// Run prints the bench report: make bench.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime/pprof"
	"strings"
	"syscall"

	"github.com/countersign-dev/countersign/internal/bench"
	"github.com/countersign-dev/countersign/internal/isolate"
)

func main() {
	isolate.Stage() // part isolation starts this program as a tool's init
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "bench: %v\n", err)
		os.Exit(1)
	}
}

// run is main with its world as arguments.
func run(ctx context.Context, args []string, out io.Writer) error {
	o := bench.Options{Out: out}
	only := ""
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.StringVar(&only, "only", "", "comma-separated `parts`: "+bench.PartNames())
	fs.IntVar(&o.Rounds, "rounds", 5, "how often ours and the limit take turns")
	fs.IntVar(&o.Events, "events", 0, "size of the logs that agentd starts with and that views are made of (default 1000000 and 200000)")
	fs.BoolVar(&o.Views, "views", false, "wait until the views are built, which takes minutes")
	fs.IntVar(&o.Pending, "pending", 10_000, "how many calls wait for people")
	fs.StringVar(&o.Agentd, "agentd", "", "the `program`; built if not given")
	fs.StringVar(&o.Dir, "dir", "", "`folder` on the disk to measure; the system's temporary one if not given")
	profile := fs.String("cpuprofile", "", "write a CPU profile of this process to a `file`")
	if err := fs.Parse(args); err != nil {
		return err
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close()
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if only != "" {
		o.Only = strings.Split(only, ",")
	}
	return bench.Run(ctx, o)
}
