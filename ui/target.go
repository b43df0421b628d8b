package ui

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// targetView is what a call would change, as the gate saw it when it asked. The
// path and the lines are of the file and the model, the rest is ours.
type targetView struct {
	Path   []visible.Span
	Digest string // of the file; "" where there was none
	Diff   *diff  // nil where the preview is none: then it says why
	Notes  []string
	Text   textView // the whole preview, to the byte
}

// target shows what a request says that its call would change; nil where it says
// nothing.
func (c *Console) target(ctx context.Context, q projections.Request) *targetView {
	if q.Target == nil && q.Preview == nil {
		return nil
	}
	v := &targetView{Text: c.text(ctx, q.Carrier, q.Preview, rawBudget/2)}
	v.Text.All, v.Text.Download = previewPath(q), previewPath(q)+"/download"
	if q.Target != nil {
		v.Path, v.Digest = visible.Line(q.Target.Path, 200), string(q.Target.Digest)
	}
	if q.Preview == nil || !strings.HasPrefix(q.Preview.MediaType, "text/x-diff") {
		return v
	}
	if text, err := c.views.Text(ctx, q.Carrier, q.Preview); err == nil {
		v.Diff, v.Notes = shownDiff(string(text))
	}
	return v
}

// shownDiff reads a unified diff for the page: its lines within the page's
// budget, and what stands before it. The two lines of names are left out, since
// the page says the path.
func shownDiff(text string) (*diff, []string) {
	var notes []string
	r := diffReader{diffWriter: diffWriter{budget: diffBudget}}
	inHunk := false
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		before, isHunk := hunkStart(line)
		switch {
		case isHunk:
			r.skipTo(before)
			inHunk = true
		case inHunk:
			r.read(line)
		case !strings.HasPrefix(line, "--- ") && !strings.HasPrefix(line, "+++ "):
			notes = append(notes, visible.String(line))
		}
	}
	r.flush()
	return &r.diff, notes
}

// hunkStart reads "@@ -A,N +B,M @@": how many lines of the old text are before.
func hunkStart(line string) (before int, ok bool) {
	rest, ok := strings.CutPrefix(line, "@@ -")
	if !ok {
		return 0, false
	}
	extent, _, _ := strings.Cut(rest, " ")
	first, count, many := strings.Cut(extent, ",")
	before, err := strconv.Atoi(first)
	if !many || count != "0" {
		before--
	}
	return max(before, 0), err == nil
}

// diffReader makes the lines of a page from those of a unified diff.
type diffReader struct {
	diffWriter

	at   int      // lines of the old text that were read
	sign string   // of the lines that were read and are not written yet
	run  []string // those lines
}

// skipTo says how many lines the diff leaves out.
func (r *diffReader) skipTo(before int) {
	r.flush()
	if skipped := before - r.at; skipped > 0 && !r.full() {
		r.add(diffLine{Sign: "…", Skipped: skipped}, 40)
	}
	r.at = before
}

// read takes the next line of a hunk. An empty one is an equal line whose blank
// was lost.
func (r *diffReader) read(line string) {
	sign, text := " ", ""
	if line != "" {
		sign, text = line[:1], line[1:]
	}
	if sign == `\` {
		r.flush()
		r.side(" ", []string{"(no line feed at the end)"}, func(int) []visible.Span { return shortLine("(no line feed at the end)") })
		return
	}
	if sign != "+" {
		r.at++
	}
	if sign != r.sign {
		r.flush()
	}
	r.sign, r.run = sign, append(r.run, text)
}

// flush writes a run of lines of one sign.
func (r *diffReader) flush() {
	lines := r.run
	r.run = nil
	switch r.sign {
	case "+":
		r.Added += len(lines)
	case "-":
		r.Removed += len(lines)
	}
	r.side(r.sign, lines, func(i int) []visible.Span { return shortLine(lines[i]) })
}

func previewPath(q projections.Request) string { return requestPath(q.RequestID) + "/preview" }

// previewText shows all that a request says of what its call would change.
func (c *Console) previewText(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	q, text, err := c.preview(r, id, "from")
	if err != nil {
		return err
	}
	return c.wholeText(w, r, id, wholeOf{
		Title: "What " + visible.String(q.Tool) + " would change", Back: requestPath(q.RequestID), Base: previewPath(q) + "?", Text: text,
		Download: previewPath(q) + "/download",
	})
}

func (c *Console) previewDownload(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	_, text, err := c.preview(r, id)
	if err != nil {
		return err
	}
	download(w, "change.diff", text)
	return nil
}

// preview reads the preview of the request that the path names, under its current
// text.
func (c *Console) preview(r *http.Request, id auth.Identity, known ...string) (projections.Request, []byte, error) {
	if err := only(r, known...); err != nil {
		return projections.Request{}, nil, err
	}
	q, err := c.mayReadRequest(r.Context(), id, r.PathValue("id"))
	if err == nil && q.Preview == nil {
		err = errErased
	}
	if err != nil {
		return q, nil, err
	}
	c.note(r.Context(), id, q.RequestID, q.Session)
	text, err := c.payload(r.Context(), q.Carrier, q.Preview)
	return q, text, err
}
