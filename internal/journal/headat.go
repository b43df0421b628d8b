package journal

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/ledger"
)

// LogID names a journal: the RFC 6962 leaf hash of its first record, in
// lower-case hex; "" where it is empty. Two journals that began apart differ.
func (j *Journal) LogID(ctx context.Context) (string, error) {
	leaf, err := j.Leaf(ctx, 1)
	if errors.Is(err, ErrNotFound) {
		return "", nil
	}
	return leaf, err
}

// Leaf returns the RFC 6962 leaf hash of a row's record, in lower-case hex, or
// ErrNotFound.
func (j *Journal) Leaf(ctx context.Context, row int64) (string, error) {
	var leaf []byte
	err := j.db.Read.QueryRowContext(ctx, `SELECT leaf FROM records WHERE row = ?`, row).Scan(&leaf)
	if errors.Is(err, sql.ErrNoRows) {
		return "", fmt.Errorf("row %d: %w", row, ErrNotFound)
	}
	if err != nil {
		return "", fmt.Errorf("read the journal: %w", err)
	}
	return hex.EncodeToString(leaf), nil
}

// HeadAt returns where the journal ended after a row: the head that whoever
// noted one then has. It reads and verifies the records since the stored
// frontier before that row. ErrNotFound where the journal ends before it.
func (j *Journal) HeadAt(ctx context.Context, row int64) (_ Head, err error) {
	tx, err := j.db.Read.BeginTx(ctx, &sql.TxOptions{ReadOnly: j.db.Read != j.db.Write})
	if err != nil {
		return Head{}, err
	}
	defer func() { err = errors.Join(err, tx.Rollback()) }()
	end, err := readTree(ctx, tx)
	if err != nil {
		return Head{}, err
	}
	if row < 0 || row > end.row {
		return Head{}, fmt.Errorf("the head after row %d, of %d: %w", row, end.row, ErrNotFound)
	}
	from := &tree{}
	if err := tx.QueryRowContext(ctx, `SELECT coalesce(max(row), 0) FROM frontiers WHERE row <= ?`, row).Scan(&from.row); err != nil {
		return Head{}, err
	}
	if from.edges, err = snapshotAt(ctx, tx, from.row); err != nil {
		return Head{}, err
	}
	v := newVerifier(from, nil)
	if err := v.read(ctx, tx, row); err != nil {
		return Head{}, damage(err, fmt.Sprintf("reading after row %d", v.row))
	}
	return v.head(), nil
}

// Equal reports whether two heads end at the same place with the same trees.
func (h Head) Equal(o Head) bool {
	if h.Row != o.Row || len(h.Partitions) != len(o.Partitions) {
		return false
	}
	for i, p := range h.Partitions {
		if q := o.Partitions[i]; p.Partition != q.Partition || p.Size != q.Size || p.Root != q.Root {
			return false
		}
	}
	return true
}

// rootOf reads a root in lower-case hex.
func rootOf(text string) (root ledger.Hash, err error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(root) || hex.EncodeToString(b) != text {
		return root, fmt.Errorf("%.80q is not a hash: %d lower-case hex digits are", text, 2*len(root))
	}
	return ledger.Hash(b), nil
}
