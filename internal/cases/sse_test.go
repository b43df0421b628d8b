package cases

import (
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
)

// The reader by which streams are judged follows the standard's own examples.
func TestSSEReader(t *testing.T) {
	for name, test := range map[string]struct {
		stream string
		want   []sseEvent
	}{
		"a line":              {"data: a\n\n", []sseEvent{{data: "a"}}},
		"two lines":           {"data: a\ndata:b\n\n", []sseEvent{{data: "a\nb"}}},
		"one space":           {"data:  a\n\n", []sseEvent{{data: " a"}}},
		"ids stay":            {"id: 1\ndata: a\n\ndata: b\n\n", []sseEvent{{id: "1", data: "a"}, {id: "1", data: "b"}}},
		"a kind":              {"event: x\ndata: a\n\ndata: b\n\n", []sseEvent{{kind: "x", data: "a"}, {data: "b"}}},
		"comments":            {": hi\n\ndata: a\n\n", []sseEvent{{data: "a"}}},
		"carriage returns":    {"data: a\r\r", []sseEvent{{data: "a"}}},
		"both":                {"id: 1\r\ndata: a\r\n\r\n", []sseEvent{{id: "1", data: "a"}}},
		"a mark":              {"\xEF\xBB\xBFdata: a\n\n", []sseEvent{{data: "a"}}},
		"no blank line":       {"data: a\n\ndata: b\n", []sseEvent{{data: "a"}}},
		"a kind without data": {"event: x\n\ndata: a\n\n", []sseEvent{{data: "a"}}},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSSEReader(iotest.HalfReader(strings.NewReader(test.stream)))
			var got []sseEvent
			for e, err := r.next(); err == nil; e, err = r.next() {
				got = append(got, e)
			}
			require.Equal(t, test.want, got)
		})
	}
}

func TestParseRaw(t *testing.T) {
	got := parseRaw([]byte("### 1 first\nPOST /a HTTP/1.1\nX-One: 1\nX-Two:2\n\n{\"b\":1}\n\n###\r\nGET /b\r\n\r\n"))
	require.Len(t, got, 2)
	require.Equal(t, "POST /a", got[0].method+" "+got[0].path)
	require.Equal(t, "12", got[0].header.Get("X-One")+got[0].header.Get("X-Two"))
	require.JSONEq(t, `{"b":1}`, string(got[0].body))
	require.Equal(t, "GET /b", got[1].method+" "+got[1].path)
	require.Empty(t, got[1].body)
}
