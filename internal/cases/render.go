package cases

import (
	"bytes"
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/PuerkitoBio/goquery"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// judgeRender has the console show the case's calls, and judges the pages as a
// parser of HTML sees them.
func judgeRender(ctx context.Context, o Options, f *folder) error {
	if f.has("generate.json") {
		return judgeHuge(ctx, o, f)
	}
	if f.has("calls.jsonl") {
		return judgeFlags(ctx, o, f)
	}
	calls := approvals(f)
	if len(calls) == 0 {
		return errNothingToShow
	}
	for _, file := range slices.Sorted(maps.Keys(calls)) {
		e, err := showApproval(ctx, o, f, calls[file])
		if err != nil {
			return err
		}
		e.files = slices.Collect(maps.Keys(calls))
		e.judge(f.expect, file)
	}
	return nil
}

// judge judges one call by what expect.json says of each.
func (e *exhibit) judge(w *wants, file string) {
	r := w.report
	for _, code := range w.strings("html_must_not_contain_codepoints") {
		n, err := strconv.ParseInt(code, 16, 32)
		if err != nil {
			r.fail("html_must_not_contain_codepoints: %q is no code point", code)
		}
		for _, p := range e.pages {
			found := bytes.ContainsRune(p.body, rune(n)) || strings.ContainsRune(p.everything(), rune(n))
			r.check("html_must_not_contain_codepoints", !found, "%s: U+%s is on %s", file, code, p.path)
		}
	}
	if texts := w.strings("html_must_contain_any"); len(texts) > 0 && e.request != nil && strings.Contains(file, "approval.json") {
		found := slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(e.request.text(), s) })
		r.check("html_must_contain_any", found, "%s: none of %q is on the request's page", file, texts)
	}
	var warning bool
	if w.take("warning", &warning) {
		r.check("warning", e.request != nil && e.request.warned() == warning, "%s: the request's page warns: %v", file, !warning)
	}
	for _, text := range w.strings("must_contain") {
		r.check("must_contain", anywhere(e.pages, text), "%s: %q is on no page", file, text)
	}
	for _, text := range w.strings("visible_text_must_contain") {
		r.check("visible_text_must_contain", anywhere(e.pages, text), "%s: %q is on no page", file, text)
	}
	e.judgeBytes(w, file)
	e.judgeDOM(w, file)
	for _, name := range w.strings("not_executable") {
		r.check("not_executable", slices.Contains(e.files, name), "there is no %s", name)
		if name == file {
			r.check("not_executable", len(e.story.ran) == 0, "%s was run", file)
		}
	}
	for _, part := range []string{"labelled_untrusted", "secret_flag"} {
		w.refuse(part, "definitions of MCP servers and secrets are not in this version")
	}
}

// everything is all text and all attributes of the page, entities decoded.
func (p page) everything() string {
	var b strings.Builder
	b.WriteString(p.doc.Text())
	p.doc.Find("*").Each(func(_ int, s *goquery.Selection) {
		for _, a := range s.Nodes[0].Attr {
			b.WriteString(a.Val)
		}
	})
	return b.String()
}

// judgeBytes judges the surfaces of the case that this version has: pages,
// exports, and the log of the process.
func (e *exhibit) judgeBytes(w *wants, file string) {
	surfaces := w.strings("surfaces")
	for _, s := range surfaces {
		if !slices.Contains([]string{"web", "log", "export"}, s) {
			w.report.leave("surface "+s, "it is not in this version")
		}
	}
	for _, code := range w.strings("must_not_contain_bytes_hex") {
		b, err := hex.DecodeString(code)
		if err != nil || len(b) != 1 {
			w.report.leave("must_not_contain_bytes_hex "+code, "it is no byte")
			continue
		}
		for _, p := range e.pages {
			found := holdsBytes(p.body, b[0]) || holdsBytes([]byte(p.everything()), b[0])
			w.report.check("bytes on pages", !found, "%s: byte %s is on %s", file, code, p.path)
		}
		for _, export := range e.exports {
			w.report.check("bytes in exports", !holdsBytes(export, b[0]), "%s: byte %s", file, code)
		}
		if len(surfaces) == 0 || slices.Contains(surfaces, "log") {
			w.report.check("bytes in the log of the process", !holdsBytes(e.log, b[0]), "%s: byte %s", file, code)
		}
	}
}

// judgeDOM judges that no element comes from the data, and the headers.
func (e *exhibit) judgeDOM(w *wants, file string) {
	for _, selector := range w.strings("dom_must_not_contain") {
		for _, p := range e.pages {
			found := p.doc.Find(selector)
			w.report.check("dom_must_not_contain", found.Length() == 0, "%s: %s holds %s", file, p.path, selector)
		}
	}
	headers := w.object("headers")
	if headers == nil {
		return
	}
	for _, name := range headers.names {
		for _, p := range e.pages {
			judgeHeader(w.report, p.path, name, p.header.Get(name), headers.raw(name))
		}
	}
}

// judgeHeader judges one header: its value, "present", or null for absent.
func judgeHeader(r *report, where, name, got string, want jsontext.Value) {
	var text string
	switch {
	case want.Kind() == 'n':
		r.check("header "+name, got == "", "%s: it is %q", where, got)
	case json.Unmarshal(want, &text) != nil:
		r.leave("header "+name, "its value is no text")
	case text == "present":
		r.check("header "+name, got != "", "%s: it is missing", where)
	default:
		r.check("header "+name, got == text, "%s: it is %q, want %q", where, got, text)
	}
}

// judgeFlags shows each line of calls.jsonl, and judges which are marked.
func judgeFlags(ctx context.Context, o Options, f *folder) error {
	_, known := readPolicy(f.readWants("policy.json"))
	var flagged, calm, unknown []int
	if !f.expect.take("flag_lines", &flagged) {
		return nil
	}
	f.expect.take("not_blocked_lines", &calm)
	f.expect.take("unknown_tool_lines", &unknown)
	for i, raw := range f.lines("calls.jsonl") {
		var c shownCall
		if err := json.Unmarshal(raw, &c); err != nil {
			return err
		}
		var stubs []stubSpec
		for _, name := range known {
			stubs = append(stubs, stubSpec{Name: name})
		}
		turn := callsTurn("", []scriptedCall{{ID: c.ID, Name: c.Tool, Arguments: c.Arguments}})
		e, err := show(ctx, o, f, turn, stubs, "")
		if err != nil {
			return err
		}
		if slices.Contains(flagged, i+1) {
			f.report.check("flag_lines", e.warns(), "line %d: no page warns", i+1)
		}
		if slices.Contains(calm, i+1) {
			f.report.check("not_blocked_lines when run", len(e.story.ran) == 1, "line %d: it was approved and did not run", i+1)
		}
		if slices.Contains(unknown, i+1) {
			f.report.check("unknown_tool_lines when run", len(e.story.ran) == 0, "line %d: it was run", i+1)
		}
	}
	return nil
}

// warns reports whether a page of the call itself warns.
func (e *exhibit) warns() bool {
	return slices.ContainsFunc(e.pages, func(p page) bool {
		single := strings.HasPrefix(p.path, "/requests/") || strings.HasPrefix(p.path, "/call")
		return single && p.warned()
	})
}

// judgeStreamPages judges what the console shows of a stream's calls.
func judgeStreamPages(ctx context.Context, o Options, f *folder) error {
	if !f.expect.has("must_appear_in_ui") && !f.expect.has("must_not_appear_in_ui") {
		return nil
	}
	stream := f.read("stream.sse")
	e, err := show(ctx, o, f, stream, stubsFor(f, stream), "")
	if err != nil {
		return err
	}
	for _, text := range f.expect.strings("must_appear_in_ui") {
		f.report.check("must_appear_in_ui", anywhere(e.pages, text), "%q is on no page", text)
	}
	for _, text := range f.expect.strings("must_not_appear_in_ui") {
		f.report.check("must_not_appear_in_ui", !anywhere(e.pages, text), "%q is on a page", text)
	}
	return nil
}
