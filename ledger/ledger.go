// Package ledger makes edits of the log visible. It is pure hashing over
// bytes: the records of a partition are the leaves of a Merkle tree (RFC 6962,
// section 2.1), and whoever holds a tree's root can tell whether any record
// below it was changed, moved or removed. It is where checkpoints and proofs
// over those trees belong; today it has leaf hashes and the frontier.
//
// The frontier is the right edge of a tree, all that is needed to append:
//
//	var f ledger.Frontier
//	f.Append(ledger.LeafHash(record))
//	size, root := f.Size(), f.Root()
//
// It makes an edit visible to whoever kept a root elsewhere. It does not stop
// anybody who can write the file from building another tree.
package ledger

import "golang.org/x/mod/sumdb/tlog"

// Hash is a SHA-256 of RFC 6962. Its text form is base64.
type Hash = tlog.Hash

// LeafHash returns the hash of an encoded record as a leaf: SHA-256(0x00 ‖
// record).
func LeafHash(record []byte) Hash { return tlog.RecordHash(record) }
