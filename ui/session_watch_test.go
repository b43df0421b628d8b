package ui_test

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// started writes a call of Read in a session of its own, and its start, both
// changed as asked.
func (w *world) started(session string, call func(*events.ToolCall), start func(*events.ToolStarted)) {
	p := events.NewPayload([]byte(`{}`))
	c := events.ToolCall{
		CallKey: events.CallKey{BatchID: "b1"}, CallID: "call", Tool: "Read", ToolSource: events.SourceBuiltin, Arguments: p.Ref(events.MediaJSON),
		Agent: events.Agent{Name: "deploy-bot"}, Model: "default", Principal: "carla", Enforcement: events.Enforced, Effect: events.EffectAllow,
		Rule: "default", PolicyDigest: events.DigestOf([]byte(policyText)),
	}
	call(&c)
	m := w.log.Append(events.Draft{Session: session, Payloads: []events.Payload{p}, Data: &c})[0]
	s := events.ToolStarted{
		CallKey: c.CallKey, Tool: c.Tool, RequestDigest: m.Digest(), Arguments: c.Arguments.CarriedBy(m.ID), Executor: "test/boot",
		Enforcement: c.Enforcement, Isolation: "none", Warrant: events.Warrant{Kind: events.WarrantRule, Rule: c.Rule, PolicyDigest: c.PolicyDigest},
	}
	start(&s)
	w.log.Append(events.Draft{Session: session, Data: &s, Causation: m.ID})
}

// watchedStory is a session of each state that the watch tells apart.
func watchedStory(w *world) {
	p := events.NewPayload([]byte(policyText))
	w.log.Append(events.Draft{Payloads: []events.Payload{p}, Data: &events.Definition{
		Kind: events.DefinePolicy, Name: "policy", Digest: events.DigestOf([]byte(policyText)), Content: p.Ref(events.MediaJSON),
	}})
	asIs := func(*events.ToolStarted) {}
	w.started("holds", func(*events.ToolCall) {}, asIs)
	w.started("untold", func(e *events.ToolCall) { e.PolicyDigest = pt.Digest("never told") }, asIs)
	w.started("elsewhere", func(e *events.ToolCall) { e.Enforcement = events.Observed }, asIs)
	w.started("past", func(*events.ToolCall) {}, func(e *events.ToolStarted) { e.Enforcement = events.Observed })
	w.settle()
}

// The badge of a session tells four states apart, and says that the gate held of
// none but the first.
func TestTheBadgeSaysWhatTheWatchKnows(t *testing.T) {
	w := newWorld(t, nil)
	watchedStory(w)
	eve := w.as("eve")
	list := eve.get("/sessions")
	for i, c := range []struct{ session, chip, says string }{
		{"past", "1 violation", "1 record breaks what the gate promises."},
		{"elsewhere", "1 not enforced", "1 start ran elsewhere: not enforced by us."},
		{"untold", "1 not judged", "1 start cannot be judged: the policy's text is not in the log."},
		{"holds", "In order", "Every start has its approval, checked through"},
	} {
		require.Equal(t, c.chip, cellsOf(list, i)[2], c.session)
		page := eve.get("/session?id=" + c.session)
		require.Contains(t, page.text(".session-top"), c.says)
		require.Equal(t, c.session == "holds", strings.Contains(page.text(".session-top"), "Every start has its approval"), c.session)
	}
	for query, want := range map[string]string{"violations": "past", "unverified": "untold"} {
		page := eve.get("/sessions?watch=" + query)
		require.Equal(t, 1, page.doc.Find("tbody tr").Length(), query)
		require.Equal(t, want, page.text("td[data-label=Session]"))
	}
	require.Equal(t, "Watch starts not judged", chipsIn(eve.get("/sessions?watch=unverified")))
}

// All that the watch found, wherever it was, in log order and in pages, for whoever
// may read it.
func TestTheListOfViolations(t *testing.T) {
	w := newWorld(t, nil)
	watchedStory(w)
	const more = 60
	for range more {
		w.log.Append(events.Draft{Session: "nobody's", Data: &events.ToolStarted{
			CallKey: events.CallKey{BatchID: "none"}, Tool: "Bash", RequestDigest: pt.Digest("x"), Executor: "intruder/boot", Isolation: "none",
			Arguments: events.NewPayload(nil).Ref(events.MediaJSON), Enforcement: events.Enforced,
			Warrant: events.Warrant{Kind: events.WarrantRule, Rule: "default", PolicyDigest: pt.Digest("x")},
		}})
	}
	w.settle()
	eve, rows := w.as("eve"), [][]string{}
	for path := "/violations"; path != ""; {
		page := eve.get(path)
		require.Equal(t, http.StatusOK, page.status, path)
		requireClean(t, page)
		page.doc.Find("tbody tr").Each(func(_ int, s *goquery.Selection) {
			rows = append(rows, []string{s.Find("td").Eq(1).Text(), s.Find("td").Eq(2).Text(), s.Find("td").Eq(3).Text()})
		})
		path = page.doc.Find("a[rel=next]").AttrOr("href", "")
	}
	require.Len(t, rows, more+1)
	require.Equal(t, []string{"A tool started without an approval", "it starts a call that nobody asked for", "nobody's"}, rows[0])
	require.Equal(t, []string{"A tool is said to have run past the gate", "it says observed of a call that was recorded as enforced", "past"}, rows[more])

	page := eve.get("/violations")
	require.Contains(t, eve.get(page.doc.Find("td[data-label=Position] a").AttrOr("href", "")).text("h2"), "tool_started")
	require.Equal(t, "/session?id=nobody%27s", page.doc.Find("td[data-label=Session] a").AttrOr("href", ""))
	require.Equal(t, http.StatusOK, eve.get(page.doc.Find("p.hint a").AttrOr("href", "")).status)
	require.Equal(t, http.StatusBadRequest, eve.get("/violations?x=1").status)
	require.Equal(t, http.StatusBadRequest, eve.get("/violations?before=x").status)
	require.Contains(t, w.as("ben").get("/violations").text("main"), "none, in what you may read", "who may not read a session learns nothing of it")
}

// U29, for what the watch says: axe-core finds nothing, light and wide, dark and
// narrow.
func TestU29WhatTheWatchSays(t *testing.T) {
	t.Parallel()
	folder := cmp.Or(os.Getenv("COUNTERSIGN_SCREENSHOTS"), t.TempDir())
	w := newWorld(t, nil)
	watchedStory(w)
	ctx, complaints := w.browser(t, "eve")
	for name, path := range map[string]string{
		"violations": "/violations", "watched": "/sessions", "past": "/session?id=past", "untold": "/session?id=untold", "elsewhere": "/session?id=elsewhere",
	} {
		for _, l := range []look{{"light", 1280}, {"dark", 320}} {
			at := name + "-" + l.String()
			l.open(t, ctx, w.server.URL+path)
			requireGood(t, ctx, at)
			png, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
			require.NoError(t, err)
			require.NoError(t, os.WriteFile(filepath.Join(folder, at+".png"), png, 0o600))
		}
	}
	require.Empty(t, complaints())
}

// The policy names a tool of a server by both, so the page of tools asks it by
// both.
func TestToolsOfServersAreJudgedWithTheirServer(t *testing.T) {
	w := newWorld(t, nil)
	w.define(events.DefinePolicy, "policy", strings.Replace(policyText, `"allowed_tools":[]`, `"allowed_tools":["files__read_*"]`, 1))
	for _, name := range []string{"files__read_text", "files__write_text", "evil__read_text"} {
		w.define(events.DefineTool, name, strings.Replace(toolText(name, "x"), "builtin-tools", "mcp", 1))
	}
	w.settle()
	a := w.as("ben").get("/tools")
	got := map[string]string{}
	for _, row := range rows(a, ".bars", "Now") {
		got[row[0]] = row[1]
	}
	require.Equal(t, map[string]string{
		"files__read_text an MCP server":  "Free allowed-tools",
		"files__write_text an MCP server": "People decide default",
		"evil__read_text an MCP server":   "People decide default",
	}, got)
	require.Contains(t, w.as("ben").get("/tools/view?name=files__read_text").text(".head .why"), "The policy says allow (rule allowed-tools)")
}
