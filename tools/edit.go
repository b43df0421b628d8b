package tools

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/countersign-dev/countersign/agent"
)

// maxEdit is the largest file that Edit changes, before and after.
const maxEdit = 16 << 20

type editTool struct{ *workbench }

func (*editTool) Spec() agent.ToolSpec {
	return builtinSpec("Edit",
		"Change a part of a file of the workspace: replace the text old by the text new. "+
			"old must be copied exactly, white space included, and occur exactly once; "+
			"give more of the text around it if it does not, or set replace_all to replace every occurrence.",
		`{"type":"object","additionalProperties":false,"required":["path","old","new"],"properties":{`+
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},`+
			`"old":{"type":"string","minLength":1,"description":"the text to replace"},`+
			`"new":{"type":"string","description":"the text to put there"},`+
			`"replace_all":{"type":"boolean","description":"replace every occurrence; false if absent"}}}`)
}

// editArguments are a change: Old becomes New.
type editArguments struct {
	Path       *string `json:"path"`
	Old        *string `json:"old"`
	New        *string `json:"new"`
	ReplaceAll bool    `json:"replace_all"`
}

func (t *editTool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	var args editArguments
	if err := errors.Join(decode(arguments, &args), context.Cause(ctx)); err != nil {
		return agent.Output{}, err
	}
	err := errors.Join(require("path", args.Path), require("old", args.Old), require("new", args.New))
	if err != nil {
		return agent.Output{}, err
	}
	said, err := t.workspace.edit(args)
	return agent.Output{Content: []byte(said)}, err
}

func (w *workspace) edit(args editArguments) (said string, err error) {
	w.changing.Lock()
	defer w.changing.Unlock()
	target, err := w.target(*args.Path, false)
	if err != nil {
		return "", err
	}
	defer target.close()
	before, err := target.content()
	if err != nil {
		return "", err
	}
	after, count, err := args.apply(before)
	if err != nil {
		return "", err
	}
	if err := target.replace(after); err != nil {
		return "", err
	}
	return fmt.Sprintf("replaced %s in %s (%d bytes before, %d after)",
		counted(count, "occurrence"), *args.Path, len(before), len(after)), nil
}

// content reads the file that look saw, not one that took its name since.
func (t *target) content() ([]byte, error) {
	if t.old == nil {
		return nil, told(t.shown, fs.ErrNotExist)
	}
	f, info, err := openRegular(t.folder, t.name, t.shown)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // only read
	if !os.SameFile(info, t.old) {
		return nil, fmt.Errorf("%q: %w: it was replaced meanwhile; nothing was changed", t.shown, ErrRefused)
	}
	content, err := io.ReadAll(io.LimitReader(f, maxEdit+1))
	if err != nil {
		return nil, told(t.shown, err)
	}
	if len(content) > maxEdit {
		return nil, fmt.Errorf("%q is %w: it has %d bytes, Edit takes at most %d", t.shown, ErrTooLarge, info.Size(), maxEdit)
	}
	return content, nil
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
