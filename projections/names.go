package projections

import "context"

// Tools returns the names of tools that were asked for, in order, up to limit:
// what a history can be filtered by.
func (v *Views) Tools(ctx context.Context, limit int) ([]string, error) {
	return v.values(ctx, "tool", limit)
}

// Agents is Tools for the names of agents.
func (v *Views) Agents(ctx context.Context, limit int) ([]string, error) {
	return v.values(ctx, "agent", limit)
}

// Rules is Tools for the names of policy rules.
func (v *Views) Rules(ctx context.Context, limit int) ([]string, error) {
	return v.values(ctx, "rule", limit)
}

// values returns the values of an indexed column of calls by a loose scan: one
// step of the index a value, however many calls have it.
func (v *Views) values(ctx context.Context, column string, limit int) ([]string, error) {
	return list(ctx, v.db, one[string],
		`WITH RECURSIVE t(value) AS (
			SELECT min(`+column+`) FROM calls
			UNION ALL SELECT (SELECT min(`+column+`) FROM calls WHERE `+column+` > t.value) FROM t WHERE t.value IS NOT NULL
		) SELECT value FROM t WHERE value <> '' LIMIT ?`, limit)
}
