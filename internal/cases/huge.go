package cases

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// generated is generate.json: results too big to be stored with the case.
type generated struct {
	Bytes   int    `json:"result_bytes"`
	Pattern string `json:"pattern"`
	OneLine struct {
		Bytes int    `json:"bytes"`
		Char  string `json:"char"`
	} `json:"one_line_variant"`
	JSON struct {
		Keys int `json:"keys"`
	} `json:"json_variant"`
}

// judgeHuge has tools return huge results, and judges the pages' size and that
// they say how much there was.
func judgeHuge(ctx context.Context, o Options, f *folder) error {
	var g generated
	w := f.readWants("generate.json")
	w.take("result_bytes", &g.Bytes)
	w.take("pattern", &g.Pattern)
	w.take("one_line_variant", &g.OneLine)
	w.take("json_variant", &g.JSON)
	w.close()
	var most, whole int
	f.expect.take("page_bytes_max", &most)
	f.expect.take("download_bytes", &whole)
	for name, stub := range g.stubs() {
		turn := callsTurn("", []scriptedCall{{ID: "c1", Name: "Bash", Arguments: `{"command":"cat log"}`}})
		e, err := show(ctx, o, f, turn, []stubSpec{stub}, "")
		if err != nil {
			return err
		}
		f.report.check("it ran", len(e.story.ran) == 1, "%s: %d executions", name, len(e.story.ran))
		for _, p := range e.pages {
			f.report.check("page_bytes_max", most == 0 || len(p.body) <= most, "%s: %s has %d bytes", name, p.path, len(p.body))
		}
		if name == "pattern" && whole > 0 {
			f.report.check("the true size is stated", statesSize(e.pages, whole), "no page says %d", whole)
			f.report.check("the result can be downloaded", slices.ContainsFunc(e.pages, page.downloads), "no page of a call leads to a download")
		}
	}
	return nil
}

func (g generated) stubs() map[string]stubSpec {
	stubs := map[string]stubSpec{"pattern": {Name: "Bash", Pattern: g.Pattern, Size: g.Bytes}}
	if g.OneLine.Bytes > 0 {
		stubs["one line"] = stubSpec{Name: "Bash", Pattern: g.OneLine.Char, Size: g.OneLine.Bytes}
	}
	if g.JSON.Keys > 0 {
		var b strings.Builder
		for i := range g.JSON.Keys {
			fmt.Fprintf(&b, `,"key%d":%d`, i, i)
		}
		stubs["json"] = stubSpec{Name: "Bash", Returns: jsontext.Value("{" + b.String()[1:] + "}")}
	}
	return stubs
}

var grouping = regexp.MustCompile("(\\d)[,.\u00a0\u202f\u2009 _](\\d{3})")

// statesSize reports whether a page says a number, grouped or not.
func statesSize(pages []page, n int) bool {
	return slices.ContainsFunc(pages, func(p page) bool {
		text := p.text()
		for grouping.MatchString(text) {
			text = grouping.ReplaceAllString(text, "$1$2")
		}
		return strings.Contains(text, fmt.Sprint(n))
	})
}

// downloads reports whether the page of a call offers its result.
func (p page) downloads() bool {
	return strings.HasPrefix(p.path, "/call") && p.doc.Find(`a[href*="download"]`).Length() > 0
}
