// Command schemagen writes the JSON Schemas of package events, from the Go
// types and from what the decoder does.
//
// Structure, names and required members come from the types, descriptions from
// their comments. Bounds, patterns and enumerations are not written down a
// second time: the generator takes a whole sample of each type, changes one
// member at a time, and asks the decoder whether it still accepts the event. So
// a schema says what the decoder does, and a string that the decoder does not
// bound is an error here.
//
//	go generate ./events
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "schemagen:", err)
		os.Exit(1)
	}
}

// run writes the schemas of the package in dir anew.
func run(dir string) error {
	files, err := generate(dir)
	if err != nil {
		return err
	}
	root := filepath.Join(dir, "schema")
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	for name, text := range files {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // source files
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil { //nolint:gosec // source files
			return err
		}
	}
	return nil
}
