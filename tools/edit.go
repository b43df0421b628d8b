package tools

import (
	"bytes"
	"errors"
	"fmt"
)

// maxEdit is the largest file that Edit changes, before and after.
const maxEdit = 16 << 20

// newEdit makes the tool Edit.
func newEdit(b *workbench) *changer {
	return &changer{workbench: b, plan: planEdit, spec: b.fileSpec("Edit",
		"Change a part of a file of the workspace: replace the text old by the text new. "+
			"old must be copied exactly, white space included, and occur exactly once; "+
			"give more of the text around it if it does not, or set replace_all to replace every occurrence.",
		`{"type":"object","additionalProperties":false,"required":["path","old","new"],"properties":{`+
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},`+
			`"old":{"type":"string","minLength":1,"description":"the text to replace"},`+
			`"new":{"type":"string","description":"the text to put there"},`+
			`"replace_all":{"type":"boolean","description":"replace every occurrence; false if absent"}}}`)}
}

// editArguments are a change: Old becomes New.
type editArguments struct {
	Path       *string `json:"path"`
	Old        *string `json:"old"`
	New        *string `json:"new"`
	ReplaceAll bool    `json:"replace_all"`
}

func planEdit(arguments []byte) (change, error) {
	var args editArguments
	if err := decode(arguments, &args); err != nil {
		return change{}, err
	}
	if err := errors.Join(needs("path", args.Path), needs("old", args.Old), needs("new", args.New)); err != nil {
		return change{}, err
	}
	return change{path: *args.Path, reads: true, apply: func(before []byte) ([]byte, string, error) {
		after, count, err := args.apply(before)
		said := fmt.Sprintf("replaced %s in %s (%d bytes before, %d after)", counted(count, "occurrence"), *args.Path, len(before), len(after))
		return after, said, err
	}}, nil
}

// apply makes the change, or says why it is not clear what to change.
func (a editArguments) apply(before []byte) (after []byte, count int, err error) {
	from, to := []byte(*a.Old), []byte(*a.New)
	if len(from) == 0 || bytes.Equal(from, to) {
		return nil, 0, fmt.Errorf("%w: old must not be empty, and new must differ from it", ErrArguments)
	}
	if count = a.occurrences(before); count == 0 {
		return nil, 0, fmt.Errorf("%w: old does not occur in %q; read the file and copy the text exactly", ErrArguments, *a.Path)
	}
	if count > 1 && !a.ReplaceAll {
		return nil, 0, fmt.Errorf("%w: old occurs %d times in %q; it must occur once: give more of the text around it, or set replace_all",
			ErrArguments, count, *a.Path)
	}
	if size := len(before) + count*(len(to)-len(from)); size > maxEdit {
		return nil, 0, fmt.Errorf("%q would be %w: %d bytes, Edit makes at most %d", *a.Path, ErrTooLarge, size, maxEdit)
	}
	return bytes.ReplaceAll(before, from, to), count, nil
}

// occurrences counts overlapping ones as well where a single one is wanted:
// "aa" is not clear in "aaa".
func (a editArguments) occurrences(text []byte) (count int) {
	if a.ReplaceAll {
		return bytes.Count(text, []byte(*a.Old))
	}
	for {
		at := bytes.Index(text, []byte(*a.Old))
		if at < 0 {
			return count
		}
		count++
		text = text[at+1:]
	}
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
