package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/countersign-dev/countersign/internal/config"
)

var (
	selector = regexp.MustCompile(`(?:^|[^:\w])((?:countersign|promhttp)_\w+)(?:\{([^}]*)\})?`)
	matcher  = regexp.MustCompile(`(\w+)=~?"([^"]*)"`)
)

// M36: what alerts read exists before anything has happened, so that the first
// event is an increase. M35: a moment that does not exist is absent.
func TestWhatAlertsReadExistsFromTheStart(t *testing.T) {
	m := newMeasured(t, nil)
	m.seen(t)
	m.get(t, "/metrics") // the first scrape makes what scrapes count
	text := m.scraped(t)
	read := 0
	for _, g := range readRules(t, "alerts.rules.yml").Groups {
		for _, r := range g.Rules {
			for _, found := range selector.FindAllStringSubmatch(r.Expr, -1) {
				if strings.HasSuffix(found[1], "_timestamp_seconds") && strings.Contains(found[1], "approvals_") {
					require.NotContains(t, text, "\n"+found[1], "%s: nothing waits", r.Alert)
					continue
				}
				require.True(t, anySample(text, found[1], found[2]), "%s reads %s, which is not there yet", r.Alert, found[0])
				read++
			}
		}
	}
	require.Greater(t, read, 15)
	require.NotContains(t, text, "countersign_projection_rebuild_progress_ratio{")
}

// anySample reports whether there is a sample of a name to which a selector
// applies. The label job is Prometheus's own.
func anySample(text, name, selector string) bool {
	for line := range strings.Lines(text) {
		rest, ok := strings.CutPrefix(line, name)
		if ok && strings.ContainsAny(rest[:1], "{ ") && applies(selector, rest) {
			return true
		}
	}
	return false
}

func applies(selector, labels string) bool {
	for _, want := range matcher.FindAllStringSubmatch(selector, -1) {
		one := false
		for value := range strings.SplitSeq(want[2], "|") {
			one = one || want[1] == "job" || strings.Contains(labels, want[1]+`="`+value+`"`)
		}
		if !one {
			return false
		}
	}
	return true
}

// M39: each alert is tested firing and silent.
func TestEveryAlertIsTestedBothWays(t *testing.T) {
	var tests struct {
		Tests []struct {
			Alerts []struct {
				Name     string `yaml:"alertname"`
				Expected []any  `yaml:"exp_alerts"`
			} `yaml:"alert_rule_test"`
		}
	}
	b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", "rules_test.yml"))
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(b, &tests))
	fires, silent := map[string]bool{}, map[string]bool{}
	for _, one := range tests.Tests {
		for _, a := range one.Alerts {
			if len(a.Expected) > 0 {
				fires[a.Name] = true
			} else {
				silent[a.Name] = true
			}
		}
	}
	for _, g := range readRules(t, "alerts.rules.yml").Groups {
		for _, r := range g.Rules {
			require.True(t, fires[r.Alert], "%s has no test in which it fires", r.Alert)
			require.True(t, silent[r.Alert], "%s has no test in which it is silent", r.Alert)
		}
	}
}

// Of nodes that share a log one exports its totals; each says where its own views
// stand.
func TestTotalsOfTheLogCanBeLeftToAnotherNode(t *testing.T) {
	m := newMeasured(t, func(c *config.Config) { c.ExportLogMetrics = false })
	m.seen(t)
	text := m.scraped(t)
	require.NotContains(t, text, "countersign_tool_calls_total")
	require.NotContains(t, text, "countersign_gate_invariant_violations_total")
	require.InDelta(t, 0, sample(t, text, `countersign_projection_lag_events{projection="audit"}`), 0)
}
