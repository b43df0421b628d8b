package ui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

// exportCodec writes the parts of an export in a format.
type exportCodec interface {
	begin(out *exportWriter) error
	row(out *exportWriter, r exportRow) error
	trailer(out *exportWriter, t exportTrailer) error
}

func codecOf(e export) exportCodec {
	if e.format == formatNDJSON {
		return ndjson{}
	}
	return csvCodec{columns: e.columns}
}

// ndjson writes a JSON object a line. The last line is {"trailer":{…}}.
type ndjson struct{}

func (ndjson) begin(*exportWriter) error                { return nil }
func (ndjson) row(out *exportWriter, r exportRow) error { return writeJSON(out, r) }
func (ndjson) trailer(out *exportWriter, t exportTrailer) error {
	return writeJSON(out, struct {
		Trailer exportTrailer `json:"trailer"`
	}{t})
}

func writeJSON(out *exportWriter, v any) error {
	b, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	if slices.ContainsFunc(b, func(c byte) bool { return c < ' ' || c > '~' }) {
		b = []byte(visible.Escaped(string(b))) // for who reads it in a terminal; it means the same
	}
	_, err = out.Write(append(b, '\n'))
	return err
}

// csvCodec writes RFC 4180: a header, a row a line, CRLF. The last row begins
// with #trailer; no other row does.
type csvCodec struct{ columns []string }

func (c csvCodec) begin(out *exportWriter) error { return writeCSV(out, c.columns) }

func (c csvCodec) row(out *exportWriter, r exportRow) error { return writeCSV(out, r.cells()) }

func (c csvCodec) trailer(out *exportWriter, t exportTrailer) error {
	cells := make([]string, len(c.columns))
	copy(cells, []string{
		"#trailer", "complete", "rows=" + digits(t.Count), "sha256=" + t.SHA256, "filter=" + strings.TrimPrefix(pathOf("", t.Filter), "?"),
		"from=" + placeText(t.From), "through=" + placeText(t.Through), "head=" + t.Head.text(), "ended=" + stamp(t.Ended.Time), "by=" + t.By,
	})
	return writeCSV(out, cells)
}

func writeCSV(out *exportWriter, cells []string) error {
	var b strings.Builder
	for i, cell := range cells {
		if i > 0 {
			b.WriteByte(',')
		}
		writeCell(&b, cell)
	}
	b.WriteString("\r\n")
	_, err := out.WriteString(b.String())
	return err
}

func writeCell(b *strings.Builder, cell string) {
	cell = defused(cell)
	if !strings.ContainsAny(cell, "\",\r\n") && strings.TrimSpace(cell) == cell {
		b.WriteString(cell)
		return
	}
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(cell, `"`, `""`))
	b.WriteByte('"')
}

// defused puts an apostrophe before what a spreadsheet would take for a formula.
func defused(cell string) string {
	switch r, _ := utf8.DecodeRuneInString(cell); r {
	case '=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠':
		return "'" + cell
	}
	return cell
}

// maxCell is how many bytes of a text a cell holds: spreadsheets take 32,767.
const maxCell = 30_000

// cellOf is a text of others in one line, its control characters as escapes. A
// cut says so.
func cellOf(b []byte) string {
	shown := visible.String(headOf(b, maxCell))
	if len(shown) <= maxCell && len(b) <= maxCell {
		return shown
	}
	return headOf([]byte(shown), maxCell) + " … [cut: it has " + bytesOf(len(b)) + "; the NDJSON export holds all of it]"
}

func placeText(p *events.Position) string {
	if p == nil {
		return ""
	}
	return p.String()
}

func (h exportHead) text() string {
	var parts []string
	for _, head := range h.Heads {
		parts = append(parts, digits(uint64(head.Partition))+":"+digits(head.Size)+":"+string(head.Root))
	}
	return strings.Join(parts, " ")
}
