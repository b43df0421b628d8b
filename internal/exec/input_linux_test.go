package exec_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

// The input is whole before the command runs, and stays as it is: whatever
// becomes of us meanwhile, the command cannot take a part of it for all.
func TestInputIsWholeFromTheStart(t *testing.T) {
	c := shell(t, `stat -L -c %s /dev/stdin; { echo more >>/dev/stdin; } 2>/dev/null || echo sealed; wc -c`)
	c.Stdin = bytes.Repeat([]byte("x"), 900<<10)
	require.Equal(t, "921600\nsealed\n921600\n", string(run(t, c).Stdout.Kept))
}
