package ui

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// cursor is how far a browser has come in the log, in a form that all nodes
// share: the last record that it knows of, and how many records of each of the
// other partitions. Written "TIME-PARTITION-OFFSET", and "_PARTITION-SIZE" for
// each other partition; "0" before the first record.
//
// The log time is there for a log that was put back from a copy, or exchanged:
// it has other records under the same numbers.
type cursor struct {
	at    events.Position   // zero before the first record
	sizes map[uint32]uint64 // of all partitions
}

// errCursor is for what is no cursor; who sends one begins anew.
var errCursor = errors.New("the place is not one of a log")

// maxCursor bounds what is read of a cursor, in bytes.
const maxCursor = 4 << 10

// cursorOf is where the views stand.
func cursorOf(s projections.Status) cursor {
	c := cursor{at: s.Position, sizes: make(map[uint32]uint64, len(s.Heads))}
	for _, h := range s.Heads {
		c.sizes[h.Partition] = h.Size
	}
	return c
}

// records is how many records lie before the cursor.
func (c cursor) records() (n uint64) {
	for _, size := range c.sizes {
		n += size
	}
	return n
}

// before reports whether a record lies behind the cursor.
func (c cursor) before(at events.Position) bool { return at.Offset >= c.sizes[at.Partition] }

// String writes the cursor: digits, "-" and "_".
func (c cursor) String() string {
	if c.at == (events.Position{}) {
		return "0"
	}
	b := strconv.AppendInt(nil, c.at.LogTime, 10)
	b = strconv.AppendUint(append(b, '-'), uint64(c.at.Partition), 10)
	b = strconv.AppendUint(append(b, '-'), c.at.Offset, 10)
	for _, p := range slices.Sorted(maps.Keys(c.sizes)) {
		if p != c.at.Partition {
			b = strconv.AppendUint(append(b, '_'), uint64(p), 10)
			b = strconv.AppendUint(append(b, '-'), c.sizes[p], 10)
		}
	}
	return string(b)
}

// parseCursor reads what String writes, and nothing else.
func parseCursor(s string) (cursor, error) {
	c := cursor{sizes: map[uint32]uint64{}}
	if s == "0" {
		return c, nil
	}
	if len(s) > maxCursor {
		return c, errCursor
	}
	first, others, _ := strings.Cut(s, "_")
	n, err := decimals(first, 3)
	if err != nil {
		return c, err
	}
	c.at = events.Position{LogTime: int64(n[0]), Partition: uint32(n[1]), Offset: n[2]} //nolint:gosec // bounded by decimals, and compared below
	c.sizes[c.at.Partition] = n[2] + 1
	for pair := range strings.SplitSeq(others, "_") {
		if others == "" {
			break
		}
		if n, err = decimals(pair, 2); err != nil {
			return c, err
		}
		c.sizes[uint32(n[0])] = n[1] //nolint:gosec // as above
	}
	if c.String() != s {
		return c, errCursor // another spelling, a partition twice, or one out of range
	}
	return c, nil
}

// decimals reads so many decimal numbers below 2^62.
func decimals(s string, want int) ([]uint64, error) {
	parts := strings.Split(s, "-")
	if len(parts) != want {
		return nil, errCursor
	}
	all := make([]uint64, want)
	for i, part := range parts {
		n, err := strconv.ParseUint(part, 10, 62)
		if err != nil {
			return nil, errCursor
		}
		all[i] = n
	}
	return all, nil
}
