package journal

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/events"
)

// Payload returns the payload that an event carries and that opens the
// commitment (64 hex digits, as in events.Ref). It is ErrNotFound if the event
// is not there or never carried it, and ErrErased if the event is there and a
// payload of it is not. Bytes that do not open their commitment are
// ErrDamaged.
func (j *Journal) Payload(ctx context.Context, partition uint32, eventID, commitment string) (events.Payload, error) {
	if p, ok := j.recent.payload(partition, eventID, commitment); ok {
		return p, ctx.Err()
	}
	p, err := j.payload(ctx, partition, eventID, commitment)
	if err != nil {
		return events.Payload{}, fmt.Errorf("payload %.16s of event %.80q: %w", commitment, eventID, err)
	}
	return p, nil
}

func (j *Journal) payload(ctx context.Context, partition uint32, eventID, commitment string) (events.Payload, error) {
	want, err := hex.DecodeString(commitment)
	if err != nil {
		return events.Payload{}, ErrNotFound
	}
	var row int64
	var carried, left int
	const find = `SELECT row, payloads, (SELECT count(*) FROM payloads WHERE place >= row * 256 AND place < (row + 1) * 256)
		FROM records WHERE partition = ? AND id = ?`
	err = j.db.Read.QueryRowContext(ctx, find, partition, pack(eventID)).Scan(&row, &carried, &left)
	if errors.Is(err, sql.ErrNoRows) {
		return events.Payload{}, ErrNotFound
	}
	if err != nil {
		return events.Payload{}, err
	}
	var salt, b []byte
	const open = `SELECT salt, bytes FROM payloads WHERE place >= ? AND place < ? AND commitment = ?`
	err = j.db.Read.QueryRowContext(ctx, open, row*maxPayloads, (row+1)*maxPayloads, want).Scan(&salt, &b)
	switch {
	case errors.Is(err, sql.ErrNoRows) && left < carried:
		return events.Payload{}, ErrErased
	case errors.Is(err, sql.ErrNoRows):
		return events.Payload{}, ErrNotFound
	case err != nil:
		return events.Payload{}, err
	}
	return opened(row, commitment, salt, b)
}

// Payloads calls f with the payloads that the rows from first to last carry, in
// order, until f returns false: the row, the payload's ordinal in it, the
// commitment in hex, the bytes. What was erased, and bytes that do not open
// their commitment, are left out.
func (j *Journal) Payloads(ctx context.Context, first, last int64, f func(row int64, ordinal int, commitment string, b []byte) bool) (err error) {
	const find = `SELECT place, commitment, salt, bytes FROM payloads WHERE place >= ? AND place < ? ORDER BY place`
	rows, err := j.db.Read.QueryContext(ctx, find, first*maxPayloads, (last+1)*maxPayloads)
	if err != nil {
		return fmt.Errorf("read the payloads of rows %d to %d: %w", first, last, err)
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var place int64
		var commitment, salt, b []byte
		if err := rows.Scan(&place, &commitment, &salt, &b); err != nil {
			return fmt.Errorf("read the payloads of rows %d to %d: %w", first, last, err)
		}
		name := hex.EncodeToString(commitment)
		if _, err := opened(place/maxPayloads, name, salt, b); err != nil {
			continue
		}
		if !f(place/maxPayloads, int(place%maxPayloads), name, b) {
			return nil
		}
	}
	return rows.Err()
}

// opened checks stored bytes against their commitment.
func opened(row int64, commitment string, salt, b []byte) (events.Payload, error) {
	p := events.Payload{Bytes: b}
	if copy(p.Salt[:], salt) != len(p.Salt) || len(salt) != len(p.Salt) || events.Commitment(p.Salt, b) != commitment {
		return p, fmt.Errorf("%w: row %d: a payload does not open its commitment %s", ErrDamaged, row, commitment)
	}
	return p, nil
}
