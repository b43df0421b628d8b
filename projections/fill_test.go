package projections

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// What is cut off between two segments of the search index is not committed: its
// position would be behind texts that are in no segment.
func TestAFillThatIsCutOffCommitsNoPartOfASegment(t *testing.T) {
	for name, c := range map[string]struct {
		cut  bool
		want int
	}{"whole": {false, 1}, "cut off": {true, 0}} {
		t.Run(name, func(t *testing.T) {
			db, err := openFile(t.Context(), "")
			require.NoError(t, err)
			defer db.Close()
			f, err := newFollower(t.Context(), db, nil)
			require.NoError(t, err)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ready, written := make(chan *changes), make(chan struct{})
			go func() {
				defer close(ready)
				b := &batch{changes: &changes{delta: f.audit.book.begin()}, audit: f.audit}
				b.exec("INSERT INTO uncounted (row, reason) VALUES (1, 'late')")
				ready <- b.changes
				<-written
			}()
			err = db.Raw(t.Context(), func(conn *sqlite.Conn) error {
				_, err := f.writeAll(ctx, conn, ready, func(uint64) {
					if c.cut {
						cancel()
					}
					close(written)
				})
				return err
			})
			require.Equal(t, c.cut, err != nil, "%v", err)
			var n int
			require.NoError(t, db.Read.QueryRowContext(t.Context(), "SELECT count(*) FROM uncounted").Scan(&n))
			require.Equal(t, c.want, n)
		})
	}
}
