package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// rules are the files of deploy/prometheus.
type rules struct {
	Groups []struct {
		Rules []struct {
			Alert, Record, Expr string
			Labels, Annotations map[string]string
		}
	}
}

func readRules(t *testing.T, name string) (r rules) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", name))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &r))
	return r
}

var identifier = regexp.MustCompile(`[a-zA-Z_:][a-zA-Z0-9_:]*`)

// spokenOf are the metrics that files speak of: families, and what rules record.
func spokenOf(t *testing.T, patterns ...string) (families, recorded []string) {
	t.Helper()
	for _, pattern := range patterns {
		names, err := filepath.Glob(filepath.Join("..", "..", pattern))
		require.NoError(t, err)
		require.NotEmpty(t, names, pattern)
		for _, name := range names {
			b, err := os.ReadFile(name)
			require.NoError(t, err)
			for _, word := range identifier.FindAllString(string(b), -1) {
				switch {
				case strings.Contains(word, "countersign") && strings.Contains(strings.Trim(word, ":"), ":"):
					recorded = append(recorded, word)
				case strings.HasPrefix(word, "countersign_"), strings.HasPrefix(word, "promhttp_"):
					families = append(families, strings.TrimSuffix(word, ":"))
				}
			}
		}
	}
	return families, recorded
}

// M40: what rules, boards, runbooks and documents name exists, and what exists
// is looked at by a rule or a board.
func TestEveryMetricIsNamedAndEveryNameIsOne(t *testing.T) {
	exported := map[string]string{}
	for _, f := range busy(t).families(t) {
		exported[f.name] = f.kind
	}
	var records []string
	for _, g := range readRules(t, "recording.rules.yml").Groups {
		for _, r := range g.Rules {
			records = append(records, r.Record)
		}
	}
	shown, read := spokenOf(t, "deploy/prometheus/alerts.rules.yml", "deploy/prometheus/recording.rules.yml", "deploy/grafana/*.json")
	told, spoken := spokenOf(t, "ui/runbooks/*.md", "docs/metrics.md", "deploy/prometheus/rules_test.yml")
	for _, name := range slices.Concat(shown, told) {
		require.Contains(t, exported, familyOf(exported, name), "%s is named, and nothing exports it", name)
	}
	for _, name := range slices.Concat(read, spoken) {
		require.Contains(t, records, name, "%s is named, and no rule records it", name)
	}
	for name := range exported {
		require.True(t, slices.ContainsFunc(shown, func(s string) bool { return familyOf(exported, s) == name }), "%s is exported, and no rule or board reads it", name)
	}
	_, used := spokenOf(t, "deploy/prometheus/alerts.rules.yml", "deploy/grafana/*.json")
	for _, name := range records {
		require.Contains(t, used, name, "%s is recorded, and nothing reads it", name)
	}
}

// familyOf takes off what a histogram's samples have at their end.
func familyOf(exported map[string]string, name string) string {
	for _, suffix := range []string{"_bucket", "_sum", "_count"} {
		if base, ok := strings.CutSuffix(name, suffix); ok && exported[base] == "histogram" {
			return base
		}
	}
	return name
}

// M39: every alert has a runbook, which whoever is woken reads without signing
// in, and without JavaScript. Every runbook has an alert.
func TestEveryAlertHasItsRunbook(t *testing.T) {
	m := newMeasured(t, nil)
	index := m.page(t, "/docs/runbooks")
	listed := index.Find(".runbooks a").Map(func(_ int, a *goquery.Selection) string { return a.AttrOr("href", "") })
	var alerts []string
	for _, g := range readRules(t, "alerts.rules.yml").Groups {
		for _, r := range g.Rules {
			path, ok := strings.CutPrefix(r.Annotations["runbook_url"], "{{ $externalLabels.console }}")
			require.True(t, ok, "%s: its runbook is not the console's", r.Alert)
			require.Contains(t, listed, path)
			alerts = append(alerts, path)
			page := m.page(t, path)
			require.Equal(t, r.Alert, page.Find("h1").Text())
			require.Equal(t, r.Labels["severity"], page.Find(".severity").Text(), "%s", r.Alert)
			require.Equal(t, []string{"What it means", "What to look at first", "What to do", "When it is harmless"},
				page.Find("h2").Map(func(_ int, h *goquery.Selection) string { return h.Text() }), "%s", r.Alert)
			require.Zero(t, page.Find("main script, main [style]").Length())
		}
	}
	require.ElementsMatch(t, listed, alerts, "a runbook for each alert, and an alert for each runbook")

	resp, err := http.Get(m.base + "/docs/runbooks/no-such-alert")
	require.NoError(t, err)
	require.NoError(t, resp.Body.Close())
	require.Equal(t, http.StatusNotFound, resp.StatusCode)
}

func (m *measured) page(t *testing.T, path string) *goquery.Document {
	t.Helper()
	resp, err := http.Get(m.base + path)
	require.NoError(t, err)
	defer resp.Body.Close()
	require.Equal(t, http.StatusOK, resp.StatusCode, path)
	page, err := goquery.NewDocumentFromReader(resp.Body)
	require.NoError(t, err)
	return page
}
