package ui_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/ui"
)

// fact is what a page says of a name.
func fact(a answer, name string) string {
	found := a.doc.Find(".facts div").FilterFunction(func(_ int, s *goquery.Selection) bool { return s.Find("dt").Text() == name })
	return strings.Join(strings.Fields(found.Find("dd").Text()), " ")
}

func TestSystemSaysWhereTheProgramStands(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) {
		o.Room = func() (free, total uint64, ok bool) { return 3 << 30, 10 << 30, true }
	})
	richStory(w)
	eve := w.as("eve")
	w.settle()
	a := eve.get("/system")
	require.Equal(t, http.StatusOK, a.status)
	for name, want := range map[string]string{
		"Behind the log": "none: every record of the log is shown", "Set aside": "1 record", "Live streams open": "0", "Isolation of tools": "none",
		"Room for the log": "3,072 MiB free of 10,240 MiB", "Bus": "embedded", "Node": "node-1", "In short": "Write, Edit and Bash ask; everything else is free.",
	} {
		require.Equal(t, want, fact(a, name), name)
	}
	heads := rows(a, "[aria-label^=Heads]", "Partition", "Root")
	require.Len(t, heads, 1)
	require.Regexp(t, `^[0-9a-f]{64}$`, heads[0][1])
	require.Contains(t, rows(a, "[aria-label^=Starts]", "What", "Details")[0][0], "Started, after a crash")
	require.Contains(t, rows(a, "[aria-label^=Clock]", "What", "Details")[0][1], "by 1m 0s")
	require.Contains(t, a.text("details pre"), `"required_tools"`)
	require.Equal(t, "/docs/runbooks", a.doc.Find(".links a").AttrOr("href", ""))
}

func TestBytesOfWhatWasSetAsideAreForAuditors(t *testing.T) {
	w := newWorld(t, nil)
	raw := "\x00 not JSON <script>alert(1)</script>\u202e"
	w.log.AppendRaw("s1", []byte(raw))
	w.settle()
	eve, ben := w.as("eve"), w.as("ben")
	list := eve.get("/system")
	requireClean(t, list)
	href := list.doc.Find("#aside td a").AttrOr("href", "")
	require.Equal(t, "/system/aside?offset=0&partition=0", href)
	text := eve.get(href)
	require.Equal(t, http.StatusOK, text.status)
	requireClean(t, text)
	require.Contains(t, text.text("pre"), "<script>alert(1)</script>")
	require.Equal(t, raw, eve.get("/system/aside/download?offset=0&partition=0").body)

	require.Contains(t, ben.get("/system").text("#aside td:last-child"), "for auditors")
	require.Equal(t, http.StatusForbidden, ben.get(href).status)
	require.Equal(t, http.StatusForbidden, ben.get("/system/aside/download?offset=0&partition=0").status)
	for path, want := range map[string]int{
		"/system/aside": http.StatusBadRequest, "/system/aside?offset=1&partition=0": http.StatusNotFound,
		"/system/aside?offset=-1&partition=0": http.StatusBadRequest, "/system/aside?offset=0&partition=0&x=1": http.StatusBadRequest,
		"/system?x=1": http.StatusBadRequest,
	} {
		require.Equal(t, want, eve.get(path).status, path)
	}
}
