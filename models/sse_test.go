package models

import (
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// readEvents writes each event as kind|data.
func readEvents(r io.Reader, limit int) ([]string, error) {
	var out []string
	events := newEventReader(r, limit)
	for {
		e, err := events.next()
		if err != nil {
			return out, err
		}
		out = append(out, e.kind+"|"+string(e.data))
	}
}

func TestEventReader(t *testing.T) {
	tests := []struct {
		name   string
		stream string
		want   []string
	}{
		{"nothing", "", nil},
		{"one event", "data: a\n\n", []string{"|a"}},
		{"no blank after the colon", "data:a\n\n", []string{"|a"}},
		{"one blank belongs to the colon, the second to the data", "data:  a \n\n", []string{"| a "}},
		{"data without a value", "data\n\n", []string{"|"}},
		{"empty data", "data:\n\n", []string{"|"}},
		{"lines are joined by LF", "data: a\ndata: b\ndata\n\n", []string{"|a\nb\n"}},
		{"the event field, before and after", "event: error\ndata: a\n\ndata: b\nevent: late\n\n", []string{"error|a", "late|b"}},
		{"the last event field holds", "event: a\nevent: b\ndata: x\n\n", []string{"b|x"}},
		{"an event field without data is nothing", "event: error\n\ndata: a\n\n", []string{"|a"}},
		{"comments", ": x\n\n:\n:data: no\ndata: a\n: y\ndata: b\n\n", []string{"|a\nb"}},
		{"other fields", "id: 1\nretry: 3\ndatum: x\nDATA: x\n data: x\ndata: a\n\n", []string{"|a"}},
		{"CRLF", "data: a\r\ndata: b\r\n\r\n", []string{"|a\nb"}},
		{"CR", "data: a\rdata: b\r\rdata: c\r\r", []string{"|a\nb", "|c"}},
		{"mixed line ends", "data: a\r\ndata: b\rdata: c\n\r\n", []string{"|a\nb\nc"}},
		{"LF CR is two line ends", "data: a\n\rdata: b\n\n", []string{"|a", "|b"}},
		{"a byte order mark", "\xef\xbb\xbfdata: a\n\n", []string{"|a"}},
		{"only the first mark, only at the start", "\xef\xbb\xbf\xef\xbb\xbfdata: a\n\ndata: \xef\xbb\xbfb\n\n", []string{"|\xef\xbb\xbfb"}},
		{"no closing empty line", "data: a\n\ndata: b\n", []string{"|a"}},
		{"no line end at all", "data: a\n\ndata: b", []string{"|a"}},
		{"bytes that are no UTF-8 stay", "data: \xff\xfe\x00\n\n", []string{"|\xff\xfe\x00"}},
		{"U+2028 and form feed end no line", "data: a\u2028b\fc\n\n", []string{"|a\u2028b\fc"}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, r := range []io.Reader{
				strings.NewReader(test.stream),
				iotest.OneByteReader(strings.NewReader(test.stream)),
				iotest.DataErrReader(strings.NewReader(test.stream)),
			} {
				got, err := readEvents(r, 1<<20)
				require.Equal(t, io.EOF, err)
				require.Equal(t, test.want, got)
			}
		})
	}
}

// An event that is complete is given out though nothing follows it.
func TestEventReaderDoesNotWait(t *testing.T) {
	for _, ending := range []string{"\n\n", "\r\r", "\r\n\r"} {
		in, out := io.Pipe()
		events := newEventReader(in, 1<<10)
		go out.Write([]byte("data: a" + ending))
		got, err := events.next()
		require.NoError(t, err)
		require.Equal(t, "a", string(got.data))
		require.NoError(t, in.Close())
	}
}

func TestEventReaderLimit(t *testing.T) {
	fits := "data:" + strings.Repeat("x", 95)
	tests := []struct {
		name   string
		stream string
		want   []string
		err    error
	}{
		{"a line that just fits", fits + "\n\n", []string{"|" + fits[5:]}, io.EOF},
		{"a line too long", fits + "y\n\n", nil, errTooLong},
		{"a comment too long", ":" + strings.Repeat("x", 200) + "\n\n", nil, errTooLong},
		{"a line that never ends", strings.Repeat("x", 1<<20), nil, errTooLong},
		{"many lines in one event", fits + "\n" + fits + "\n\n", nil, errTooLong},
		{"after a good event", "data: a\n\n" + fits + "y\n\n", []string{"|a"}, errTooLong},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := readEvents(strings.NewReader(test.stream), 100)
			require.ErrorIs(t, err, test.err)
			require.Equal(t, test.want, got)
		})
	}
}

func TestEventReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("reset by peer")
	got, err := readEvents(io.MultiReader(strings.NewReader("data: a\n\ndata: b\n"), iotest.ErrReader(broken)), 100)
	require.ErrorIs(t, err, broken)
	require.Equal(t, []string{"|a"}, got)
}

// How the stream is cut into reads changes nothing, and no byte is made up.
func FuzzEventReader(f *testing.F) {
	f.Add("data: a\n\n", 3)
	f.Add("\xef\xbb\xbfevent: error\r\ndata: {\r\ndata\r: c\r\r\n\n", 1)
	f.Fuzz(func(t *testing.T, stream string, cut int) {
		whole, wholeErr := readEvents(strings.NewReader(stream), 200)
		cut = max(0, min(cut, len(stream)))
		for _, r := range []io.Reader{
			iotest.OneByteReader(strings.NewReader(stream)),
			io.MultiReader(strings.NewReader(stream[:cut]), strings.NewReader(stream[cut:])),
		} {
			got, err := readEvents(r, 200)
			require.Equal(t, whole, got)
			require.Equal(t, errors.Is(wholeErr, errTooLong), errors.Is(err, errTooLong))
		}
		for _, e := range whole {
			require.LessOrEqual(t, len(e), len(stream)+1)
		}
	})
}
