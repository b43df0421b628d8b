package projections

import (
	"context"
	"fmt"

	"github.com/countersign-dev/countersign/events"
)

// payloadsAtOnce bounds the payloads of a batch, in bytes: it ends before the
// record that would go beyond, unless that is its first.
const payloadsAtOnce = 8 << 20

// payloadPlaces is how many places a row of the journal has for payloads.
const payloadPlaces = 256

// payload is what a record carries.
type payload struct {
	place      int64 // row * 256 + ordinal
	commitment string
	bytes      []byte
}

// payloads are those of a batch, by row.
type payloads map[int64][]payload

// carriedBy reads the payloads of entries. It returns of how many of the
// entries: fewer where they are large.
func carriedBy(ctx context.Context, source Source, entries []events.Entry) (payloads, int, error) {
	all, size, n := payloads{}, 0, len(entries)
	first, last := entries[0].Row, entries[n-1].Row
	err := source.Payloads(ctx, first, last, func(row int64, ordinal int, commitment string, b []byte) bool {
		if size += len(b); size > payloadsAtOnce && row > first {
			delete(all, row)
			last = row - 1
			return false
		}
		all[row] = append(all[row], payload{row*payloadPlaces + int64(ordinal), commitment, b})
		return true
	})
	if err != nil {
		return nil, 0, fmt.Errorf("%w: payloads of rows %d to %d: %w", errSource, first, last, err)
	}
	for n > 1 && entries[n-1].Row > last {
		n--
	}
	return all, n, nil
}

// carried finds a text among them, and else in the log: an earlier batch may
// have carried it. It is false where the text was erased.
func (p payloads) carried(ctx context.Context, source Source, t text) (found payload, ok bool, err error) {
	if t.ref == nil {
		return found, false, nil
	}
	all, here := p[t.row]
	if !here {
		err = source.Payloads(ctx, t.row, t.row, func(row int64, ordinal int, commitment string, b []byte) bool {
			all = append(all, payload{row*payloadPlaces + int64(ordinal), commitment, b})
			return true
		})
		if err != nil {
			return found, false, fmt.Errorf("%w: payloads of row %d: %w", errSource, t.row, err)
		}
	}
	for _, one := range all {
		if one.commitment == t.commitment {
			return one, true, nil
		}
	}
	return found, false, nil
}
