package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

func selectPath(ids ...string) string { return "/inbox/select?" + url.Values{"id": ids}.Encode() }

// bulkForm is the form of the page that asks once more.
func bulkForm(a answer, verdict string) url.Values {
	form := url.Values{"verdict": {verdict}, "comment": {""}}
	form.Set("bulk", a.doc.Find("input[name=bulk]").AttrOr("value", ""))
	form["item"] = a.doc.Find("input[name=item]").Map(func(_ int, s *goquery.Selection) string { return s.AttrOr("value", "") })
	return form
}

// decisions are the decisions in the log, by request.
func (w *world) decisions(t *testing.T) map[string][]*events.Decision {
	t.Helper()
	w.settle()
	all := map[string][]*events.Decision{}
	calls, err := w.views.History(t.Context(), projections.Filter{Reader: projections.Everything()}, "", 1000)
	require.NoError(t, err)
	for _, c := range calls.Items {
		if c.Request == nil {
			continue
		}
		list, err := w.views.Decisions(t.Context(), c.Request.RequestID, 1000)
		require.NoError(t, err)
		for _, d := range list {
			if e, ok := d.Event.(*events.Decision); ok {
				all[e.RequestID] = append(all[e.RequestID], e)
			}
		}
	}
	return all
}

// U32: n requests get n decisions that share one id.
func TestU32SeveralAreDecidedAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	_, one := w.ask("s1", "Bash", `{"command":"ls a"}`)
	_, two := w.ask("s2", "Bash", `{"command":"ls b"}`)
	_, third := w.ask("s3", "Bash", `{"command":"ls c"}`)
	ben := w.as("ben")
	inbox := ben.get("/inbox")
	require.Equal(t, 3, inbox.doc.Find("form[action='/inbox/select'] input[name=id]").Length(), "chosen without a script")
	page := ben.get(selectPath(one.RequestID, two.RequestID, third.RequestID))
	require.Equal(t, http.StatusOK, page.status)
	requireClean(t, page)
	for i, want := range []string{`"ls a"`, `"ls b"`, `"ls c"`} {
		item := page.doc.Find(".picks > li").Eq(i)
		require.Contains(t, item.Find("pre").Text(), want)
		require.Zero(t, item.Find("pre").Closest("details").Length(), "nothing of it is folded")
	}
	require.Zero(t, w.gate.count())

	form := bulkForm(page, "decline")
	form.Set("comment", "not today")
	form["item"] = form["item"][:2] // the third was taken out
	done := ben.post("/inbox/decide", form)
	require.Equal(t, http.StatusOK, done.status)
	require.Contains(t, done.text("h2"), "2 of 2 requests declined")
	log := w.decisions(t)
	require.Len(t, log, 2)
	for _, q := range []pt.Request{one, two} {
		require.Len(t, log[q.RequestID], 1)
		d := log[q.RequestID][0]
		require.Equal(t, form.Get("bulk"), d.Bulk)
		require.Equal(t, events.VerdictDecline, d.Verdict)
		require.Equal(t, q.Digest, d.Seen.Digest, "each was delivered")
		require.NotNil(t, d.Comment)
	}
	require.Equal(t, 2, strings.Count(done.text(".results"), "Declined by Ben Okafor"))

	again := ben.post("/inbox/decide", form)
	require.Contains(t, again.text("h2"), "2 of 2", "the same form gets the same answers")
	require.Len(t, w.decisions(t)[one.RequestID], 1)
}

// U32: what one of them meets neither hides nor undoes the others.
func TestU32OneThatFailsDoesNotUndoTheOthers(t *testing.T) {
	w := newWorld(t, nil)
	_, one := w.ask("s1", "Bash", `{"command":"ls a"}`)
	_, two := w.ask("s2", "Bash", `{"command":"ls b"}`)
	_, third := w.ask("s3", "Bash", `{"command":"ls c"}`)
	ben := w.as("ben")
	form := bulkForm(ben.get(selectPath(one.RequestID, two.RequestID, third.RequestID)), "approve")
	w.gate.refused[two.RequestID] = "the request was declined by Dana"
	done := ben.post("/inbox/decide", form)
	require.Equal(t, http.StatusOK, done.status)
	require.Contains(t, done.text("h2"), "2 of 3 requests approved")
	rows := done.doc.Find(".results > li")
	require.Equal(t, 3, rows.Length())
	require.Contains(t, rows.Eq(1).Text(), "No effect")
	require.Contains(t, rows.Eq(1).Text(), "The request was declined by Dana.")
	log := w.decisions(t)
	require.Len(t, log[one.RequestID], 1)
	require.Empty(t, log[two.RequestID])
	require.Len(t, log[third.RequestID], 1)
}

// What is not alike, or cannot be read among others, is decided on its own.
func TestWhatIsNotDecidedTogether(t *testing.T) {
	w := newWorld(t, nil)
	_, first := w.ask("s1", "Bash", `{"command":"ls"}`)
	ask := func(session, tool, arguments string, change func(*events.ApprovalRequest)) string {
		call := w.log.Propose(session, w.log.Run(session, "carla", "x"), "b1", 0, tool, arguments, events.EffectAsk)
		q := w.log.Ask(call, change)
		w.gate.add(q)
		w.settle()
		return q.RequestID
	}
	none := func(*events.ApprovalRequest) {}
	ended := ask("s9", "Bash", `{}`, none)
	w.log.Decide(w.gate.requests[ended], w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	for why, id := range map[string]string{
		"It is a call of another tool.":                       ask("s2", "Write", `{"path":"a"}`, none),
		"Another rule asked for it.":                          ask("s3", "Bash", `{}`, func(a *events.ApprovalRequest) { a.Rule = "destructive" }),
		"It needs more than one approval.":                    ask("s4", "Bash", `{}`, func(a *events.ApprovalRequest) { a.Quorum = 2 }),
		"Its arguments are too long to be read among others.": ask("s5", "Bash", `{"command":"`+strings.Repeat("x", 9000)+`"}`, none),
		"Its arguments hold hidden characters.":               ask("s6", "Bash", "{\"command\":\"a\u202eb\"}", none),
		"Its arguments are not what a tool takes.":            ask("s7", "Bash", `{"command":`, none),
		"It does not wait any more.":                          ended,
		"It changes a file that exists: its own page shows how.": ask("s8", "Bash", `{}`, func(a *events.ApprovalRequest) {
			a.Target = &events.Target{Path: "a", Digest: events.DigestOf([]byte("before"))}
		}),
	} {
		t.Run(why, func(t *testing.T) {
			w.settle()
			a := w.as("ben").get(selectPath(first.RequestID, id))
			require.Equal(t, http.StatusOK, a.status)
			require.Contains(t, a.text("ul.turn"), why)
			require.Equal(t, "/requests/"+id, a.doc.Find("ul.turn a").AttrOr("href", ""))
			require.Equal(t, 1, a.doc.Find("input[name=item]").Length(), "the first alone")
			require.NotContains(t, a.doc.Find("input[name=item]").AttrOr("value", ""), id)
		})
	}
}

func TestSelectionsAreReadStrictly(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls"}`)
	ben := w.as("ben")
	for path, status := range map[string]int{
		"/inbox/select": http.StatusBadRequest, "/inbox/select?id=": http.StatusForbidden, "/inbox/select?id=x": http.StatusForbidden,
		selectPath(q.RequestID, q.RequestID): http.StatusBadRequest, selectPath(q.RequestID) + "&x=1": http.StatusBadRequest,
		selectPath(strings.Split(strings.Repeat("x ", 21), " ")[:21]...): http.StatusBadRequest,
	} {
		require.Equal(t, status, ben.get(path).status, path)
	}
	good := bulkForm(ben.get(selectPath(q.RequestID)), "approve")
	for name, change := range map[string]func(url.Values){
		"no item": func(f url.Values) { f.Del("item") }, "no verdict": func(f url.Values) { f.Del("verdict") },
		"a change": func(f url.Values) { f.Set("verdict", "approve_and_modify") }, "no id": func(f url.Values) { f.Del("bulk") },
		"half an item": func(f url.Values) { f["item"] = []string{q.RequestID} }, "a long comment": func(f url.Values) { f.Set("comment", strings.Repeat("x", 4001)) },
		"many": func(f url.Values) { f["item"] = strings.Split(strings.Repeat(f.Get("item")+"|", 21), "|")[:21] },
	} {
		f := url.Values{}
		for k, v := range good {
			f[k] = append([]string{}, v...)
		}
		change(f)
		require.Equal(t, http.StatusBadRequest, ben.post("/inbox/decide", f).status, name)
	}
	require.Equal(t, http.StatusForbidden, w.as("eve").post("/inbox/decide", good).status)
	require.Equal(t, http.StatusForbidden, w.as("eve").get(selectPath(q.RequestID)).status)
	require.Zero(t, w.gate.count())
}

// What holds for the page that offers several holds for what is posted, whoever
// made the form.
func TestU32AForgedFormDecidesNoneThatDoesNotBelong(t *testing.T) {
	w := newWorld(t, nil)
	_, one := w.ask("s1", "Bash", `{"command":"ls a"}`)
	_, other := w.ask("s2", "Write", `{"path":"a","content":"x"}`)
	_, hidden := w.ask("s3", "Bash", "{\"command\":\"ls \u202e\"}")
	ben := w.as("ben")
	form := bulkForm(ben.get(selectPath(one.RequestID)), "approve")
	for _, q := range []pt.Request{other, hidden} {
		form["item"] = append(form["item"], strings.Join([]string{q.RequestID, string(q.Digest), "made-up", "key-" + q.RequestID}, " "))
	}
	done := ben.post("/inbox/decide", form)
	require.Contains(t, done.text("h2"), "1 of 3 requests approved")
	require.Contains(t, done.text(".results"), "it is a call of another tool")
	require.Contains(t, done.text(".results"), "its arguments hold hidden characters")
	log := w.decisions(t)
	require.Len(t, log[one.RequestID], 1)
	require.Empty(t, log[other.RequestID])
	require.Empty(t, log[hidden.RequestID])

	form["item"] = []string{form["item"][0], form["item"][0]}
	require.Equal(t, http.StatusBadRequest, ben.post("/inbox/decide", form).status, "one request, counted twice")
}

// A number that no list is as long as leads to its end.
func TestToolsHaveAnEnd(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("s1", "Bash", `{"command":"ls"}`)
	require.Equal(t, http.StatusOK, w.as("eve").get("/tools?from=9223372036854775807").status)
}
