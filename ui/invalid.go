package ui

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

// invalidWords says in plain words why a text is no valid arguments, and where:
// by line and column, and by JSON pointer (RFC 6901) where there is one.
func invalidWords(text []byte, err error) string {
	e, ok := errors.AsType[*jsontext.SyntacticError](err)
	if !ok {
		return visible.String(strings.TrimPrefix(err.Error(), events.ErrArguments.Error()+": "))
	}
	where := inLine(text, int(e.ByteOffset))
	within := ""
	if e.JSONPointer != "" {
		within = ", at " + visible.String(shortened([]byte(e.JSONPointer), 200))
	}
	switch {
	case errors.Is(e.Err, jsontext.ErrDuplicateName):
		return "a name stands twice in one object" + within + " (" + where + ")"
	case errors.Is(e.Err, jsontext.ErrNonStringName):
		return "a name must stand in double quotes" + within + " (" + where + ")"
	case errors.Is(e.Err, io.ErrUnexpectedEOF):
		return "the text ends too early: a quote, bracket or brace is not closed" + within
	case int(e.ByteOffset) < len(text) && !utf8.FullRune(text[e.ByteOffset:]) || !utf8.Valid(text):
		return "it is not valid UTF-8 (" + where + ")"
	}
	return "it is not valid JSON in " + where + within
}

// inLine names a place in a text for people, who count from one.
func inLine(text []byte, offset int) string {
	before := text[:min(max(offset, 0), len(text))]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("line %d, column %d", line, column)
}
