package bus

import "context"

// Payloads calls f with what the records from row first to row last carry, in
// order, until f returns false: the row, the ordinal of the payload in it, its
// commitment, its bytes. What was erased or altered is left out.
func (p *Producer) Payloads(ctx context.Context, first, last int64, f func(row int64, ordinal int, commitment string, b []byte) bool) error {
	return p.journal.Payloads(ctx, first, last, f)
}
