package tools

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/countersign-dev/countersign/agent"
)

// maxRead is the largest file that Read looks through.
const maxRead = 64 << 20

type readTool struct{ *workbench }

func (t *readTool) Spec() agent.ToolSpec {
	spec := t.fileSpec("Read",
		"Read a file of the workspace. The result is the file's content and nothing else. "+
			"For a part of a long file give the first line (offset, counted from 1) and how many lines (limit). "+
			"Long results are cut; files over 64 MiB are refused.",
		`{"type":"object","additionalProperties":false,"required":["path"],"properties":{`+
			`"path":{"type":"string","minLength":1,"description":"the file, relative to the workspace"},`+
			`"offset":{"type":"integer","minimum":1,"maximum":1000000000,"description":"the first line to return; 1 if absent"},`+
			`"limit":{"type":"integer","minimum":1,"maximum":1000000000,"description":"how many lines to return; all if absent"}}}`)
	spec.ReadOnly = true
	return spec
}

func (t *readTool) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	var args struct {
		Path   *string `json:"path"`
		Offset whole   `json:"offset"`
		Limit  whole   `json:"limit"`
	}
	if err := errors.Join(decode(arguments, &args), context.Cause(ctx)); err != nil {
		return agent.Output{}, err
	}
	if err := needs("path", args.Path); err != nil {
		return agent.Output{}, err
	}
	if args.Offset < 0 || args.Limit < 0 {
		return agent.Output{}, fmt.Errorf("%w: offset and limit count from 1", ErrArguments)
	}
	selected := lines{first: int64(max(args.Offset, 1)), count: int64(args.Limit), keep: t.maxResult}
	if err := t.read(*args.Path, &selected); err != nil {
		return agent.Output{}, err
	}
	return selected.output(), nil
}

func (t *readTool) read(path string, into *lines) error {
	name, err := t.workspace.local(path)
	if err != nil {
		return err
	}
	f, info, err := openRegular(t.workspace.root, name, path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	if info.Size() > maxRead {
		return fmt.Errorf("%q is %w: it has %d bytes, Read takes at most %d", path, ErrTooLarge, info.Size(), maxRead)
	}
	// A file that grows while it is read ends where it may end at most.
	if err := into.readFrom(io.LimitReader(f, maxRead)); err != nil {
		return told(path, err)
	}
	if into.seen < into.first && into.first > 1 {
		return fmt.Errorf("%w: %q has %d lines, there is no line %d", ErrArguments, path, into.seen, into.first)
	}
	return nil
}

// lines selects lines of a text, to the byte, and keeps the first of their
// bytes.
type lines struct {
	first, count int64 // the first line, from 1; how many, 0 for all
	keep         int

	kept []byte
	full int64 // bytes of the selected lines
	seen int64 // lines begun so far
}

func (l *lines) readFrom(r io.Reader) error {
	last := int64(math.MaxInt64)
	if l.count > 0 && l.first <= math.MaxInt64-l.count {
		last = l.first + l.count - 1
	}
	buffered := bufio.NewReaderSize(r, 64<<10)
	for fresh := true; ; {
		piece, err := buffered.ReadSlice('\n')
		if fresh && len(piece) > 0 {
			l.seen++
		}
		if l.seen > last {
			return nil
		}
		if l.seen >= l.first {
			l.add(piece)
		}
		fresh = err == nil
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return ignoreEOF(err)
		}
	}
}

func (l *lines) add(piece []byte) {
	l.full += int64(len(piece))
	room := max(l.keep-len(l.kept), 0)
	l.kept = append(l.kept, piece[:min(room, len(piece))]...)
}

func (l *lines) output() agent.Output {
	return agent.Output{Content: l.kept, FullBytes: fullIfCut(l.full, l.kept)}
}

// fullIfCut is Output.FullBytes: 0 where nothing was cut.
func fullIfCut(full int64, kept []byte) int64 {
	if full > int64(len(kept)) {
		return full
	}
	return 0
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}
