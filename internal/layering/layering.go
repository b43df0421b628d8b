// Package layering is the package map of Countersign as a test: who may import
// whom, who may touch the broker, the database driver and other processes.
//
// The map is Table, a list from the bottom up. A row may name only rows above
// it in the list, so a table that Validate accepts has no cycles. Check reads
// the imports of every Go file of a module and returns what breaks the map:
//
//	problems, err := layering.Check(os.DirFS(root), layering.Table(), layering.Keepers())
//
// Imports are read with go/parser, whatever the build tags of a file, and not
// with "go list": go test caches a test by the files that it opened itself, so
// one that asks another program passes from the cache after a violation was
// added.
//
// Test files may import any package of the module, for helpers and fakes; what
// is kept for one package by Keepers mostly holds for them too.
package layering

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// Module is the import path of the root package.
const Module = "github.com/countersign-dev/countersign"

// ErrTable is wrapped by every error about the map itself.
var ErrTable = errors.New("package map")

// Problem is one way in which a module breaks the map.
type Problem struct {
	// File is the slash path from the root of the module.
	File string
	// Line is the line of the import; 0 where the file as a whole is meant.
	Line int
	// Text says what is wrong and what to do.
	Text string
}

// String is the problem in the form that editors jump to.
func (p Problem) String() string {
	return fmt.Sprintf("%s:%d: %s", p.File, p.Line, p.Text)
}

// Check reads the Go files of the module whose root is fsys and returns what
// breaks the map, by file and line. It fails for a table that Validate refuses
// and for a file that cannot be read or parsed.
func Check(fsys fs.FS, table []Row, keepers []Keeper) ([]Problem, error) {
	if err := Validate(table); err != nil {
		return nil, err
	}
	files, err := readFiles(fsys)
	if err != nil {
		return nil, err
	}
	c := checker{table: table, keepers: keepers}
	var problems []Problem
	for _, f := range files {
		problems = append(problems, c.file(f)...)
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line))
	})
	return problems, nil
}

// checker judges one file at a time; it does not change.
type checker struct {
	table   []Row
	keepers []Keeper
}

// file returns what is wrong with one file.
func (c checker) file(f file) []Problem {
	row, ok := find(c.table, f.folder())
	if !ok {
		return []Problem{{f.path, 0, fmt.Sprintf(
			"the folder %s is not in the package map: add it to the table in internal/layering/table.go, "+
				"with what it may import, or move it below a folder that is there", f.folder())}}
	}
	var problems []Problem
	for _, imp := range f.imports {
		for _, text := range c.imports(f, row, imp.path) {
			problems = append(problems, Problem{f.path, imp.line, text})
		}
	}
	return problems
}

// imports returns what is wrong with one import of a file that belongs to row.
func (c checker) imports(f file, row Row, path string) []string {
	var wrong []string
	for _, k := range c.keepers {
		if k.covers(path) && !k.admits(row.Folder, f.test) {
			wrong = append(wrong, fmt.Sprintf("%s is for %s alone: %s", path, strings.Join(k.For, ", "), k.Why))
		}
	}
	if f.test {
		return wrong
	}
	if row.Pure && impure(path) {
		wrong = append(wrong, fmt.Sprintf(
			"%s is pure and may not import %s: take what it gives as an argument", row.Folder, path))
	}
	if text := c.ours(row, path); text != "" {
		wrong = append(wrong, text)
	}
	return wrong
}

// ours judges an import of a package of this module; it returns "" where there
// is nothing to say.
func (c checker) ours(row Row, path string) string {
	folder, ok := inModule(path)
	if !ok {
		return ""
	}
	target, ok := find(c.table, folder)
	if !ok {
		return "" // the package itself is reported, once, if it exists
	}
	allowed := reach(c.table, row)
	if target.Folder == row.Folder || slices.Contains(allowed, target.Folder) {
		return ""
	}
	return fmt.Sprintf("%s may not import %s, only %s: let it declare a small interface of its own "+
		"that cmd fills, or change the table in internal/layering/table.go and say why",
		row.Folder, target.Folder, orNothing(allowed))
}

func orNothing(folders []string) string {
	if len(folders) == 0 {
		return "nothing of ours"
	}
	return strings.Join(folders, ", ")
}
