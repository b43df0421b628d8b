package projections_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// everything writes a log with every type of event and a story of decisions.
func everything(t *testing.T) *pt.Log {
	t.Helper()
	l := pt.NewLog(t)
	ben := l.Person("ben", "Ben", "reviewer")
	run := l.Run("s1", "carla", "release it")
	l.Round("s1", run, "b1", 1, 3, "three calls")
	free := l.Propose("s1", run, "b1", 0, "Read", `{"path":"a"}`, events.EffectAllow)
	l.Start(free, nil, "")
	l.Result(free, events.StatusOK, events.CausePolicy, "text")
	call, q := l.Protected("s1", run, "b1", 1, "Write", `{"path":"a"}`)
	changed, decision := l.Modify(q, ben, `{"path":"b"}`)
	l.Start(call, &changed, decision)
	l.Result(call, events.StatusError, events.CauseHuman, "no room")
	late, q2 := l.Protected("s1", run, "b1", 2, "Bash", `{"command":"x"}`)
	l.End(q2, events.CauseCancelled)
	l.Decide(q2, ben, events.VerdictApprove, "")
	l.Result(late, events.StatusCancelled, events.CauseCancelled, "cancelled")
	for _, typ := range events.AllTypes() {
		l.Append(eventstest.Sample(typ))
	}
	l.AppendRaw("s1", []byte(`{"specversion":"1.0"}`))
	l.AppendRaw("s3", []byte("\x00 not JSON"))
	return l
}

// dump returns all rows of all tables, in order, and what the search indexes
// hold.
func dump(t *testing.T, path string) string {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	defer db.Close()
	var b strings.Builder
	for _, table := range tables(t, db) {
		rows, err := db.Write.QueryContext(t.Context(), "SELECT * FROM "+table)
		require.NoError(t, err)
		dumpRows(t, &b, table, rows)
	}
	dumpGrams(t, &b, db)
	return b.String()
}

// dumpGrams writes which grams a text has, in whatever segment that is noted.
func dumpGrams(t *testing.T, b *strings.Builder, db *sqlite.DB) {
	t.Helper()
	texts := projections.GramsByText(t, db)
	for _, id := range slices.Sorted(maps.Keys(texts)) {
		fmt.Fprintf(b, "grams of %d: %x\n", id, texts[id])
	}
}

// tables are the names of the tables whose rows follow from the log, but those
// that an index keeps of itself.
func tables(t *testing.T, db *sqlite.DB) (names []string) {
	t.Helper()
	rows, err := db.Write.QueryContext(t.Context(), `SELECT name FROM sqlite_schema WHERE type = 'table'
		AND name NOT LIKE 'sqlite_%' AND name NOT IN ('segments', 'grams') ORDER BY name`)
	require.NoError(t, err)
	defer rows.Close()
	for rows.Next() {
		var name string
		require.NoError(t, rows.Scan(&name))
		names = append(names, name)
	}
	require.NoError(t, rows.Err())
	require.Greater(t, len(names), 10)
	return names
}

func dumpRows(t *testing.T, b *strings.Builder, table string, rows *sql.Rows) {
	t.Helper()
	defer rows.Close()
	var lines []string
	columns, err := rows.Columns()
	require.NoError(t, err)
	for rows.Next() {
		values, dest := make([]any, len(columns)), make([]any, len(columns))
		for i := range values {
			dest[i] = &values[i]
		}
		require.NoError(t, rows.Scan(dest...))
		lines = append(lines, fmt.Sprintf("%s %v\n", table, values))
	}
	require.NoError(t, rows.Err())
	slices.Sort(lines)
	b.WriteString(strings.Join(lines, ""))
}

// Invariant 8: in one batch, in many, twice over, killed at any point, rebuilt:
// the same tables.
func TestTheSameLogMakesTheSameViews(t *testing.T) {
	l := everything(t)
	whole := filepath.Join(t.TempDir(), "views.db")
	v := open(t, whole, l)
	follow(t, v, l.Len())
	require.NoError(t, v.Close())
	want := dump(t, whole)
	require.Contains(t, want, "aside")

	t.Run("stopped and started at every record", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "views.db")
		for n := 1; n <= l.Len(); n++ {
			v, err := projections.Open(t.Context(), projections.Options{Path: path, Source: l.Cut(n)})
			require.NoError(t, err)
			follow(t, v, n)
			require.NoError(t, v.Close())
		}
		require.Equal(t, want, dump(t, path))
	})
	t.Run("built at once", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "views.db")
		v := open(t, path, l)
		require.NoError(t, v.Rebuild(t.Context()))
		require.NoError(t, v.Close())
		require.Equal(t, want, dump(t, path))
	})
	t.Run("followed, built, followed", func(t *testing.T) {
		for n := 1; n <= l.Len(); n += 5 {
			path := filepath.Join(t.TempDir(), "views.db")
			v := open(t, path, l.Cut(n))
			follow(t, v, n/2)
			require.NoError(t, v.Rebuild(t.Context()))
			require.NoError(t, v.Close())
			v = open(t, path, l)
			follow(t, v, l.Len())
			require.NoError(t, v.Close())
			require.Equal(t, want, dump(t, path))
		}
	})
	t.Run("a source that repeats what it gave", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "views.db")
		v := open(t, path, repeating{l})
		follow(t, v, l.Len())
		require.NoError(t, v.Close())
		require.Equal(t, want, dump(t, path))
	})
}

// repeating gives every batch from the beginning of the log.
type repeating struct{ *pt.Log }

func (r repeating) Read(ctx context.Context, after int64, limit int) ([]events.Entry, error) {
	if fresh, err := r.Log.Read(ctx, after, limit); len(fresh) == 0 || err != nil {
		return nil, err
	}
	return r.Log.Read(ctx, 0, int(after)+limit)
}

// Each of these files must be made anew, and end as the log has it.
func TestViewsThatWillNotDoAreMadeAnew(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string){
		"missing": func(t *testing.T, path string) { require.NoError(t, os.Remove(path)) },
		"empty":   func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, nil, 0o600)) },
		"not a database": func(t *testing.T, path string) {
			require.NoError(t, os.WriteFile(path, []byte(strings.Repeat("rubbish ", 4096)), 0o600))
		},
		"cut":                func(t *testing.T, path string) { require.NoError(t, os.Truncate(path, 4096)) },
		"of a newer version": func(t *testing.T, path string) { run(t, path, "PRAGMA user_version = 99") },
		"of another build":   func(t *testing.T, path string) { run(t, path, "UPDATE progress SET stamp = 'other'") },
		"of another log":     func(t *testing.T, path string) { run(t, path, "UPDATE progress SET leaf = zeroblob(32)") },
		"ahead of the log":   func(t *testing.T, path string) { run(t, path, "UPDATE progress SET row = row + 7") },
		"bad frontier":       func(t *testing.T, path string) { run(t, path, "UPDATE frontiers SET frontier = x'00'") },
	} {
		t.Run(name, func(t *testing.T) {
			l := everything(t)
			path := filepath.Join(t.TempDir(), "views.db")
			v := open(t, path, l)
			follow(t, v, l.Len())
			require.NoError(t, v.Close())
			want := dump(t, path)

			spoil(t, path)
			again := open(t, path, l)
			follow(t, again, l.Len())
			require.NoError(t, again.Close())
			require.Equal(t, want, dump(t, path))
		})
	}
}

func TestAFileOfAnotherProgramIsLeftAlone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "views.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	_, err = db.Write.ExecContext(t.Context(), "PRAGMA application_id = 7; CREATE TABLE precious (x); INSERT INTO precious VALUES (1)")
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = projections.Open(t.Context(), projections.Options{Path: path, Source: pt.NewLog(t)})
	require.ErrorIs(t, err, sqlite.ErrForeign)
	run(t, path, "UPDATE precious SET x = 2")
}

func run(t *testing.T, path, query string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{})
	require.NoError(t, err)
	_, err = db.Write.ExecContext(t.Context(), query)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

func TestAFailingLogIsReadOn(t *testing.T) {
	l := everything(t)
	n := l.Len()
	l.Fail(errors.New("the disk is away"))
	v, err := projections.Open(t.Context(), projections.Options{Source: l})
	require.NoError(t, err)
	go func() {
		defer l.Fail(nil)
		_, _ = v.History(t.Context(), all(projections.Filter{}), "", 1) // answers meanwhile
	}()
	follow(t, v, n)
	require.NoError(t, v.Close())
}

// A file that is damaged while it is open is made anew, and ends as the log
// has it.
func TestAFileThatIsDamagedMeanwhileIsMadeAnew(t *testing.T) {
	l := everything(t)
	n := l.Len()
	path := filepath.Join(t.TempDir(), "views.db")
	v := open(t, path, l)
	follow(t, v, n)
	run(t, path, `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET rootpage = 99999 WHERE name = 'calls'; PRAGMA schema_version = 99`)
	for i := range 20 {
		l.Run(fmt.Sprint("late-", i), "carla", "go on")
	}
	follow(t, v, l.Len())
	sessions, err := v.Sessions(t.Context(), projections.Everything(), "", 100)
	require.NoError(t, err)
	require.Equal(t, "late-19", sessions.Items[0].ID)
	require.Equal(t, "s1", sessions.Items[len(sessions.Items)-1].ID)
	page, err := v.Timeline(t.Context(), "s1", "", 100)
	require.NoError(t, err)
	require.NotEmpty(t, page.Items)
	require.NoError(t, v.Close())
	require.Contains(t, dump(t, path), "late-19")
}
