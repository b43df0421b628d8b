package cases

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A scrape that is not as case 100 wants it fails, each with what is wrong.
func TestBadScrapesFail(t *testing.T) {
	const sound = "countersign_tool_calls_total{tool=\"Bash\"} 1\n"
	for name, test := range map[string]struct {
		status int
		body   string
		says   string
	}{
		"sound":            {200, sound, ""},
		"an error":         {500, sound, "status of /metrics"},
		"nothing":          {200, "", "it parses"},
		"no exposition":    {200, "<html>", "it parses"},
		"a broken label":   {200, "a{tool=\"b\"c\"} 1\n", "it parses"},
		"bytes in a label": {200, "a{tool=\"\xff\"} 1\n", "it parses"},
		"calls left out":   {200, "a 1\n", "calls are counted"},
		"a model's name":   {200, sound + "a{tool=\"" + madeUp("tool", 7) + "\"} 1\n", "labels are ours"},
		"an unknown tool":  {200, sound + "a{tool=\"\"} 1\n", "labels are ours"},
		"a client's text":  {200, sound + "a{handler=\"/" + made + "query 1\"} 1\n", "labels are ours"},
		"a long name":      {200, sound + "a{tool=\"" + strings.Repeat("a", 5000) + "\"} 1\n", "labels are ours"},
		"too many":         {200, sound + "a{tool=\"Read\"} 1\na{tool=\"_other\"} 1\n", "series_max"},
		"too large":        {200, sound + strings.Repeat("# "+strings.Repeat("a", 98)+"\n", scrapeMax/100), "size of /metrics"},
	} {
		t.Run(name, func(t *testing.T) {
			f := &folder{report: &report{}}
			f.expect = parseWants(f.report, "", []byte(`{"series_max":2}`))
			judgeScrape(f, httpAnswer{status: test.status, header: http.Header{}, body: []byte(test.body)})
			if test.says == "" {
				require.Empty(t, f.report.failures)
				return
			}
			require.Contains(t, strings.Join(f.report.failures, "\n"), test.says)
		})
	}
}
