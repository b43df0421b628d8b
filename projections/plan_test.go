package projections

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What finds one thing among many by its name or place does not read all of them.
func TestOneThingIsFoundByAnIndex(t *testing.T) {
	db, err := openFile(t.Context(), "")
	require.NoError(t, err)
	defer db.Close()
	for query, args := range map[string][]any{
		selectAside + whereAside:                            {0, 1},
		selectRequests + " WHERE q.id = ? ORDER BY q.row":   {"q"},
		selectDecisions + " WHERE request = ? ORDER BY row": {"q"},
		"SELECT session, doc FROM runs WHERE session = ?":   {"s"},
		"SELECT name, event FROM people WHERE person = ?":   {"p"},
		selectDeclined("calls_declined") + " AND c.asker = ? AND c.log_time >= ? ORDER BY c.log_time DESC, c.part DESC, c.off DESC LIMIT 3":           {"t", "a", "p", 0},
		selectDeclined("calls_declined_session") + " AND c.session = ? AND c.log_time >= ? ORDER BY c.log_time DESC, c.part DESC, c.off DESC LIMIT 3": {"t", "a", "s", 0},
		selectViolations + " WHERE v.session = ? ORDER BY v.part":                                                                                     {"s"},
	} {
		steps, err := list(context.Background(), db.Read, func(scan func(...any) error) (step string, err error) {
			var id, parent, unused int
			return step, scan(&id, &parent, &unused, &step)
		}, "EXPLAIN QUERY PLAN "+query, args...)
		require.NoError(t, err)
		require.NotEmpty(t, steps)
		for _, step := range steps {
			require.NotContains(t, step, "SCAN", "%s: %v", query, steps)
			if strings.Contains(query, declined) {
				require.NotContains(t, step, "TEMP B-TREE", "%s: %v", query, steps)
			}
		}
	}
}
