package cases

import (
	"context"
	"io"
)

// NodeArgument makes the program that runs cases serve as a [Node].
const NodeArgument = "node"

// Node serves.
func Node(ctx context.Context, in io.Reader, out io.Writer) error { return nil }

func judgeStreamPages(ctx context.Context, o Options, f *folder) error { return nil }
