package generate

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/countersign-dev/countersign/events"
)

// dice is the randomness of one session: all that is random comes from the
// seed, ids and salts too.
type dice struct{ *rand.Rand }

func newDice(seed, stream uint64) dice {
	return dice{rand.New(rand.NewPCG(seed, stream))} //nolint:gosec // made-up data, the same for the same seed
}

func (d dice) chance(p float64) bool { return d.Float64() < p }

// between is a whole number from a to b.
func (d dice) between(a, b int) int { return a + d.IntN(b-a+1) }

// around is a length of time that is often near the median and sometimes many
// times it (log-normal), at least a millisecond and at most most.
func (d dice) around(median time.Duration, spread float64, most time.Duration) time.Duration {
	x := time.Duration(float64(median) * math.Exp(spread*d.NormFloat64()))
	return min(max(x, time.Millisecond), most).Truncate(time.Microsecond)
}

// pick returns one of a list.
func pick[T any](d dice, list []T) T { return list[d.IntN(len(list))] }

// eventID is a UUIDv7 of a time.
func (d dice) eventID(at time.Time) string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], uint64(at.UnixMilli())<<16|d.Uint64()&0xfff)
	binary.BigEndian.PutUint64(id[8:], d.Uint64())
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return id.String()
}

// requestID is a UUIDv4.
func (d dice) requestID() string {
	var id uuid.UUID
	binary.BigEndian.PutUint64(id[:8], d.Uint64())
	binary.BigEndian.PutUint64(id[8:], d.Uint64())
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	return id.String()
}

// payload salts a text.
func (d dice) payload(b []byte) events.Payload {
	p := events.Payload{Bytes: b}
	for i := 0; i < len(p.Salt); i += 8 {
		binary.BigEndian.PutUint64(p.Salt[i:], d.Uint64())
	}
	return p
}
