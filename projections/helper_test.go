package projections_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// open opens views over a log at a path.
func open(t *testing.T, path string, source projections.Source) *projections.Views {
	t.Helper()
	v, err := projections.Open(t.Context(), projections.Options{Path: path, Source: source})
	require.NoError(t, err)
	t.Cleanup(func() { _ = v.Close() })
	return v
}

// follow runs views until they hold n records, and stops them.
func follow(t testing.TB, v *projections.Views, n int) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	done := make(chan error, 1)
	go func() { done <- v.Run(ctx) }()
	for {
		status, changed := v.Changed()
		if status.Records >= uint64(n) {
			break
		}
		select {
		case <-changed:
		case <-ctx.Done():
			t.Fatalf("views hold %d records, not %d", status.Records, n)
		}
	}
	cancel()
	require.NoError(t, <-done)
}

// viewsOf follows the whole of a log in a new file.
func viewsOf(t *testing.T, l *pt.Log) *projections.Views {
	t.Helper()
	v := open(t, filepath.Join(t.TempDir(), "views.db"), l)
	follow(t, v, l.Len())
	return v
}

// all is a filter of the reader who sees everything.
func all(f projections.Filter) projections.Filter {
	f.Reader = projections.Everything()
	return f
}
