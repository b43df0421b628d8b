// Command agentd runs agents behind Countersign's gate: loop, gate, log, API
// and console in one process. See agentd help.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/countersign-dev/countersign/internal/isolate"
)

func main() {
	isolate.Stage() // does not return where this is a tool's init
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
