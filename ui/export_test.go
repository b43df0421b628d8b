package ui_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui"
)

// exportEnd is the last line of an export as NDJSON.
type exportEnd struct {
	Trailer *struct {
		Complete      bool
		Count         int
		SHA256        string
		Filter        map[string]string
		From, Through *events.Position
		Head          struct{ Heads []events.Head }
		By            string
		All           bool
	}
}

// exported is a line of an export of calls.
type exportedCall struct {
	Position  events.Position
	Tool      string
	Arguments *struct {
		Text, Base64, Commitment string
		Bytes                    int64
		Erased                   bool
	}
	Changed *struct{ Text string }
	Request *struct {
		Decisions []struct {
			Verdict string
			By      *struct{ Person, Name string }
		}
	}
	Result *struct {
		Status string
		Result *events.Ref
	}
}

// export posts the form for an export.
func (p *person) export(path, format string) answer {
	p.w.t.Helper()
	return p.post(path, url.Values{"format": {format}})
}

// readNDJSON checks an export's trailer, and returns its rows.
func readNDJSON(t *testing.T, body string) (rows []exportedCall, end exportEnd) {
	t.Helper()
	before, last, ok := cutLast(strings.TrimSuffix(body, "\n"))
	require.True(t, strings.HasSuffix(body, "\n"))
	require.NoError(t, json.Unmarshal([]byte(last), &end))
	require.NotNil(t, end.Trailer, "the last line is the trailer")
	sum := sha256.Sum256([]byte(before))
	require.Equal(t, hex.EncodeToString(sum[:]), end.Trailer.SHA256)
	require.True(t, end.Trailer.Complete)
	if ok {
		for line := range strings.SplitSeq(strings.TrimSuffix(before, "\n"), "\n") {
			var row exportedCall
			require.NoError(t, json.Unmarshal([]byte(line), &row))
			rows = append(rows, row)
		}
	}
	require.Len(t, rows, end.Trailer.Count)
	return rows, end
}

// cutLast cuts a text before its last line.
func cutLast(s string) (before, last string, found bool) {
	i := strings.LastIndexByte(s, '\n')
	return s[:i+1], s[i+1:], i >= 0
}

// allRows pages through a list from an address.
func allRows(t *testing.T, p *person, path string) (rows []string) {
	t.Helper()
	for path != "" {
		a := p.get(path)
		require.Equal(t, http.StatusOK, a.status, path)
		rows = append(rows, rowsOf(a)...)
		path = a.doc.Find("a[rel=next]").AttrOr("href", "")
	}
	return rows
}

func TestU26AnExportHasTheRowsOfItsPages(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(330)
	eve := w.as("eve")
	for _, filter := range []string{"", "?tool=Grep", "?tool=Grep&from=24h&state=proposed", "?tool=None"} {
		page := eve.get("/history" + filter)
		path := page.doc.Find("form.export").AttrOr("action", "/history/export"+filter)
		pages := allRows(t, eve, "/history"+filter)

		a := eve.export(path, "ndjson")
		require.Equal(t, http.StatusOK, a.status, a.body)
		require.Equal(t, "application/x-ndjson", a.header.Get("Content-Type"))
		require.Equal(t, `attachment; filename="countersign-history-20261130T140000Z.ndjson"`, a.header.Get("Content-Disposition"))
		rows, end := readNDJSON(t, a.body)
		var places []string
		for _, r := range rows {
			places = append(places, "#"+itoa(int(r.Position.Offset)))
		}
		require.Equal(t, pages, places, filter)
		require.True(t, end.Trailer.All)
		require.Len(t, end.Trailer.Head.Heads[0].Root, 64)
		if len(rows) > 0 {
			require.Equal(t, rows[0].Position, *end.Trailer.From)
			require.Equal(t, rows[len(rows)-1].Position, *end.Trailer.Through)
		}

		b := eve.export(path, "csv")
		require.Equal(t, "text/csv; charset=utf-8; header=present", b.header.Get("Content-Type"))
		require.Equal(t, pages, csvPlaces(t, b.body), filter)
	}
}

// csvPlaces checks the trailer of an export as CSV, and returns the places of
// its rows.
func csvPlaces(t *testing.T, body string) (places []string) {
	t.Helper()
	before, last, _ := cutLast(strings.TrimSuffix(body, "\r\n"))
	sum := sha256.Sum256([]byte(before))
	require.Contains(t, last, "sha256="+hex.EncodeToString(sum[:]))
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll() // refuses rows of other lengths
	require.NoError(t, err)
	require.Equal(t, "time_utc", rows[0][0])
	end := rows[len(rows)-1]
	require.Equal(t, []string{"#trailer", "complete", "rows=" + itoa(len(rows)-2)}, end[:3])
	for _, r := range rows[1 : len(rows)-1] {
		places = append(places, "#"+strings.TrimPrefix(r[1], "0:"))
	}
	return places
}

func TestAnExportedCallTellsAllOfIt(t *testing.T) {
	w := newWorld(t, nil)
	l := w.log
	ben := l.Person("p-ben", "Ben", "reviewer")
	run := l.Run("s1", "carla", "go")
	changed, q := l.Protected("s1", run, "b1", 0, "Write", `{"path":"ä\u202e"}`)
	q, d := l.Modify(q, ben, `{"path":"b"}`)
	l.Start(changed, &q, d)
	l.Result(changed, events.StatusOK, events.CauseHuman, "secret result")
	l.Propose("s1", run, "b1", 1, "Read", "\xff\xfe", events.EffectAllow)
	erased := l.Propose("s1", run, "b1", 2, "Read", `{"gone":1}`, events.EffectAllow)
	l.Erase(erased.Event)
	w.settle()
	a := w.as("eve").export("/history/export", "ndjson")
	rows, _ := readNDJSON(t, a.body)
	require.Len(t, rows, 3)
	require.True(t, rows[0].Arguments.Erased)
	require.Len(t, rows[0].Arguments.Commitment, 64)
	require.Equal(t, "//4=", rows[1].Arguments.Base64)
	requireText(t, `{"path":"ä\u202e"}`, rows[2].Arguments.Text)
	requireText(t, `{"path":"b"}`, rows[2].Changed.Text)
	require.Equal(t, "Ben", rows[2].Request.Decisions[0].By.Name)
	require.Equal(t, "ok", rows[2].Result.Status)
	require.Equal(t, int64(13), rows[2].Result.Result.Bytes)
	require.NotContains(t, a.body, "secret result", "results are named by their commitment")
}

// A spreadsheet runs what begins like a formula.
func TestAFormulaInAnExportIsText(t *testing.T) {
	w := newWorld(t, nil)
	run := w.log.Run("=s1", "carla", "go")
	for i, text := range []string{`=HYPERLINK("http://x","y")`, `+1`, `-1`, `@SUM(A1)`, "\t=1", "\r=1", "＝1", `say "hi", all` + "\nend", `a;=1;b; +2;"@c";d`, strings.Repeat("x", 100_000)} {
		w.log.Propose("=s1", run, "@b", i, "=cmd|' /C calc'!A0", text, events.EffectAllow)
	}
	w.settle()
	a := w.as("eve").export("/history/export", "csv")
	rows, err := csv.NewReader(strings.NewReader(a.body)).ReadAll()
	require.NoError(t, err)
	columns := map[string]int{}
	for i, name := range rows[0] {
		columns[name] = i
	}
	var texts []string
	for _, r := range rows[1 : len(rows)-1] {
		require.Equal(t, "'=cmd|' /C calc'!A0", r[columns["tool"]])
		require.Equal(t, "'=s1", r[columns["session"]])
		require.Equal(t, "'@b", r[columns["batch_id"]])
		texts = append(texts, r[columns["arguments"]])
		for _, cell := range r {
			require.NotContains(t, "=+-@\t\r\n＝", string([]rune(cell + "x")[0]), "a cell that a spreadsheet runs: %.40q", cell)
		}
	}
	for _, cell := range strings.FieldsFunc(a.body, func(r rune) bool { return strings.ContainsRune(";\t\r\n", r) }) {
		first, _ := utf8.DecodeRuneInString(strings.TrimLeft(cell, ` "`))
		require.NotContains(t, "=+-@＝", string(first), "what another program takes for a cell: %.40q", cell)
	}
	require.Equal(t, []string{
		`a;'=1;b;' +2;'"@c";d`, "say \"hi\", all⟦U+000A⟧end", "'＝1", "⟦U+000D⟧=1", "⟦U+0009⟧=1", "'@SUM(A1)", "'-1", "'+1", `'=HYPERLINK("http://x","y")`,
	}, texts[1:])
	require.True(t, strings.HasSuffix(texts[0], "x … [cut: it has 100,000 bytes; the NDJSON export holds all of it]"))
	require.Less(t, len(texts[0]), 32_767)
}

// Each export is on the record, when it begins and when it ends.
func TestExportsAreRecorded(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(7)
	eve := w.as("eve")
	eve.export("/history/export?tool=Grep", "csv")
	w.settle()
	eve.export("/access/export?action=sign-in", "ndjson")
	for _, text := range []string{"a+secret+name", "another", "a+third"} {
		eve.get("/history?q=" + text)
	}
	_, end := readNDJSON(t, eve.export("/history/export?q=a+secret+name", "ndjson").body)
	require.Equal(t, "a secret name", end.Trailer.Filter["q"])
	w.settle()
	log, err := w.views.AccessLog(t.Context(), projections.AccessFilter{}, "", 10)
	require.NoError(t, err)
	var acts []string
	for _, a := range log.Items {
		acts = append(acts, a.Action+" "+a.Resource+" "+a.Reason)
	}
	require.Equal(t, []string{
		"exported history.ndjson?q=withheld complete, 0 rows", "export history.ndjson?q=withheld ", "view history, searched ",
		"exported access.ndjson?action=sign-in complete, 1 row", "export access.ndjson?action=sign-in ",
		"exported history.csv?tool=Grep complete, 3 rows", "export history.csv?tool=Grep ", "sign-in  ",
	}, acts)
}

// failingRecorder is a log that takes nothing new.
type failingRecorder struct{}

func (failingRecorder) Record(context.Context, *events.Access, string) error {
	return fmt.Errorf("%w: no room", events.ErrRefused)
}

func TestNoRecordNoExport(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Recorder = failingRecorder{} })
	w.calls(2)
	a := w.as("eve").export("/history/export", "csv")
	require.Equal(t, http.StatusServiceUnavailable, a.status)
	require.NotContains(t, a.body, "file-1")
}

func TestExportsHoldWhatTheirReaderMaySee(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(3)
	w.ask("s2", "Write", `{"path":"asked"}`)
	ben := w.as("ben")
	rows, end := readNDJSON(t, ben.export("/history/export", "ndjson").body)
	require.Len(t, rows, 1)
	require.False(t, end.Trailer.All)
	require.Equal(t, http.StatusForbidden, ben.export("/access/export", "csv").status)
	require.Equal(t, http.StatusUnauthorized, w.stranger().export("/history/export", "csv").status)
	for path, form := range map[string]url.Values{
		"/history/export":       {},
		"/history/export?":      {"format": {"xlsx"}},
		"/history/export?x=1":   {"format": {"csv"}},
		"/history/export?to=25": {"format": {"csv"}},
		"/history/export?q=":    {"format": {"csv"}, "tool": {"Bash"}},
	} {
		require.Equal(t, http.StatusBadRequest, ben.post(path, form).status, path)
	}
}

// U26: an export that was broken off has no trailer, and ends in an error.
func TestU26AnInterruptedExportIsRecognised(t *testing.T) {
	reg := prometheus.NewRegistry()
	w := newWorld(t, func(o *ui.Options) { o.Metrics = reg })
	run := w.log.Run("s1", "carla", "go")
	for i := range 80 { // more than sockets hold
		w.log.Propose("s1", run, "b1", i, "Write", strings.Repeat("x", 200_000), events.EffectAllow)
	}
	w.settle()
	body := openExport(t, w.as("eve"), "/history/export", "ndjson")
	defer body.Close()
	_, err := io.CopyN(io.Discard, body, 1<<20)
	require.NoError(t, err)
	w.console.Stop()
	rest, err := io.ReadAll(body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NotContains(t, string(rest), `"trailer"`)
	require.Eventually(t, func() bool {
		return gathered(t, reg, "countersign_exports_total", "format=ndjson", "result=broken") == 1
	}, 10*time.Second, 10*time.Millisecond)
}

// openExport begins an export, and returns what comes.
func openExport(t *testing.T, p *person, path, format string) io.ReadCloser {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.w.server.URL+path, strings.NewReader("format="+format))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := p.client.Do(r)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, res.StatusCode)
	return res.Body
}

// U26: a million rows in less than 32 MB. What an export holds is one page, and
// one text, however many rows there are.
func TestU26AnExportHoldsAPageHoweverLongItIs(t *testing.T) {
	w := newWorld(t, nil)
	w.calls(8000)
	body := openExport(t, w.as("eve"), "/history/export", "ndjson")
	defer body.Close()
	base, most, rows := heap(), uint64(0), 0
	lines := bufio.NewScanner(body)
	lines.Buffer(nil, 1<<20)
	for ; lines.Scan(); rows++ {
		if rows%2000 == 1999 {
			most = max(most, heap())
		}
	}
	require.NoError(t, lines.Err())
	require.Equal(t, 8001, rows)
	require.Less(t, most, base+16<<20, "bytes of heap beside %d; when this was written 7 MB, after 5,000 rows as after 20,000", base)
}

// heap is what is in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
