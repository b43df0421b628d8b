package cases

import (
	"bufio"
	"bytes"
	"io"
	"strings"
)

// sseEvent is an event as a browser dispatches it.
type sseEvent struct {
	id, kind, data string
}

// sseReader reads an event stream as the HTML Living Standard, section 9.2.6,
// says: it is no relative of the code that it judges.
type sseReader struct {
	from   *bufio.Reader
	begun  bool
	lastID string
	raw    bytes.Buffer // all that was read
}

func newSSEReader(r io.Reader) *sseReader {
	s := &sseReader{}
	s.from = bufio.NewReader(io.TeeReader(r, &s.raw))
	return s
}

// next returns the next event. An event without its closing blank line is
// none.
func (s *sseReader) next() (sseEvent, error) {
	var e sseEvent
	var data []string
	for {
		line, err := s.line()
		if err != nil {
			return sseEvent{}, err
		}
		if line == "" {
			if len(data) == 0 {
				e.kind = ""
				continue
			}
			e.id, e.data = s.lastID, strings.Join(data, "\n")
			return e, nil
		}
		name, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		switch name {
		case "data":
			data = append(data, value)
		case "event":
			e.kind = value
		case "id":
			if !strings.Contains(value, "\x00") {
				s.lastID = value
			}
		}
	}
}

// line returns a line without its end: CR LF, LF or CR.
func (s *sseReader) line() (string, error) {
	if !s.begun {
		s.begun = true
		if mark, err := s.from.Peek(3); err == nil && string(mark) == "\xEF\xBB\xBF" {
			_, _ = s.from.Discard(3) // they were peeked
		}
	}
	var b []byte
	for {
		c, err := s.from.ReadByte()
		if err != nil {
			return "", err
		}
		switch c {
		case '\n':
			return string(b), nil
		case '\r':
			// A stream that pauses after CR must not hold the line back: what
			// follows is looked at only where it is there.
			if s.from.Buffered() > 0 {
				if next, err := s.from.Peek(1); err == nil && next[0] == '\n' {
					_, _ = s.from.Discard(1) // it was peeked
				}
			}
			return string(b), nil
		}
		b = append(b, c)
	}
}
