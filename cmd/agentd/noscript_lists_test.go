package main_test

import (
	"encoding/csv"
	"encoding/json"
	"strings"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"
)

// filterBy is a field of a filter, what is chosen in it by its words, or typed,
// and what comes of it.
type filterBy struct {
	field, choice string
	rows          int // on the first page; some: at least one
	says          string
}

// some is at least one row.
const some = -1

// by fills in a field of a list's filter, filters, and goes back.
func (v *bare) by(list string, f filterBy) {
	v.t.Helper()
	b := v.browser
	v.open(list)
	field := ".filters [name=" + f.field + "]"
	chosen := f.choice
	if b.ask(`document.querySelector("`+field+`").tagName`) == "SELECT" {
		chosen = b.ask(`[...document.querySelector("` + field + `").options].find(o => o.text.trim() === "` + f.choice + `")?.value ?? "none"`)
		require.NotEqual(v.t, "none", chosen, "%s by %s offers no %s", list, f.field, f.choice)
	}
	b.do(chromedp.SetValue(chromedp.CSS(field), chosen))
	v.follow(".filters > button", list+"?")
	rows := v.count("#main tbody tr")
	require.True(v.t, rows == f.rows || f.rows == some && rows > 0, "%s by %s %s: %d rows", list, f.field, f.choice, rows)
	require.Contains(v.t, v.main(), f.says, "%s by %s %s", list, f.field, f.choice)
	require.Equal(v.t, 1, v.count(".active .filter"))
	v.follow(".active .filter", list)
	require.NotContains(v.t, b.location(), f.field+"=")
}

func (v *bare) filters() {
	for _, f := range []filterBy{
		{"state", "declined or denied", 1, "rm -rf ."},
		{"state", "did not run", 1, "rm -rf ."},
		{"tool", "Count", 3, "key: three"},
		{"agent", "main", rowsOfAPage, "Older"},
		{"from", "1h", rowsOfAPage, "Older"},
		{"to", "1h", 0, "No call"},
		{"rule", "required-tools", 7, "Bash"},
		{"decider", "local admin", 4, "local admin"},
		{"asker", "agent", rowsOfAPage, "Older"},
		{"session", v.many, rowsOfAPage, "Tally"},
	} {
		v.by("/history", f)
	}
	v.hidden(".follow") // nothing comes in by itself, and nothing says so
}

func (v *bare) search() {
	b := v.browser
	v.open("/insights")
	b.do(chromedp.Focus(chromedp.CSS("#search")), chromedp.SendKeys(chromedp.CSS("#search"), "git clean"))
	require.Equal(v.t, 200, b.leaves(chromedp.KeyEvent(kb.Enter)))
	require.Equal(v.t, "/history?q=git+clean", b.location())
	require.Equal(v.t, 1, v.count("#main tbody tr"))
	require.Equal(v.t, "git", b.text("mark"))
	b.do(chromedp.SetValue(chromedp.CSS(".filters [name=tool]"), "Bash"))
	v.follow(".filters > button", "/history?")
	require.Contains(v.t, b.location(), "q=git+clean", "a filter keeps what is searched for")
	b.do(chromedp.SendKeys(chromedp.CSS("#search"), " nowhere"))
	require.Equal(v.t, 200, b.leaves(chromedp.KeyEvent(kb.Enter)))
	require.Contains(v.t, b.location(), "tool=Bash", "a search keeps the filter")
	require.Contains(v.t, v.main(), "No call")
}

func (v *bare) paging() {
	v.open("/history")
	first := v.browser.text("#main tbody")
	require.Equal(v.t, rowsOfAPage, v.count("#main tbody tr"))
	v.follow(".pager [rel=next]", "/history?before=")
	require.Equal(v.t, manyCalls+7-rowsOfAPage, v.count("#main tbody tr"))
	v.follow(".pager [rel=prev]", "/history?after=")
	require.Equal(v.t, rowsOfAPage, v.count("#main tbody tr"))
	v.follow(".pager a", "/history")
	require.Equal(v.t, first, v.browser.text("#main tbody"))
}

func (v *bare) export() {
	v.open("/history?tool=Count")
	name, text := v.download(".export [value=csv]")
	require.Contains(v.t, name, ".csv")
	r := csv.NewReader(strings.NewReader(text))
	r.FieldsPerRecord = -1 // the trailer has its own
	rows, err := r.ReadAll()
	require.NoError(v.t, err)
	require.Len(v.t, rows, 1+3+1, "a head, three calls, a trailer: %s", text)

	name, text = v.download(".export [value=ndjson]")
	require.Contains(v.t, name, ".ndjson")
	lines := strings.Split(strings.TrimSpace(text), "\n")
	require.Len(v.t, lines, 3+1)
	for _, line := range lines {
		require.True(v.t, json.Valid([]byte(line)), line)
	}
}

func (v *bare) call() {
	v.open("/history?state=declined")
	v.follow(`tbody a[href^="/call"]`, "/call?")
	require.Contains(v.t, v.main(), "rm -rf .")
	_, text := v.download(`.arguments a[href*="download"]`)
	require.Equal(v.t, `{"command":"rm -rf ."}`, text) //nolint:testifylint // to the byte
	v.follow(`a[href^="/requests/"]`, "/requests/"+v.bash)
	v.open("/history?tool=Write")
	v.follow(`tbody tr:first-child a[href^="/call"]`, "/call?")
	v.follow(`.arguments a[href^="/call/text"]`, "/call/text?")

	v.open("/history?state=declined")
	v.follow(`tbody a[href^="/at/"]`, "/at/0/")
	place := v.browser.location()
	_, record := v.download(`#main .row a[href*="/at/"]`)
	require.NotEmpty(v.t, record)
	v.follow(".pager a", "/at/0/")
	v.follow(".pager [rel=next]", place)
}

func (v *bare) sessions() {
	for _, f := range []filterBy{
		{"state", "waits for people", 3, "main"},
		{"watch", "violations found", 0, "No session"},
		{"agent", "main", 7, "main"},
		{"asker", "agent", 7, "agent"},
		{"from", "1h", 7, "main"},
		{"to", "1h", 0, "No session"},
	} {
		v.by("/sessions", f)
	}
	v.hidden(".follow")
}

func (v *bare) session() {
	v.open("/sessions")
	v.follow(`tbody a[href$="`+v.many+`"]`, "/session?id=")
	require.NotZero(v.t, v.count(".lanes tbody tr"))
	require.Contains(v.t, v.browser.text(".watch"), "Every start has its approval")
	v.follow(".pager [rel=next]", "/session?")
	require.Contains(v.t, v.main(), "Tally")
	v.follow(".pager a", "/session?id=")
	v.follow(".lanes a", "/call?")
	v.open("/session?id=" + v.many)
	v.follow(`.steps a[href^="/at/"]`, "/at/0/")
}

func (v *bare) tools() {
	v.open("/tools")
	v.follow(`tbody a[href*="Tally"]`, "/tools/view?name=Tally")
	require.Contains(v.t, v.main(), "counts")
	v.follow(`#main a[href^="/history?"]`, "/history?tool=Tally")
	require.Equal(v.t, rowsOfAPage, v.count("#main tbody tr"))
}

func (v *bare) insights() {
	v.open("/insights")
	for _, span := range []string{"24h", "7d", "30d", "90d"} {
		v.follow(`.spans a[href$="span=`+span+`"]`, "/insights?span="+span)
		require.Equal(v.t, 1, v.count(`.spans [aria-current]`))
		require.NotZero(v.t, v.count("#main svg"), span)
		require.Contains(v.t, v.main(), "local admin", span)
	}
	b := v.browser
	b.do(chromedp.SetValue(chromedp.CSS("[name=from]"), "2020-01-01"), chromedp.SetValue(chromedp.CSS("[name=to]"), "2020-01-31"))
	v.follow(".spans button", "/insights?from=2020-01-01&to=2020-01-31")
	require.Contains(v.t, v.main(), "No ")
}

func (v *bare) access() {
	for _, f := range []filterBy{
		{"person", "local admin", some, "local admin"},
		{"action", "began an export", 2, "history"},
		{"outcome", "done", some, "signed in"},
		{"from", "1h", some, "signed in"},
		{"to", "1h", 0, "Nothing is on record"},
	} {
		v.by("/access", f)
	}
	v.open("/access")
	_, text := v.download(".export [value=ndjson]")
	require.Contains(v.t, text, "history")
	_, text = v.download(".export [value=csv]")
	require.Contains(v.t, text, "history")
}

func (v *bare) system() {
	v.open("/system")
	v.browser.do(chromedp.Click(chromedp.CSS("#main details summary")))
	require.Contains(v.t, v.browser.text("#main details"), "Count")
	v.follow(`a[href="/docs/runbooks"]`, "/docs/runbooks")
	v.follow(".runbooks a", "/docs/runbooks/")
	v.follow(`#main a[href="/docs/runbooks"]`, "/docs/runbooks")
	require.Greater(v.t, v.count(".runbooks a"), 3)
}

func (v *bare) shortcuts() {
	v.open("/inbox")
	v.hidden(".decide kbd")
	v.follow(`.foot a[href="/keys"]`, "/keys")
	v.hidden("[data-keys-switch]")
	require.Contains(v.t, v.main(), "Without scripts there are no shortcuts")
	require.Equal(v.t, "3", v.browser.ask(`document.querySelector("#pending").firstChild.textContent`))
}

func (v *bare) signOut() {
	v.follow(".who button", "/sign-in")
	v.browser.open(v.agentd.console() + "/history")
	require.Equal(v.t, "/sign-in?next=%2Fhistory", v.browser.location())
}
