// Command grafana writes the boards of Countersign for Grafana: one JSON file
// each, into the folder that is given.
//
//	go run . .
//
// It is a module of its own, so that neither agentd nor who embeds it gets
// Grafana's library. What it writes is committed, and a test compares. What the
// boards show stands as plain data in the files board_*.go; build.go makes
// Grafana's form of it.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "grafana:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return fmt.Errorf("expected the folder to write to, found %d arguments", len(args))
	}
	for _, b := range boards() {
		text, err := b.json()
		if err != nil {
			return fmt.Errorf("board %s: %w", b.file, err)
		}
		if err := os.WriteFile(filepath.Join(args[0], b.file), text, 0o644); err != nil { //nolint:gosec // for everybody to read
			return err
		}
	}
	return nil
}

// board is one page of Grafana.
type board struct {
	file, uid, title, about string
	rows                    []row
}

// row is a part of a board, with a heading.
type row struct {
	title  string
	panels []panel
}

// panel is one picture. Twelve of width are half of a row.
type panel struct {
	kind    kind
	title   string
	about   string // what it tells, and what to do about it
	unit    string
	width   uint32
	queries []query
}

// kind is the form of a panel.
type kind int

const (
	graph   kind = iota // lines over time
	stacked             // areas over time, one on the other
	number              // the value of now
)

// query is a line of PromQL, and how what it finds is called.
type query struct{ expr, legend string }

// boards are all of them.
func boards() []board { return []board{reviewers(), tools(), pipeline()} }
