package cases_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/countersign-dev/countersign/internal/cases"
)

// TestMain lets the test's own program serve as the node that it starts.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == cases.NodeArgument {
		os.Exit(serveNode())
	}
	os.Exit(m.Run())
}

func serveNode() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
	defer stop()
	if err := cases.Node(ctx, os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
