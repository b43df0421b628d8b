package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// source is what the reflection of package events does not know: its comments
// and its string constants.
type source struct {
	types  map[string]string // the comment of a type
	fields map[string]string // the comment of a field, by Type.Field
	consts []string          // the values of all string constants, once each, in order
}

// readSource parses the Go files of a folder, tests left out.
func readSource(dir string) (source, error) {
	src := source{types: map[string]string{}, fields: map[string]string{}}
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return src, err
	}
	if len(paths) == 0 {
		return src, os.ErrNotExist
	}
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			return src, err
		}
		for _, decl := range file.Decls {
			if d, ok := decl.(*ast.GenDecl); ok {
				src.add(d)
			}
		}
	}
	return src, nil
}

func (src *source) add(d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			src.types[spec.Name.Name] = sentence(spec.Doc, d.Doc)
			if s, ok := spec.Type.(*ast.StructType); ok {
				src.addFields(spec.Name.Name, s)
			}
		case *ast.ValueSpec:
			if d.Tok == token.CONST {
				src.addConsts(spec)
			}
		}
	}
}

func (src *source) addFields(typeName string, s *ast.StructType) {
	for _, f := range s.Fields.List {
		for _, n := range f.Names {
			src.fields[typeName+"."+n.Name] = sentence(f.Doc, f.Comment)
		}
	}
}

func (src *source) addConsts(spec *ast.ValueSpec) {
	for _, v := range spec.Values {
		lit, ok := v.(*ast.BasicLit)
		if !ok || lit.Kind != token.STRING {
			continue
		}
		if s, err := strconv.Unquote(lit.Value); err == nil && !slices.Contains(src.consts, s) {
			src.consts = append(src.consts, s)
		}
	}
}

// sentence returns the first comment that is not empty, on one line.
func sentence(comments ...*ast.CommentGroup) string {
	for _, c := range comments {
		if s := strings.Join(strings.Fields(c.Text()), " "); s != "" {
			return s
		}
	}
	return ""
}
