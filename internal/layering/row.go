package layering

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// Row is one line of the map: a folder and what its packages may import.
type Row struct {
	// Folder is the slash path from the root of the module; "." is the root
	// package alone, any other covers the folders below it.
	Folder string
	// May are the rows that it may import besides events and fold, each above
	// this row in the table.
	May []string
	// Pure packages have no I/O and no randomness: they may not import the
	// packages of the standard library that give them.
	Pure bool
}

// Keeper keeps packages of others for some of ours.
type Keeper struct {
	// Path is an import path; the packages below it are meant too.
	Path string
	// For are the rows that may import it.
	For []string
	// Tests says that test files of other rows may not import it either.
	Tests bool
	// Why ends the message: the reason, and what to use instead.
	Why string
}

func (k Keeper) covers(importPath string) bool { return isBelow(importPath, k.Path) }

func (k Keeper) admits(row string, test bool) bool {
	return slices.Contains(k.For, row) || test && !k.Tests
}

// Validate refuses a table that is no map: a row twice, or a row that may
// import what is not above it, and so could be part of a cycle. Its errors
// wrap ErrTable.
func Validate(table []Row) error {
	seen := map[string]bool{Everything: true}
	for _, row := range table {
		if seen[row.Folder] {
			return fmt.Errorf("%w: %s has two rows", ErrTable, row.Folder)
		}
		for _, may := range row.May {
			if !seen[may] {
				return fmt.Errorf("%w: %s may import %s, which is not above it: move the row or turn the dependency round",
					ErrTable, row.Folder, may)
			}
		}
		seen[row.Folder] = true
	}
	return nil
}

// find returns the row of a folder: its own, or the nearest above it.
func find(table []Row, folder string) (Row, bool) {
	for ; ; folder = path.Dir(folder) {
		i := slices.IndexFunc(table, func(r Row) bool { return r.Folder == folder })
		if i >= 0 {
			return table[i], true
		}
		// The root package is the folder "." alone, not all that is below it.
		if parent := path.Dir(folder); parent == "." || parent == folder {
			return Row{}, false
		}
	}
}

// reach returns the rows that row may import, in the order of the table.
func reach(table []Row, row Row) []string {
	var above []string
	for _, r := range table {
		if r.Folder == row.Folder {
			break
		}
		above = append(above, r.Folder)
	}
	if slices.Contains(row.May, Everything) {
		return above
	}
	return slices.DeleteFunc(above, func(folder string) bool {
		return folder != "events" && folder != "fold" && !slices.Contains(row.May, folder)
	})
}

// impure tells the packages of the standard library that do I/O, or give what
// differs from one run to the next.
func impure(importPath string) bool {
	roots := []string{"os", "net", "database/sql", "math/rand", "crypto/rand", "syscall", "log", "plugin"}
	exempt := []string{"net/url", "net/netip"}
	under := func(root string) bool { return isBelow(importPath, root) }
	return slices.ContainsFunc(roots, under) && !slices.ContainsFunc(exempt, under)
}

// isBelow tells whether an import path is root or a package below it.
func isBelow(importPath, root string) bool {
	return importPath == root || strings.HasPrefix(importPath, root+"/")
}
