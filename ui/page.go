package ui

import (
	"bytes"
	"context"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/a-h/templ"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/ui/visible"
)

// page answers a whole page. It is rendered before a byte of it is sent, so
// that an error has its own status.
func (c *Console) page(w http.ResponseWriter, r *http.Request, status int, s shellView, content templ.Component) error {
	s.Place = placeOf(r)
	return c.answer(w, r, status, layout(s, content))
}

// fragment answers a part of a page, for the script.
func (c *Console) fragment(w http.ResponseWriter, r *http.Request, content templ.Component) error {
	return c.answer(w, r, http.StatusOK, content)
}

func (c *Console) answer(w http.ResponseWriter, r *http.Request, status int, content templ.Component) error {
	var b bytes.Buffer
	// Rendering asks nobody; a request that was cut off is answered as well.
	if err := content.Render(context.WithoutCancel(r.Context()), &b); err != nil {
		return err
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(b.Len()))
	w.WriteHeader(status)
	if r.Method != http.MethodHead {
		_, _ = w.Write(b.Bytes()) // who went away gets nothing
	}
	return nil
}

// shown writes spans of text. It is written by hand because white space counts
// here, and a template may add some.
func shown(spans []visible.Span) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		var b strings.Builder
		for _, s := range spans {
			writeSpan(&b, s)
		}
		_, err := io.WriteString(w, b.String())
		return err
	})
}

func writeSpan(b *strings.Builder, s visible.Span) {
	switch {
	case s.Kind == visible.Cut:
		b.WriteString(`<span class="x">` + s.Label() + `</span>`)
	case s.Kind == visible.Run:
		b.WriteString(`<span class="esc run" title="` + string(s.Kind) + `">` + s.Label() + `</span>`)
		if s.Broken {
			b.WriteByte('\n')
		}
	case s.Kind == visible.Break:
		b.WriteString(`<span class="esc soft" title="` + string(s.Kind) + `">` + s.Label() + `</span>`)
	case s.Kind != "":
		b.WriteString(`<span class="esc" title="` + string(s.Kind) + `">` + html.EscapeString(s.Label()) + `</span>`)
	case s.Class != "":
		b.WriteString(`<span class="` + s.Class + `">` + html.EscapeString(s.Text) + `</span>`)
	default:
		b.WriteString(html.EscapeString(s.Text))
	}
}

// typable writes the content of a text field. A browser drops a line feed that
// comes first, so one is given to it.
func typable(text string) templ.Component {
	return templ.ComponentFunc(func(_ context.Context, w io.Writer) error {
		_, err := io.WriteString(w, "\n"+html.EscapeString(text))
		return err
	})
}

// download answers bytes as a file that no browser shows or runs.
func download(w http.ResponseWriter, name string, b []byte) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Content-Length", strconv.Itoa(len(b)))
	_, _ = w.Write(b) //nolint:gosec // as a file of bytes, with nosniff and a policy that runs nothing
}

// wholePart is how much of a long text one page shows, in bytes of HTML.
const wholePart = 160 << 10

// wholeOf is a text that is read in parts.
type wholeOf struct {
	Title, Back, Base, Download string
	Text                        []byte
}

// wholeView is one part of a long text.
type wholeView struct {
	Title, Back, Download string
	Part                  visible.Text
	From, To, Bytes       int
	Earlier, Later        string
	SHA256                string
}

// wholeText answers the part of a text that begins at the parameter from. All
// parts together are the whole, to the byte.
func (c *Console) wholeText(w http.ResponseWriter, r *http.Request, id auth.Identity, o wholeOf) error {
	from := 0
	if s := r.URL.Query().Get("from"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil || n < 0 || n > len(o.Text) {
			return errQuery
		}
		from = n
	}
	rest := o.Text[from:]
	part := visible.Part(rest, wholePart)
	size := len(rest) - part.Left
	v := wholeView{
		Title: o.Title, Back: o.Back, Download: o.Download, Part: part, From: from, To: from + size, Bytes: len(o.Text),
		SHA256: string(events.DigestOf(o.Text)),
	}
	if v.To < v.Bytes {
		v.Later = o.Base + "from=" + strconv.Itoa(v.To)
	}
	if from > 0 {
		v.Earlier = o.Base + "from=" + strconv.Itoa(startBefore(o.Text, from))
	}
	return c.page(w, r, http.StatusOK, c.shell(id, o.Title, ""), wholePage(v))
}

// startBefore is where the part before an offset begins: at a whole code point.
func startBefore(b []byte, from int) int {
	at := max(0, from-wholePart)
	for at > 0 && !utf8.RuneStart(b[at]) {
		at--
	}
	return at
}
