package ui_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// lanes are the rows of a timeline in words.
func lanes(a answer) []string {
	var out []string
	a.doc.Find("#timeline tbody tr").Each(func(_ int, row *goquery.Selection) {
		var cells []string
		row.Find("th, td:not(.track)").Each(func(_ int, cell *goquery.Selection) {
			if text := strings.Join(strings.Fields(cell.Text()), " "); text != "" {
				cells = append(cells, text)
			}
		})
		out = append(out, strings.Join(cells, " | "))
	})
	return out
}

// steps are the records of a session in words, without times and places.
func stepsOf(a answer) []string {
	var out []string
	a.doc.Find(".steps > li .what").Each(func(_ int, s *goquery.Selection) {
		out = append(out, strings.Join(strings.Fields(s.ChildrenFiltered("p").First().Text()+s.Find("summary").Text()), " "))
	})
	return out
}

func TestATimelineSaysInWordsWhatItsBarsShow(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	a := w.as("eve").get("/session?id=release")
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, []string{
		"Carla Reyes asked Release 2026-11-30 to production | Ended | took 2m 33s",
		"migrator: Read migrations/0042_release.sql | Ran | ran 32 ms",
		"migrator: Bash rm -rf ./build && make release | Ran, approved | waited 1m 0s, ran 35s",
		"migrator: Write CHANGELOG.md · 1 line, 12 bytes | Declined | waited 20s",
		"migrator: Bash psql --dry-run -f 0042.sql | Failed | waited 30s, failed after 12s",
		"migrator: Deploy production | Denied",
	}, lanes(a))
	require.Equal(t, "5 calls: 2 ran, 1 failed or not run, 2 declined or denied. 2 were approved by people.",
		strings.SplitN(a.text(".session-top .why"), "UTC. ", 2)[1])
	require.Contains(t, a.text(".watch"), "Every start has its approval, checked through #")
	bars := a.doc.Find("#timeline tbody tr").Eq(2).Find(".wait-bar, .run-bar")
	require.Equal(t, 2, bars.Length())
	require.Equal(t, "url(#hatch)", bars.Eq(0).AttrOr("fill", ""))
	require.Equal(t, "Waited 1m 0s", bars.Eq(0).Find("title").Text())
	wait, run := share(t, bars.Eq(0)), share(t, bars.Eq(1))
	require.InDelta(t, 60.0/35, wait/run, 0.05, "bars are as long as their times")
	require.Equal(t, 3, a.doc.Find("#timeline .of-run .model-bar").Length(), "two turns with calls, and the last")
	require.Equal(t, 1, a.doc.Find("pattern#hatch").Length())
}

func share(t *testing.T, bar *goquery.Selection) float64 {
	t.Helper()
	f, err := strconv.ParseFloat(strings.TrimSuffix(bar.AttrOr("width", ""), "%"), 64)
	require.NoError(t, err)
	return f
}

func TestRecordsSayWhoDidWhat(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	a := w.as("eve").get("/session?id=release")
	require.Equal(t, []string{
		"Carla Reyes asked deploy-bot",
		"The model asked for 3 tools",
		"deploy-bot / migrator asked for Read – free to run (required-tools)",
		"deploy-bot / migrator asked for Bash – people decide (required-tools)",
		"Bash waits for 1 approval, 3m 0s at most",
		"deploy-bot / migrator asked for Write – people decide (required-tools)",
		"Write waits for 1 approval, 3m 0s at most",
		"Started Read – free to run (required-tools)",
		"Finished Read in 31 ms",
		"Dana Lindqvist declined Write",
		"Write does not run: declined",
		"Ben Okafor tried to approve Write No effect: the request had ended",
		"Ben Okafor approved Bash",
		"Started Bash as Ben Okafor approved",
		"Viewed 3 times by 2 people",
		"Finished Bash in 31 ms",
		"The model asked for 2 tools",
		"deploy-bot / migrator asked for Bash – people decide (required-tools)",
		"Bash waits for 1 approval, 3m 0s at most",
		"deploy-bot / migrator asked for Deploy – denied by policy (required-tools)",
		"Deploy does not run: policy denies it",
		"Ben Okafor approved Bash with changes",
		"The changed arguments replace the model's: Bash",
		"Started Bash as Ben Okafor approved",
		"Bash failed after 31 ms",
		"The run ended (stop): 3 rounds, 5 calls, 18,402 tokens",
	}, stepsOf(a)[:26])
	folded := a.doc.Find(".steps details li")
	require.Equal(t, 3, folded.Length(), "what is folded is there")
	require.Contains(t, folded.Eq(1).Text(), "Dana Lindqvist viewed")
}

// People are told apart by who they are, not by what they are called.
func TestNamesakesAreTwoPeople(t *testing.T) {
	w := newWorld(t, nil)
	w.log.Run("s1", "carla", "q")
	w.viewed("s1", w.log.Person("p-1", "Kim", "reviewer"), w.log.Person("p-2", "Kim", "reviewer"))
	w.settle()
	require.Contains(t, stepsOf(w.as("eve").get("/session?id=s1")), "Viewed 2 times by 2 people")
}

func TestALongSessionIsDrawnInPartAndSaysSo(t *testing.T) {
	w := newWorld(t, nil)
	richStory(w)
	eve := w.as("eve")
	a := eve.get("/session?id=night")
	w.settle() // her own view is the last record
	require.Less(t, len(a.body), 60<<10)
	require.Len(t, lanes(a), 30)
	require.Regexp(t, `The last \d+ of 48 calls are drawn\. \d+ idle times are drawn short, the longest of 3h 20m\.`, a.text("#timeline .hint"))
	require.Regexp(t, `^migrator: Bash check 23 \| Waiting \| has waited \d+ ms$`, lanes(a)[29])
	require.NotZero(t, a.doc.Find("#breaks .gap-bar title").Length())
	seen := map[string]bool{}
	for path, pages := "/session?id=night", 0; path != ""; pages++ {
		a = eve.get(path)
		require.Equal(t, http.StatusOK, a.status)
		a.doc.Find(".steps > li > .meta").Each(func(_ int, s *goquery.Selection) {
			require.False(t, seen[s.Text()], "%s twice", s.Text())
			seen[s.Text()] = true
		})
		require.Equal(t, pages == 0, a.doc.Find("#timeline").Length() == 1, "the timeline stands on the first page")
		require.Less(t, pages, 10)
		path = a.doc.Find(".pager a[rel=next]").AttrOr("href", "")
	}
	require.Len(t, seen, 258)
}

// Of very many runs a page looks at a part, and says so; the runs of the calls
// that it draws are drawn, however late they came.
func TestASessionOfMoreRunsThanAPageReads(t *testing.T) {
	w := newWorld(t, nil)
	for i := range 501 {
		run := w.run("s1", itoa(i))
		w.log.Append(events.Draft{Session: "s1", Data: &events.RunFinished{RunID: run, Reason: events.FinishStop, Rounds: 1, Usage: events.Usage{Total: 2}}})
	}
	run := w.run("s1", "the last")
	w.log.Round("s1", run, "b1", 1, 1, "Looking.")
	w.log.Propose("s1", run, "b1", 0, "Glob", `{"pattern":"*"}`, events.EffectAllow)
	w.settle()
	a := w.as("eve").get("/session?id=s1")
	require.Contains(t, a.text(".session-top .chips, .session-top .row"), "at least 1,000 tokens")
	rows := lanes(a)
	require.Regexp(t, `^carla asked the last`, rows[len(rows)-2])
	require.Regexp(t, `Glob`, rows[len(rows)-1])
}

func TestASessionThatBreaksAPromiseSaysSo(t *testing.T) {
	w := newWorld(t, nil)
	call, _ := w.ask("bad", "Bash", `{"command":"ls"}`)
	w.log.Start(call, nil, "") // nobody approved
	w.settle()
	a := w.as("eve").get("/session?id=bad")
	require.Zero(t, a.doc.Find(".watch").Length())
	require.Contains(t, a.text(".note.bad"), "1 record breaks what the gate promises.")
	require.Contains(t, a.text(".note.bad li"), "A tool started without an approval")
	link := a.doc.Find(".note.bad a").AttrOr("href", "")
	require.Contains(t, link, "/call?")
	require.Equal(t, http.StatusOK, w.as("eve").get(link).status)
}

func TestHeadAndTimelineAloneAreForWhoMayReadTheSession(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s1", "Bash", `{"command":"ls"}`)
	eve := w.as("eve")
	live := eve.get("/session?id=s1").doc.Find("#session").AttrOr("data-live", "")
	require.Equal(t, "/session/live?id=s1", live)
	part := eve.get(live)
	require.Equal(t, http.StatusOK, part.status)
	require.Equal(t, 1, part.doc.Find("#session .chip.wait").Length())
	require.Equal(t, 2, part.doc.Find("#timeline tbody tr").Length())
	require.Zero(t, part.doc.Find("nav").Length())
	require.Equal(t, http.StatusNotFound, eve.get("/session/live?id=none").status)
	require.Equal(t, http.StatusBadRequest, eve.get("/session/live?id=s1&x=1").status)
	require.Equal(t, http.StatusUnauthorized, w.stranger().get(live).status)
}

func TestASessionUnderWayIsFreshenedWhereItIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t, nil)
	w.log.SetNow(time.Now())
	call, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ctx, complaints := w.browser(t, "ben")
	do(t, ctx, chromedp.Navigate(w.server.URL+"/session?id=s1"), chromedp.WaitVisible("#timeline"))
	until(t, ctx, `document.querySelector("#live").dataset.state === "live"`)
	const last = `document.querySelector("#timeline tbody tr:last-child .chip").textContent.trim()`
	require.Equal(t, "Waiting", eval[string](t, ctx, last))
	eval[bool](t, ctx, `(document.querySelector("#timeline tbody tr:last-child a").focus(), true)`)
	decision := w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictApprove, "")
	w.log.Start(call, &q, decision)
	until(t, ctx, last+` === "Running"`)
	require.Equal(t, "Bash", eval[string](t, ctx, `document.activeElement.textContent`), "the focus stays")
	w.log.Protected("s1", "run-s1", "b2", 0, "Write", `{"path":"a"}`)
	until(t, ctx, `document.querySelector("#timeline .new")?.textContent === "1 new, show"`)
	require.Equal(t, 2, eval[int](t, ctx, `document.querySelectorAll("#timeline tbody tr").length`), "nothing comes by itself")
	do(t, ctx, chromedp.Click("#timeline .new"))
	require.Equal(t, "Write", eval[string](t, ctx, `document.querySelector("#timeline tbody tr:last-child b").textContent`))
	require.Empty(t, complaints())
}
