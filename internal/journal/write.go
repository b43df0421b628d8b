package journal

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/sqlite"
	"github.com/countersign-dev/countersign/ledger"
)

const (
	// snapshotRows is how many rows lie between two snapshots in frontiers.
	snapshotRows = 4096
	// stayRows is after how many rows sessions get new numbers.
	stayRows = 16384
)

// errClash says that an entry's id is taken by other bytes, when its append may
// have written entries before it.
var errClash = errors.New("an id is taken by other bytes")

// errTaken says that an entry's id is taken, and that nothing was changed.
var errTaken = errors.New("an id is taken")

const (
	insertRecord = `INSERT OR FAIL INTO records (partition, id, session, payloads, leaf, record) VALUES (?, ?, ?, ?, ?, ?)`
	insertBytes  = `INSERT OR FAIL INTO payloads (place, commitment, salt, bytes) VALUES (?, ?, ?, ?)`
	upsertHead   = `INSERT INTO heads (partition, log_time, frontier) VALUES (?, ?, ?)
		ON CONFLICT (partition) DO UPDATE SET log_time = excluded.log_time, frontier = excluded.frontier`
	insertSnapshot = `INSERT INTO frontiers (row, partition, log_time, frontier) VALUES (?, ?, ?, ?)`
	findRecord     = `SELECT r.row, r.record, s.name FROM records r JOIN sessions s ON s.no = r.session WHERE r.partition = ? AND r.id = ?`
	insertStay     = `INSERT INTO sessions (no, name) VALUES (?, ?)`
)

// writer puts batches into the database. All of it belongs to the goroutine of
// Run.
type writer struct {
	db    *sqlite.DB
	clock clock
	tree  *tree            // as committed
	stays map[string]int64 // the numbers that sessions have now, those of the transaction under way included
}

// write stores a batch in one transaction, and sets stored or err of each
// request. On an error nothing is stored. An append is first taken at its word
// that its ids are new; when one is taken by other bytes, all is undone and
// written again with a look before each append, so that the others' appends
// are not harmed.
func (w *writer) write(batch []*request) error {
	err := w.transact(batch, w.put)
	if errors.Is(err, errClash) {
		err = w.transact(batch, w.putChecked)
	}
	return err
}

type putFunc func(*sqlite.Conn, *draft, *request) error

func (w *writer) transact(batch []*request, put putFunc) error {
	d := w.tree.edit()
	d.now = w.clock.now()
	err := w.db.Raw(context.Background(), func(c *sqlite.Conn) error {
		if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := w.fill(c, d, batch, put)
		if err == nil {
			err = c.Exec("COMMIT")
		}
		if err != nil && c.InTx() {
			err = errors.Join(err, c.Exec("ROLLBACK"))
		}
		return err
	})
	if err != nil {
		clear(w.stays) // some may have been rolled back
		return err
	}
	w.tree = &d.tree
	return nil
}

// fill is what stands between BEGIN and COMMIT.
func (w *writer) fill(c *sqlite.Conn, d *draft, batch []*request, put putFunc) error {
	for _, r := range batch {
		if err := put(c, d, r); err != nil {
			return err
		}
	}
	for partition, e := range d.mine {
		if err := saveEdge(c, e, upsertHead, int64(partition)); err != nil {
			return err
		}
	}
	if d.row-d.snapped < snapshotRows {
		return nil
	}
	d.snapped = d.row
	for partition, e := range d.edges {
		if err := saveEdge(c, e, insertSnapshot, d.row, int64(partition)); err != nil {
			return err
		}
	}
	return nil
}

func saveEdge(c *sqlite.Conn, e *edge, query string, key ...any) error {
	b, err := e.frontier.MarshalBinary()
	if err != nil {
		return err
	}
	return c.Exec(query, append(key, e.logTime, b)...)
}

// put stores the entries of one append.
func (w *writer) put(c *sqlite.Conn, d *draft, r *request) error {
	r.err = nil
	for i := range r.entries {
		e := &r.entries[i]
		stored, err := w.insert(c, d, e)
		if errors.Is(err, errTaken) {
			stored, err = w.known(c, e, err)
		}
		if err != nil {
			return err
		}
		r.stored[i] = stored
	}
	return nil
}

// putChecked is put that looks first. An append with an id that is taken by
// other bytes gets its error and stores nothing.
func (w *writer) putChecked(c *sqlite.Conn, d *draft, r *request) error {
	mine := map[string]*prepared{}
	for i := range r.entries {
		e := &r.entries[i]
		key := fmt.Sprintf("%d/%s", e.Partition, e.ID)
		if first := mine[key]; first != nil && !sameBytes(e, first.KeyID, first.Signature, first.Envelope) {
			r.err = conflict(e)
			return nil
		}
		mine[key] = e
		if _, err := w.known(c, e, nil); errors.Is(err, errClash) {
			r.err = conflict(e)
			return nil
		} else if err != nil {
			return err
		}
	}
	return w.put(c, d, r)
}

func conflict(e *prepared) error {
	return fmt.Errorf("append %s %s to partition %d: %w", e.Type, e.ID, e.Partition, ErrConflict)
}

// insert stores one entry at the end of its partition. With errTaken, draft and
// transaction are as before; after another error the transaction is undone.
func (w *writer) insert(c *sqlite.Conn, d *draft, e *prepared) (Stored, error) {
	session, err := w.stay(c, d, e.Session)
	if err != nil {
		return Stored{}, err
	}
	edge := d.edge(e.Partition)
	record := recordAt(edge, d.now, e)
	b, err := events.EncodeRecord(record)
	if err != nil {
		return Stored{}, err
	}
	leaf := ledger.LeafHash(b)
	row, err := c.Insert(insertRecord, int64(e.Partition), e.id, session, int64(len(e.Payloads)), leaf[:], b)
	if sqlite.IsConstraint(err) {
		return Stored{}, errors.Join(errTaken, err)
	}
	if err == nil && row != d.row+1 {
		err = fmt.Errorf("the next row should be %d and is %d: somebody else writes to the journal", d.row+1, row)
	}
	if err != nil {
		return Stored{}, err
	}
	for i := range e.Payloads {
		if err := savePayload(c, row, i, e); err != nil {
			return Stored{}, err
		}
	}
	edge.frontier.Append(leaf)
	edge.logTime, d.row = record.LogTime, row
	record = ownBytes(record, b)
	if row%stayRows == 0 {
		clear(w.stays)
	}
	return Stored{Row: row, Record: record, Session: e.Session}, nil
}

// ownBytes returns a record that shares memory with its encoded form, and not
// with the caller of Append, who may use his again.
func ownBytes(r events.Record, encoded []byte) events.Record {
	r.Envelope = slices.Clip(encoded[len(encoded)-len(r.Envelope):])
	r.Signature = bytes.Clone(r.Signature)
	return r
}

// recordAt gives an entry its place. Log time never goes back within a
// partition, whatever the clock does.
func recordAt(edge *edge, now int64, e *prepared) events.Record {
	return events.Record{
		Partition: e.Partition,
		Offset:    edge.frontier.Size(),
		LogTime:   max(cmp.Or(e.LogTime, now), edge.logTime),
		KeyID:     e.KeyID,
		Signature: e.Signature,
		Envelope:  e.Envelope,
	}
}

func savePayload(c *sqlite.Conn, row int64, ordinal int, e *prepared) error {
	p := &e.Payloads[ordinal]
	b := p.Bytes
	if b == nil {
		b = []byte{} // nil would be stored as NULL
	}
	err := c.Exec(insertBytes, row*maxPayloads+int64(ordinal), e.commitments[ordinal], p.Salt[:], b)
	if err != nil {
		return fmt.Errorf("store payload %d of %s: %w", ordinal, e.ID, err)
	}
	return nil
}

// known returns the record that has the entry's id already, or errClash when
// its bytes are others. When there is none it returns missing.
func (w *writer) known(c *sqlite.Conn, e *prepared, missing error) (Stored, error) {
	row, err := c.QueryRow(findRecord, int64(e.Partition), e.id)
	if err != nil || row == nil {
		return Stored{}, errors.Join(err, missing)
	}
	s, err := storedOf(row[0], row[1], row[2])
	if err != nil {
		return Stored{}, err
	}
	if !sameBytes(e, s.Record.KeyID, s.Record.Signature, s.Record.Envelope) {
		return Stored{}, errClash
	}
	s.Duplicate = true
	return s, nil
}

func sameBytes(e *prepared, keyID string, signature, envelope []byte) bool {
	return e.KeyID == keyID && bytes.Equal(e.Signature, signature) && bytes.Equal(e.Envelope, envelope)
}

// stay returns the number that a session has now. When it has none the session
// gets the next, whether it had others before or not.
func (w *writer) stay(c *sqlite.Conn, d *draft, session string) (int64, error) {
	if no, ok := w.stays[session]; ok {
		return no, nil
	}
	no := d.stays + 1
	if err := c.Exec(insertStay, no, pack(session)); err != nil {
		return 0, fmt.Errorf("number session %.80q: %w", session, err)
	}
	d.stays, w.stays[session] = no, no
	return no, nil
}
