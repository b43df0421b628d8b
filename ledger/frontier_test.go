package ledger_test

import (
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/sumdb/tlog"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/ledger"
)

// The leaves and roots that implementations of Certificate Transparency test
// themselves with.
var reference = []struct{ leaf, root string }{
	{"", "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d"},
	{"00", "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"},
	{"10", "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77"},
	{"2021", "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7"},
	{"3031", "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4"},
	{"40414243", "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef"},
	{"5051525354555657", "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c"},
	{"606162636465666768696a6b6c6d6e6f", "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"},
}

func TestRootsOfTheReferenceTree(t *testing.T) {
	var f ledger.Frontier
	root := f.Root()
	require.Equal(t, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", hex.EncodeToString(root[:]))
	for i, want := range reference {
		leaf, err := hex.DecodeString(want.leaf)
		require.NoError(t, err)
		f.Append(ledger.LeafHash(leaf))
		root := f.Root()
		require.Equal(t, want.root, hex.EncodeToString(root[:]), "size %d", i+1)
		require.EqualValues(t, i+1, f.Size())
	}
}

// The frontier is the tree that tlog builds with all its hashes stored, at
// every size, and survives being stored.
func TestFrontierIsTheTree(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		leaves := rapid.SliceOfN(rapid.SliceOfN(rapid.Byte(), 0, 40), 0, 300).Draw(t, "leaves")
		var f ledger.Frontier
		var stored tlog.HashReaderFunc
		var hashes []tlog.Hash
		stored = func(indexes []int64) ([]tlog.Hash, error) {
			found := make([]tlog.Hash, 0, len(indexes))
			for _, i := range indexes {
				found = append(found, hashes[i])
			}
			return found, nil
		}
		for n, leaf := range leaves {
			more, err := tlog.StoredHashes(int64(n), leaf, stored)
			require.NoError(t, err)
			hashes = append(hashes, more...)

			before := f.Clone()
			f.Append(ledger.LeafHash(leaf))
			require.False(t, before.Equal(&f))

			want, err := tlog.TreeHash(int64(n)+1, stored)
			require.NoError(t, err)
			require.Equal(t, want, f.Root())
			f = restored(t, f)
		}
		require.EqualValues(t, len(leaves), f.Size())
	})
}

func restored(t *rapid.T, f ledger.Frontier) ledger.Frontier {
	b, err := f.MarshalBinary()
	require.NoError(t, err)
	var again ledger.Frontier
	require.NoError(t, again.UnmarshalBinary(b))
	require.True(t, f.Equal(&again))
	return again
}

func TestCloneSharesNothing(t *testing.T) {
	var f ledger.Frontier
	for range 3 {
		f.Append(ledger.LeafHash([]byte("x")))
	}
	copied, root := f.Clone(), f.Root()
	copied.Append(ledger.LeafHash([]byte("y")))
	require.Equal(t, root, f.Root())
	require.EqualValues(t, 3, f.Size())
}

func TestUnmarshalRefuses(t *testing.T) {
	size := func(n byte, roots int) []byte { return append([]byte{0, 0, 0, 0, 0, 0, 0, n}, make([]byte, roots)...) }
	for name, b := range map[string][]byte{
		"nothing":           nil,
		"half a size":       make([]byte, 7),
		"a root too few":    size(3, 32),
		"a root too many":   size(2, 64),
		"a cut root":        size(1, 31),
		"a byte behind":     size(1, 33),
		"roots of an empty": size(0, 32),
	} {
		t.Run(name, func(t *testing.T) {
			var f ledger.Frontier
			require.ErrorIs(t, f.UnmarshalBinary(b), ledger.ErrBadFrontier)
		})
	}
}

func BenchmarkAppend(b *testing.B) {
	var f ledger.Frontier
	record := make([]byte, 640)
	for b.Loop() {
		f.Append(ledger.LeafHash(record))
	}
}
