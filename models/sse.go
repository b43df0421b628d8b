package models

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// errTooLong is in the chain of the error of a line, event or turn beyond the
// limit.
var errTooLong = errors.New("too long")

const byteOrderMark = "\xef\xbb\xbf"

// event is one event of an event stream.
type event struct {
	// kind is the last event field, or "" where there was none.
	kind string
	// data is the data fields joined by LF. It is valid until the next call of
	// next, and empty for a data field without a value.
	data []byte
}

// eventReader reads the framing of text/event-stream as the WHATWG HTML
// standard defines it (section 9.2.6), without its reconnection.
//
//   - An event without its closing empty line is not an event: a stream that
//     was cut never yields its last half.
//   - How the network cut the stream into reads changes nothing, not even
//     inside a character or between CR and LF; and no event waits for bytes
//     that it does not need.
//   - Data is handed on to the byte. Bytes that are not UTF-8 are neither
//     replaced nor refused here: whoever decodes the data refuses them.
//   - A line or event beyond the limit is errTooLong, never a shorter event.
//
// It is for one goroutine.
type eventReader struct {
	in    *bufio.Reader
	limit int

	line  []byte // the line being read
	data  []byte // the data fields so far, each ended by LF
	kind  string // the event field
	lines int64  // complete lines so far
	split bool   // the last line ended in CR: a LF now belongs to it
}

// newEventReader reads the events in r. A line, or an event's data, may have
// limit bytes.
func newEventReader(r io.Reader, limit int) *eventReader {
	return &eventReader{in: bufio.NewReader(r), limit: limit}
}

// next returns the next event. At the end of the stream it returns io.EOF,
// whatever stood unfinished before it; another error is the one of the
// underlying reader, or errTooLong. After an error the reader is of no use.
func (r *eventReader) next() (event, error) {
	r.data, r.kind = r.data[:0], ""
	for {
		line, err := r.readLine()
		switch {
		case err != nil:
			return event{}, err
		case len(line) > 0:
			if err := r.field(line); err != nil {
				return event{}, err
			}
		case len(r.data) == 0:
			r.kind = "" // no data field: the standard dispatches nothing
		default:
			return event{kind: r.kind, data: r.data[:len(r.data)-1]}, nil
		}
	}
}

// field takes in one line that is not empty.
func (r *eventReader) field(line []byte) error {
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "event":
		r.kind = string(value)
	case "data":
		if len(r.data)+len(value) > r.limit {
			return r.tooLong()
		}
		r.data = append(append(r.data, value...), '\n')
	}
	return nil // a comment has an empty name; id and retry serve reconnection
}

// readLine returns the next line without its end. It is valid until the next
// call. Bytes after the last line end are not a line.
func (r *eventReader) readLine() ([]byte, error) {
	r.line = r.line[:0]
	for {
		window, err := r.window()
		if err != nil {
			return nil, err
		}
		part, ended := window, false
		if end := bytes.IndexAny(window, "\r\n"); end >= 0 {
			part, ended = window[:end], true
			r.split = window[end] == '\r'
		}
		if len(r.line)+len(part) > r.limit {
			return nil, r.tooLong()
		}
		r.line = append(r.line, part...)
		if ended {
			r.discard(len(part) + 1)
			return r.endLine(), nil
		}
		r.discard(len(part))
	}
}

// endLine counts the line and takes the byte order mark off the first.
func (r *eventReader) endLine() []byte {
	r.lines++
	if r.lines == 1 {
		return bytes.TrimPrefix(r.line, []byte(byteOrderMark))
	}
	return r.line
}

// window returns what is buffered, at least one byte, without taking it. A LF
// that belongs to the CR before it is taken here, so that the line which ended
// in CR did not have to wait for it.
func (r *eventReader) window() ([]byte, error) {
	first, err := r.in.Peek(1)
	if err == nil && r.split {
		r.split = false
		if first[0] == '\n' {
			r.discard(1)
			_, err = r.in.Peek(1)
		}
	}
	if err != nil {
		return nil, err
	}
	return r.in.Peek(r.in.Buffered())
}

// discard takes n bytes that window has shown.
func (r *eventReader) discard(n int) {
	_, _ = r.in.Discard(n) // cannot fail: the bytes are buffered
}

func (r *eventReader) tooLong() error {
	return fmt.Errorf("%w: more than %d bytes at line %d", errTooLong, r.limit, r.lines+1)
}
