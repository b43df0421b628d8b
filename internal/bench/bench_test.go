package bench

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestSummary(t *testing.T) {
	took := make([]time.Duration, 0, 200)
	for i := range 200 {
		took = append(took, time.Duration(200-i)*time.Millisecond)
	}
	f := summarize(took)
	require.Equal(t, 101*time.Millisecond, f.p50)
	require.Equal(t, 199*time.Millisecond, f.p99)
	require.Equal(t, 3, median([]int{9, 3, 1}, func(n int) int { return n }))
}

func TestTheReportSaysWhatIsMet(t *testing.T) {
	limit := figures{p50: 2 * time.Millisecond, p99: 4 * time.Millisecond}
	row := func(p50 time.Duration) Row {
		return latency("it", 1.5, []pair{{figures{p50: p50, p99: 4 * time.Millisecond}, limit}}, "a note")
	}
	for _, test := range []struct {
		name string
		row  Row
		want []string
	}{
		{"below", row(time.Millisecond), []string{"p50 1.00 ms", "p50 2.00 ms", "0.50", "1.00", "≤ 1.5", " met", "it: a note"}},
		{"above", row(4 * time.Millisecond), []string{"2.00", "not met"}},
		{"no goal", Row{What: "it", Ours: "12 MB"}, []string{"12 MB"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out strings.Builder
			require.NoError(t, write(&out, []Row{test.row}))
			for _, want := range test.want {
				require.Contains(t, out.String(), want)
			}
			require.Equal(t, test.row.Goal != "", strings.Contains(out.String(), "met"))
		})
	}
}

// What is measured must be what is meant: a decision starts its tool, and a
// turn of free calls is durable in two steps, the starts with the calls.
func TestTheHouseDoesWhatIsMeasured(t *testing.T) {
	dir := t.TempDir()
	raw, err := newRawFile(filepath.Join(dir, "raw"))
	require.NoError(t, err)
	defer raw.f.Close()
	require.NoError(t, within(t.Context(), dir, func(ctx context.Context, h *house) error {
		took, err := h.decision(ctx)
		require.NoError(t, err)
		require.Positive(t, took)
		one, err := h.freeTurn(ctx, 1)
		require.NoError(t, err)
		require.Equal(t, 2, one.commits)
		eight, err := h.freeTurn(ctx, 8)
		require.NoError(t, err)
		require.Less(t, eight.commits, 10, "its calls share commits")
		require.Positive(t, eight.took)
		return nil
	}))
}
