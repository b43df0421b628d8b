package ui

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"iter"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
)

const (
	// maxExports is how many exports run at once.
	maxExports = 8
	// exportRows is how many entries an export reads at a time.
	exportRows = 200
	// exportPatience is how long a reader may take for one part of an export.
	exportPatience = 30 * time.Second
)

var errExports = errors.New("as many exports run as may run at once; try again in a minute")

// exportRow is an entry of a list as it is exported. As JSON it is a line of
// NDJSON.
type exportRow interface {
	place() events.Position
	cells() []string // as CSV, in the order of the export's columns
}

// export is a list that is being exported.
type export struct {
	name    string            // of the list: "history"
	format  string            // formatCSV or formatNDJSON
	filter  map[string]string // what narrows the list, as in its address
	record  map[string]string // the same, as the access log names it
	columns []string
	rows    iter.Seq2[exportRow, error]
}

// resource names what is exported in the access log.
func (e export) resource() string { return clip(pathOf(e.name+"."+e.format, e.record)) }

// formatOf reads which format a form asks for.
func formatOf(w http.ResponseWriter, r *http.Request) (string, error) {
	p, err := formOf(w, r, "format")
	if err != nil {
		return "", err
	}
	format, err := p.oneOf("format", formatCSV, formatNDJSON)
	if format == "" && err == nil {
		err = parameter("format", "it is csv or ndjson")
	}
	return format, err
}

// export answers a list as a file, in constant memory. Its begin and its end are
// on the record: where the log cannot take the begin, nothing is exported. A file
// that was broken off has no trailer.
func (c *Console) export(w http.ResponseWriter, r *http.Request, id auth.Identity, e export) error {
	if c.behind() {
		return notKnown(c.views.Status())
	}
	leave, err := c.exports.Take(id.Person)
	if err != nil {
		return errExports
	}
	defer leave()
	begin := &events.Access{Action: "export", Outcome: events.AccessOK, Actor: id.Actor(), Resource: e.resource(), Via: via}
	if err := c.opt.Recorder.Record(r.Context(), begin, ""); err != nil {
		return fmt.Errorf("record the export: %w", err)
	}
	out := newExportWriter(w, e, c.now())
	err = c.write(r.Context(), out, id, e)
	result, words := exportComplete, "complete, "+count(out.count, "row", "rows")
	if err != nil {
		result, words = exportBroken, "broken off after "+count(out.count, "row", "rows")
	}
	c.metrics.exports.WithLabelValues(e.format, result).Inc()
	c.record(r.Context(), &events.Access{
		Action: "exported", Outcome: events.AccessOK, Actor: id.Actor(), Resource: e.resource(), Reason: words,
	}, "")
	if err == nil || !out.begun {
		return err
	}
	c.logger.WarnContext(r.Context(), "an export was broken off", "list", e.name, "rows", out.count, "error", err.Error())
	panic(http.ErrAbortHandler) // the one way to tell the reader that the answer has no end
}

// write writes all rows and the trailer.
func (c *Console) write(ctx context.Context, out *exportWriter, id auth.Identity, e export) error {
	status := c.views.Status()
	t := exportTrailer{
		Complete: true, List: e.name, Filter: e.filter, Began: events.At(c.now()), By: id.Person, All: reader(id).All,
		Head: exportHead{Position: status.Position, Heads: status.Heads},
	}
	codec := codecOf(e)
	if err := codec.begin(out); err != nil {
		return err
	}
	for row, err := range e.rows {
		if err == nil {
			err = c.goesOn(ctx)
		}
		if err != nil {
			return err
		}
		if err := codec.row(out, row); err != nil {
			return err
		}
		if out.count == 0 {
			t.From = new(row.place())
		}
		t.Through = new(row.place())
		out.count++
	}
	if c.views.Status().Lost != status.Lost { // what was read since then may not be all
		return projections.ErrDamaged
	}
	if err := out.Flush(); err != nil { // the digest is of what stands before the trailer
		return err
	}
	t.Count, t.SHA256, t.Ended = out.count, hex.EncodeToString(out.sum.Sum(nil)), events.At(c.now())
	if err := codec.trailer(out, t); err != nil {
		return err
	}
	return out.Flush()
}

// goesOn fails when the reader has gone, or the program stops.
func (c *Console) goesOn(ctx context.Context) error {
	select {
	case <-c.stopped:
		return ErrStopping
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
		return nil
	}
}

// exportWriter sends an export in parts. Until the first part goes out, an error
// can still be answered with a page.
type exportWriter struct {
	*bufio.Writer

	count int
	begun bool // a part has gone out
	sum   hash.Hash
}

// newExportWriter writes to a reader who has exportPatience for each part.
func newExportWriter(w http.ResponseWriter, e export, now time.Time) *exportWriter {
	out := &exportWriter{sum: sha256.New()}
	control := http.NewResponseController(w)
	out.Writer = bufio.NewWriterSize(writerFunc(func(b []byte) (int, error) {
		if !out.begun {
			out.begun = true
			exportHeader(w.Header(), e, now)
		}
		// Servers in tests may have no deadlines to set.
		_ = control.SetWriteDeadline(time.Now().Add(exportPatience))
		out.sum.Write(b)
		n, err := w.Write(b)
		if err == nil {
			err = control.Flush()
		}
		return n, err
	}), 64<<10)
	return out
}

type writerFunc func(b []byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

func exportHeader(h http.Header, e export, now time.Time) {
	media := "text/csv; charset=utf-8; header=present"
	if e.format == formatNDJSON {
		media = "application/x-ndjson"
	}
	h.Set("Content-Type", media)
	h.Set("Content-Disposition", `attachment; filename="countersign-`+e.name+"-"+now.UTC().Format("20060102T150405Z")+"."+e.format+`"`)
}

// exportTrailer is the end of an export, by which it is known to be whole.
type exportTrailer struct {
	Complete bool              `json:"complete"` // true: a file that was broken off has no trailer
	List     string            `json:"list"`     // "history", "access"
	Count    int               `json:"count"`    // rows before the trailer
	SHA256   string            `json:"sha256"`   // of all bytes before the trailer's line
	Filter   map[string]string `json:"filter"`   // as in the address of the list
	From     *events.Position  `json:"from"`     // of the first row; null without rows
	Through  *events.Position  `json:"through"`  // of the last row
	Head     exportHead        `json:"head"`     // of the log, as far as it was read when the export began
	Began    events.Time       `json:"began"`
	Ended    events.Time       `json:"ended"`
	By       string            `json:"by"`  // the person's id
	All      bool              `json:"all"` // the person may see every session; else rows of others are not here
}

type exportHead struct {
	Position events.Position `json:"position"`
	Heads    []events.Head   `json:"heads"`
}
