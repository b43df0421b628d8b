package journal

import (
	"database/sql"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// otherProgram opens the file as a program that knows nothing of ours would.
func otherProgram(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Synchronous: sqlite.Normal})
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db.Write
}

// tamper changes a journal behind its back.
func tamper(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Synchronous: sqlite.Normal})
	require.NoError(t, err)
	for _, s := range statements {
		_, err := db.Write.ExecContext(t.Context(), s)
		require.NoError(t, err, s)
	}
	require.NoError(t, db.Close())
}

func TestTriggersRefuseEveryChange(t *testing.T) {
	j, _ := running(t, Options{Path: t.TempDir() + "/journal.db"})
	a, b := entry("one", "first"), entry("one", "second")
	a.ID, b.ID = "a", "b" // as text, to be written below
	appended(t, j, Begins, a, b)
	db := otherProgram(t, j.o.Path)
	const columns = `(row, partition, id, session, payloads, leaf, record)`
	for _, statement := range []string{
		`UPDATE records SET record = x'00'`,
		`UPDATE records SET session = 9 WHERE row = 2`,
		`UPDATE OR IGNORE records SET row = 7 WHERE row = 2`,
		`DELETE FROM records`,
		`DELETE FROM records WHERE row = 2`,
		`INSERT OR REPLACE INTO records ` + columns + ` VALUES (2, 0, 'c', 1, 0, x'00', x'00')`,
		`REPLACE INTO records ` + columns + ` VALUES (1, 0, 'c', 1, 0, x'00', x'00')`,
		`INSERT OR REPLACE INTO records ` + columns + ` VALUES (3, 0, 'b', 1, 0, x'00', x'00')`,
		`INSERT INTO records ` + columns + ` VALUES (2, 0, 'c', 1, 0, x'00', x'00')
			ON CONFLICT (row) DO UPDATE SET record = excluded.record`,
		`INSERT INTO records ` + columns + ` VALUES (3, 0, 'b', 1, 0, x'00', x'00')
			ON CONFLICT (partition, id) DO UPDATE SET record = excluded.record`,
		`UPDATE payloads SET bytes = x'00'`,
		`DELETE FROM payloads`,
		`INSERT OR REPLACE INTO payloads (place, commitment, salt, bytes) VALUES (256, x'00', x'00', x'00')`,
	} {
		t.Run(statement, func(t *testing.T) {
			_, err := db.ExecContext(t.Context(), statement)
			require.ErrorContains(t, err, "append-only")
		})
	}
	verified(t, j)
	require.EqualValues(t, 3, appended(t, j, Begins, entry("one"))[0].Row)
}

// VerifyAll finds what was changed, wherever it is, and names the row.
func TestVerifyAllFindsTampering(t *testing.T) {
	const update = `DROP TRIGGER records_no_update; UPDATE records SET `
	const remove = `DROP TRIGGER records_no_delete; DELETE FROM records WHERE `
	const restore = `CREATE TRIGGER records_no_update BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only: no UPDATE'); END`
	const restoreDelete = `CREATE TRIGGER records_no_delete BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only: no DELETE'); END`
	for name, test := range map[string]struct{ change, want string }{
		"a record":             {update + `record = CAST(replace(record, x'616161', x'616261') AS BLOB) WHERE row = 3; ` + restore, "row 3"},
		"a leaf":               {update + `leaf = zeroblob(32) WHERE row = 4; ` + restore, "row 4"},
		"an id":                {update + `id = 'x' WHERE row = 5; ` + restore, "row 5"},
		"a session":            {update + `session = 2 WHERE row = 1; ` + restore, "row 1"},
		"a session not there":  {update + `session = 99 WHERE row = 1; ` + restore, "row 1"},
		"a partition":          {update + `partition = 1 WHERE row = 2; ` + restore, "row 2"},
		"a row in the middle":  {remove + `row = 6; ` + restoreDelete, "row 6"},
		"the last rows":        {remove + `row > 8; ` + restoreDelete, "row 8"},
		"all rows":             {remove + `1; ` + restoreDelete, "row 0"},
		"a trigger":            {`DROP TRIGGER records_no_update`, "records_no_update"},
		"a trigger's text":     {`DROP TRIGGER records_no_update; CREATE TRIGGER records_no_update BEFORE UPDATE ON heads BEGIN SELECT 1; END`, "records_no_update"},
		"a trigger more":       {`CREATE TRIGGER mine AFTER INSERT ON records BEGIN DELETE FROM payloads; END`, "objects"},
		"a head":               {`UPDATE heads SET log_time = log_time + 1`, "stored head"},
		"a head too many":      {`INSERT INTO heads SELECT 9, log_time, frontier FROM heads`, "partitions"},
		"a frontier":           {`UPDATE heads SET frontier = zeroblob(8)`, "stored head"},
		"a malformed frontier": {`UPDATE heads SET frontier = x'01'`, "not a frontier"},
		"a payload": {`DROP TRIGGER payloads_no_update; UPDATE payloads SET salt = zeroblob(32); CREATE TRIGGER payloads_no_update BEFORE UPDATE ON payloads
BEGIN SELECT RAISE(ABORT, 'payloads are append-only: no UPDATE'); END`, "row 2"},
		"a payload more": {`INSERT INTO payloads VALUES (3 * 256, x'00', zeroblob(32), x'00')`, "row 3"},
	} {
		t.Run(name, func(t *testing.T) {
			j, stop := running(t, Options{Path: t.TempDir() + "/journal.db", Names: namesOf})
			appended(t, j, Begins, entry("one"), entry("two", "payload"))
			appended(t, j, Begins, entries(8, "one")...)
			verified(t, j)
			tamper(t, j.o.Path, test.change)
			err := j.VerifyAll(t.Context(), func(int64) {})
			require.ErrorIs(t, err, ErrDamaged)
			require.ErrorContains(t, err, test.want)
			stop()
		})
	}
}
