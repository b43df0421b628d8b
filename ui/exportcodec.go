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

// csvCodec writes RFC 4180: a header, a row a line, every cell in quotes, CRLF.
// The first cell of the last row is #trailer; of no other row.
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

// writeCell writes a cell in quotes, so that a reader that splits elsewhere than
// at commas is not left to guess where it begins.
func writeCell(b *strings.Builder, cell string) {
	b.WriteByte('"')
	b.WriteString(strings.ReplaceAll(defused(cell), `"`, `""`))
	b.WriteByte('"')
}

// defused puts an apostrophe before what a spreadsheet would take for a formula:
// at the beginning of a cell, and after each place inside it at which a program
// that is set to semicolons, tabs or lines would begin another. What is exact is
// the NDJSON export.
func defused(cell string) string {
	var b strings.Builder
	for cell != "" {
		if formula(cell) {
			b.WriteByte('\'')
		}
		n := strings.IndexAny(cell, ";\t\r\n") + 1
		if n == 0 {
			n = len(cell)
		}
		b.WriteString(cell[:n])
		cell = cell[n:]
	}
	return b.String()
}

// formula reports whether a spreadsheet could take a piece for a formula, however
// it treats spaces and quotes before it.
func formula(piece string) bool {
	r, _ := utf8.DecodeRuneInString(strings.TrimLeft(piece, " \""))
	return strings.ContainsRune("=+-@＝＋－＠", r) && r != utf8.RuneError
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
