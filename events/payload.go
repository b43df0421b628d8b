package events

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
)

// payloadDomain separates payload commitments from every other hash.
const payloadDomain = "countersign/payload/1\n"

// Payload is a byte string kept beside an event: arguments, results, messages,
// comments, definitions, names. The envelope names it by its Ref. It can be
// erased without touching the log, and no fold reads it.
type Payload struct {
	Salt  [32]byte
	Bytes []byte
}

// Ref is how an envelope names a payload.
type Ref struct {
	// Commitment is the lower-case hex of SHA-256("countersign/payload/1\n" ‖
	// salt[32] ‖ uint64be(length) ‖ bytes).
	Commitment string `json:"commitment"`
	Bytes      int64  `json:"bytes"`
	MediaType  string `json:"media_type"`
	// In is the id of the event that carries the payload, where that is an
	// earlier one; "" where it is the event of the reference.
	In string `json:"in,omitempty"`
	// TruncatedFrom describes the whole where the payload is a visible cut.
	TruncatedFrom *Whole `json:"truncated_from,omitempty"`
}

// Whole describes a byte string of which only a cut was kept.
type Whole struct {
	Bytes int64 `json:"bytes"`
	// Commitment is the lower-case hex of SHA-256("countersign/whole/1\n" ‖ salt
	// of the kept payload ‖ SHA-256 of the whole).
	Commitment string `json:"commitment"`
}

// wholeDomain separates commitments to wholes from every other hash.
const wholeDomain = "countersign/whole/1\n"

// NewWhole describes a whole of the given size and digest, of which a payload
// with the given salt is the cut that was kept.
func NewWhole(salt [32]byte, size int64, whole Digest) *Whole {
	sum := sha256.New()
	sum.Write([]byte(wholeDomain))
	sum.Write(salt[:])
	raw, err := hex.DecodeString(string(whole))
	if err != nil {
		raw = []byte(whole) // not a digest: bound as it is
	}
	sum.Write(raw)
	return &Whole{Bytes: size, Commitment: hex.EncodeToString(sum.Sum(nil))}
}

// The media types that Countersign mints.
const (
	MediaText = "text/plain; charset=utf-8"
	MediaJSON = "application/json"
	MediaBin  = "application/octet-stream"
)

// NewPayload salts a byte string with fresh randomness.
func NewPayload(b []byte) Payload {
	p := Payload{Bytes: b}
	_, _ = rand.Read(p.Salt[:]) // never fails (crypto/rand, Go 1.24)
	return p
}

// Ref returns the reference by which the event that carries p names it.
func (p Payload) Ref(mediaType string) *Ref {
	return &Ref{Commitment: Commitment(p.Salt, p.Bytes), Bytes: int64(len(p.Bytes)), MediaType: mediaType}
}

// Opens reports whether p is the payload that r names.
func (p Payload) Opens(r Ref) bool {
	return r.Bytes == int64(len(p.Bytes)) && r.Commitment == Commitment(p.Salt, p.Bytes)
}

// Commitment binds a payload without telling it.
func Commitment(salt [32]byte, b []byte) string {
	h := sha256.New()
	h.Write([]byte(payloadDomain))
	h.Write(salt[:])
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(b))))
	h.Write(b)
	return hex.EncodeToString(h.Sum(nil))
}

// CarriedBy returns r as a later event names the same payload, carried by the
// event with the given id.
func (r *Ref) CarriedBy(eventID string) *Ref {
	if r == nil {
		return nil
	}
	c := *r
	if c.In == "" {
		c.In = eventID
	}
	return &c
}

func (r *Ref) check() error {
	if r == nil {
		return nil
	}
	if len(r.Commitment) != 2*sha256.Size || !isHex(r.Commitment) {
		return fmt.Errorf("payload reference: commitment %.70q is not 64 lower-case hex digits", r.Commitment)
	}
	if r.Bytes < 0 {
		return fmt.Errorf("payload reference: bytes is %d", r.Bytes)
	}
	if len(r.MediaType) == 0 || len(r.MediaType) > MaxNameBytes || len(r.In) > MaxNameBytes {
		return fmt.Errorf("payload reference: media_type is missing or beyond %d bytes, or in is", MaxNameBytes)
	}
	if w := r.TruncatedFrom; w != nil && (w.Bytes < 0 || len(w.Commitment) != 2*sha256.Size || !isHex(w.Commitment)) {
		return fmt.Errorf("payload reference: truncated_from of %d bytes, commitment %.70q", w.Bytes, w.Commitment)
	}
	return nil
}

func isHex(s string) bool {
	for _, c := range []byte(s) {
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}
