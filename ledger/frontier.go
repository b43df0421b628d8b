package ledger

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"golang.org/x/mod/sumdb/tlog"
)

// ErrBadFrontier is the class of errors of Frontier.UnmarshalBinary.
var ErrBadFrontier = errors.New("not a frontier")

// Frontier is the right edge of a Merkle tree: its size, and the roots of the
// full subtrees of which it is made, largest first, one for each bit that is
// set in the size. The zero value is the empty tree. A copy made by assignment
// shares memory; use Clone.
type Frontier struct {
	size  uint64
	roots []Hash
}

// Size returns the number of leaves.
func (f *Frontier) Size() uint64 { return f.size }

// Append adds a leaf.
func (f *Frontier) Append(leaf Hash) {
	for n := f.size; n&1 == 1; n >>= 1 {
		last := len(f.roots) - 1
		leaf = tlog.NodeHash(f.roots[last], leaf)
		f.roots = f.roots[:last]
	}
	f.roots = append(f.roots, leaf)
	f.size++
}

// Root returns the tree's root hash, for the empty tree SHA-256 of nothing.
func (f *Frontier) Root() Hash {
	last := len(f.roots) - 1
	if last < 0 {
		return sha256.Sum256(nil)
	}
	root := f.roots[last]
	for _, left := range slices.Backward(f.roots[:last]) {
		root = tlog.NodeHash(left, root)
	}
	return root
}

// Clone returns a copy that shares nothing.
func (f *Frontier) Clone() Frontier {
	return Frontier{size: f.size, roots: slices.Clone(f.roots)}
}

// Equal reports whether both are the same edge of the same tree.
func (f *Frontier) Equal(o *Frontier) bool {
	return f.size == o.size && slices.Equal(f.roots, o.roots)
}

// AppendBinary appends the stored form: size as u64 big endian, then the
// roots, 32 bytes each.
func (f *Frontier) AppendBinary(b []byte) ([]byte, error) {
	b = binary.BigEndian.AppendUint64(b, f.size)
	for i := range f.roots {
		b = append(b, f.roots[i][:]...)
	}
	return b, nil
}

// MarshalBinary returns the form of AppendBinary.
func (f *Frontier) MarshalBinary() ([]byte, error) {
	return f.AppendBinary(make([]byte, 0, 8+len(f.roots)*tlog.HashSize))
}

// UnmarshalBinary reads what MarshalBinary wrote, and nothing else.
func (f *Frontier) UnmarshalBinary(b []byte) error {
	if len(b) < 8 {
		return fmt.Errorf("%w: %d bytes", ErrBadFrontier, len(b))
	}
	size, rest := binary.BigEndian.Uint64(b), b[8:]
	if want := bits.OnesCount64(size) * tlog.HashSize; len(rest) != want {
		return fmt.Errorf("%w: a tree of size %d has %d bytes of roots, not %d", ErrBadFrontier, size, want, len(rest))
	}
	f.size, f.roots = size, nil
	for root := range slices.Chunk(rest, tlog.HashSize) {
		f.roots = append(f.roots, Hash(root))
	}
	return nil
}
