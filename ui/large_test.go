package ui_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func itoa(n int) string { return strconv.Itoa(n) }

// maxPage is what a page may weigh, whatever it shows.
const maxPage = 500_000

func TestLargeArgumentsStayUsable(t *testing.T) {
	keys := make([]string, 3000)
	for i := range keys {
		keys[i] = fmt.Sprintf(`"key%d":"<&\">%d"`, i, i)
	}
	deep := strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000)
	for name, text := range map[string]string{
		"200 KB on a line":        `{"command":"` + strings.Repeat("x", 200_000) + `"}`,
		"9,000 levels":            deep,
		"3,000 keys":              "{" + strings.Join(keys, ",") + "}",
		"200 KB of controls":      strings.Repeat("\x00\u202e", 50_000),
		"many lines":              `{"content":"` + strings.Repeat(`a\n`, 100_000) + `"}`,
		"quotes":                  `{"c":"` + strings.Repeat(`\"`, 150_000) + `"}`,
		"short values, many keys": "{" + strings.TrimSuffix(strings.Repeat(`"\n":"\n",`, 9000), ",") + "}",
	} {
		t.Run(name, func(t *testing.T) {
			_, ben, q, a := requestOf(t, shownCall{ToolName: "Bash", Arguments: text})
			require.Less(t, len(a.body), maxPage)
			require.Equal(t, 1, a.doc.Find("form.decide").Length(), "the decision stays within reach")
			require.Contains(t, a.text(".arguments"), strings.ReplaceAll(group(len(text)), "_", ",")+" bytes")
			require.Equal(t, text, ben.get("/requests/"+q.RequestID+"/download").body)
			require.Equal(t, text, readAll(t, ben, "/requests/"+q.RequestID+"/text", len(text)))
		})
	}
}

func group(n int) string {
	s := itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// readAll pages through a text, and puts it together again from what is shown.
func readAll(t *testing.T, p *person, path string, size int) string {
	t.Helper()
	var whole strings.Builder
	for pages := 0; path != ""; pages++ {
		require.Less(t, pages, 300)
		a := p.get(path)
		require.Equal(t, http.StatusOK, a.status, path)
		require.Less(t, len(a.body), maxPage)
		whole.WriteString(original(a))
		path = a.doc.Find("a[rel=next]").AttrOr("href", "")
	}
	require.Equal(t, size, whole.Len())
	return whole.String()
}

// original turns the text on a page back into its bytes.
func original(a answer) string {
	var b strings.Builder
	a.doc.Find("pre.text code").Contents().Each(func(_ int, s *goquery.Selection) {
		if !s.HasClass("esc") {
			b.WriteString(s.Text())
			return
		}
		name, times, _ := strings.Cut(s.Text(), " ×")
		n := 1
		if times != "" {
			n, _ = strconv.Atoi(times)
		}
		code, _ := strconv.ParseInt(name[2:], 16, 32)
		b.WriteString(strings.Repeat(string(rune(code)), n))
	})
	return b.String()
}

// A result of 15 MB is kept up to the bound of an event; the page tells the
// true size, shows beginning and end, and offers what is kept (case 063).
func TestAResultOfManyMegabytes(t *testing.T) {
	w := newWorld(t, nil)
	var log strings.Builder
	for i := 1; log.Len() < 15_000_000; i++ {
		fmt.Fprintf(&log, "line %d of a long log\n", i)
	}
	whole := log.String()[:15_000_000]
	kept := events.NewPayload([]byte(whole[:800_000]))
	ref := kept.Ref(events.MediaText)
	ref.TruncatedFrom = &events.Whole{Bytes: int64(len(whole)), Commitment: events.Commitment(kept.Salt, []byte(whole))}
	call := w.log.Propose("s1", w.log.Run("s1", "carla", "go"), "b1", 0, "Read", `{}`, events.EffectAllow)
	w.log.Start(call, nil, "")
	w.log.Append(events.Draft{Session: "s1", Payloads: []events.Payload{kept}, Data: &events.ToolResult{
		CallKey: call.CallKey, Tool: "Read", Status: events.StatusOK, Cause: events.CausePolicy, Result: ref, Executor: "test/boot",
	}})
	w.settle()
	eve := w.as("eve")
	a := eve.get("/call?session=s1&batch=b1&index=0")
	require.Less(t, len(a.body), maxPage)
	require.Contains(t, a.text(".theirs .bar2"), "of 15,000,000 bytes. Of what is on record, ")
	require.Contains(t, a.text(".theirs .cut"), "bytes between here and the end are not shown")
	require.Contains(t, a.text(".theirs pre"), "line 1 of a long log")
	require.Contains(t, a.doc.Find(".theirs pre").Last().Text(), whole[799_900:800_000])
	require.Len(t, eve.get("/call/download?of=result&session=s1&batch=b1&index=0").body, 800_000)
	for _, path := range []string{"/history", "/session?id=s1", "/inbox/queue"} {
		require.Less(t, len(eve.get(path).body), 60<<10, path)
	}
}
