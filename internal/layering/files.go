package layering

import (
	"fmt"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// file is one Go file: where it is and what it imports.
type file struct {
	path    string // slash path from the root of the module
	test    bool   // _test.go
	imports []imported
}

type imported struct {
	path string
	line int
}

func (f file) folder() string { return path.Dir(f.path) }

// readFiles returns every Go file below the root, in the order of the walk.
func readFiles(fsys fs.FS) ([]file, error) {
	var files []file
	err := fs.WalkDir(fsys, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (skipped(name) || foreign(fsys, name)):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		f, err := readFile(fsys, name)
		if err != nil {
			return err
		}
		files = append(files, f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading imports: %w", err)
	}
	return files, nil
}

// skipped tells the folders that the go command does not look into either.
func skipped(name string) bool {
	base := path.Base(name)
	hidden := strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_")
	return name != "." && (hidden || base == "testdata" || base == "vendor")
}

// foreign reports whether a folder is a module of its own.
func foreign(fsys fs.FS, name string) bool {
	_, err := fs.Stat(fsys, path.Join(name, "go.mod"))
	return name != "." && err == nil
}

func readFile(fsys fs.FS, name string) (file, error) {
	source, err := fs.ReadFile(fsys, name)
	if err != nil {
		return file{}, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, name, source, parser.ImportsOnly)
	if err != nil {
		return file{}, err
	}
	f := file{path: name, test: strings.HasSuffix(name, "_test.go")}
	for _, spec := range tree.Imports {
		target, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return file{}, fmt.Errorf("%s: import %s: %w", name, spec.Path.Value, err)
		}
		f.imports = append(f.imports, imported{target, set.Position(spec.Pos()).Line})
	}
	return f, nil
}

// inModule returns the folder of a package of this module: "." for the root
// package, and false for a package of somebody else.
func inModule(importPath string) (string, bool) {
	if importPath == Module {
		return ".", true
	}
	return strings.CutPrefix(importPath, Module+"/")
}
