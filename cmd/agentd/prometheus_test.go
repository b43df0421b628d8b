package main_test

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// monitor is a real Prometheus, with the rules of deploy/prometheus, that scrapes
// one address each second.
type monitor struct {
	t    *testing.T
	base string
	out  *output
}

// newMonitor starts one. It ends with the test. target is host:port.
func newMonitor(t *testing.T, target string) *monitor {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		needed(t, "there is no prometheus (Debian's package prometheus has it)", err)
	}
	dir, addr := t.TempDir(), freeAddress(t)
	for _, name := range []string{"recording.rules.yml", "alerts.rules.yml", "prometheus.yml"} {
		b, err := os.ReadFile(filepath.Join("..", "..", "deploy", "prometheus", name))
		require.NoError(t, err)
		text := strings.NewReplacer("_interval: 15s", "_interval: 1s", "127.0.0.1:8080", target).Replace(string(b))
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	m := &monitor{t: t, base: "http://" + addr, out: newOutput()}
	cmd := exec.Command(binary, "--config.file", "prometheus.yml", "--storage.tsdb.path", "data", "--web.listen-address", addr)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, environment(), m.out, m.out
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill() // it may have ended
		_ = cmd.Wait()
	})
	return m
}

// freeAddress is one that nobody listens on now.
func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

// get asks its API; false while it does not serve.
func (m *monitor) get(path string, into any) bool {
	resp, err := http.Get(m.base + "/api/v1/" + path)
	if err != nil {
		return false
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if resp.StatusCode == http.StatusServiceUnavailable {
		return false
	}
	require.NoError(m.t, json.NewDecoder(resp.Body).Decode(&answer), "%s", path)
	require.Equal(m.t, "success", answer.Status, "%s: %s", path, answer.Error)
	require.NoError(m.t, json.Unmarshal(answer.Data, into))
	return true
}

// found is what a query finds: the values, by their labels as JSON.
type found struct {
	Result []struct {
		Metric map[string]string
		Value  [2]any
	}
}

// query evaluates PromQL now.
func (m *monitor) query(expr string) (f found, served bool) {
	served = m.get("query?query="+url.QueryEscape(expr), &f)
	return f, served
}

// value is that of the only sample that a query finds.
func (m *monitor) value(expr string) (string, bool) {
	f, _ := m.query(expr)
	if len(f.Result) != 1 {
		return "", false
	}
	return fmt.Sprint(f.Result[0].Value[1]), true
}

// ruleState is a rule as Prometheus last evaluated it.
type ruleState struct{ Name, Type, State, Health, LastError string }

func (m *monitor) rules() map[string]ruleState {
	var data struct {
		Groups []struct{ Rules []ruleState }
	}
	all := map[string]ruleState{}
	m.get("rules", &data)
	for _, g := range data.Groups {
		for _, r := range g.Rules {
			all[r.Name] = r
		}
	}
	return all
}

// The real Prometheus scrapes the real agentd: samples arrive, every rule and
// every query of the boards evaluates, nothing fires. Then somebody writes an
// execution into the log by hand, and UnapprovedToolExecution does.
func TestARealPrometheus(t *testing.T) {
	h := newHome(t)
	addr := freeAddress(t)
	start := func() *process { return launch(t, h.dir, "serve", "--config", "agentd.yaml", "--addr", addr) }
	p := start()
	m := newMonitor(t, addr)
	p.as(agentToken).begin(t, plan{{count("Count", "by-hand")}}.query()).until(t, "approval_request")
	waitFor(t, "Prometheus has the request that waits", 60*time.Second, 200*time.Millisecond, func() bool {
		v, ok := m.value("countersign:approvals_pending:sum")
		return ok && v == "1"
	})
	m.evaluated()
	m.boards()
	require.Equal(t, "inactive", m.rules()["UnapprovedToolExecution"].State)

	code, _ := p.stop()
	require.Zero(t, code)
	forge(t, h)
	start()
	waitFor(t, "the alert fires", 60*time.Second, 200*time.Millisecond, func() bool {
		return m.rules()["UnapprovedToolExecution"].State == "firing"
	})
	m.told()
}

// evaluated holds that every rule was evaluated, and without an error.
func (m *monitor) evaluated() {
	m.t.Helper()
	waitFor(m.t, "all rules were evaluated", 30*time.Second, 200*time.Millisecond, func() bool {
		for _, r := range m.rules() {
			if r.Health == "unknown" {
				return false
			}
		}
		return true
	})
	rules := m.rules()
	want := 0
	for _, file := range []string{"recording.rules.yml", "alerts.rules.yml"} {
		text, err := os.ReadFile(filepath.Join("../../deploy/prometheus", file))
		require.NoError(m.t, err)
		want += len(regexp.MustCompile(`(?m)^ *- (record|alert): `).FindAll(text, -1))
	}
	require.Len(m.t, rules, want)
	for name, r := range rules {
		require.Equal(m.t, "ok", r.Health, "%s: %s", name, r.LastError)
	}
}

// boards asks what the panels of the boards ask.
func (m *monitor) boards() {
	m.t.Helper()
	names, err := filepath.Glob(filepath.Join("..", "..", "deploy", "grafana", "*.json"))
	require.NoError(m.t, err)
	require.Len(m.t, names, 3)
	asked := 0
	for _, name := range names {
		b, err := os.ReadFile(name)
		require.NoError(m.t, err)
		var board struct {
			Panels []struct{ Targets []struct{ Expr string } }
		}
		require.NoError(m.t, json.Unmarshal(b, &board))
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				_, served := m.query(target.Expr)
				require.True(m.t, served, target.Expr)
				asked++
			}
		}
	}
	require.Greater(m.t, asked, 40)
}

// told holds that the alert says what broke, and where its runbook is.
func (m *monitor) told() {
	m.t.Helper()
	var data struct {
		Alerts []struct{ Labels, Annotations map[string]string }
	}
	require.True(m.t, m.get("alerts", &data))
	for _, a := range data.Alerts {
		if a.Labels["alertname"] == "UnapprovedToolExecution" {
			require.Equal(m.t, "executed_without_approval", a.Labels["invariant"])
			require.Equal(m.t, "http://localhost:8080/docs/runbooks/unapproved-tool-execution", a.Annotations["runbook_url"])
			return
		}
	}
	require.Fail(m.t, "the alert is not there", "%+v", data.Alerts)
}
