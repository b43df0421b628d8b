package main

import (
	"os"
	"path/filepath"
	"testing"
)

// The files beside this one are what the program writes: go run . . makes them
// anew.
func TestTheFilesAreCurrent(t *testing.T) {
	dir := t.TempDir()
	if err := run([]string{dir}); err != nil {
		t.Fatal(err)
	}
	for _, b := range boards() {
		want, err := os.ReadFile(filepath.Join(dir, b.file))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(b.file); err != nil || string(got) != string(want) {
			t.Errorf("%s is not what the program writes (%v): go run . .", b.file, err)
		}
	}
}

// Every panel says what it tells, and fits beside its neighbours.
func TestPanelsAreWhole(t *testing.T) {
	for _, b := range boards() {
		for _, r := range b.rows {
			for _, p := range r.panels {
				if p.title == "" || p.about == "" || p.unit == "" || len(p.queries) == 0 || 24%p.width != 0 {
					t.Errorf("%s, %s: the panel %q lacks a title, a text, a unit, a query or a width that divides 24", b.title, r.title, p.title)
				}
				for _, q := range p.queries {
					if q.legend == "" && len(p.queries) > 1 {
						t.Errorf("%s: a line of %q has no name", b.title, p.title)
					}
				}
			}
		}
	}
}

func TestWrongUse(t *testing.T) {
	if run(nil) == nil || run([]string{filepath.Join(t.TempDir(), "missing")}) == nil {
		t.Error("no folder, or one that is not there, is an error")
	}
}
