package ui_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// A model that sends no arguments means {}: that is shown, and can be changed.
func TestNoArgumentsAreShownAsWhatTheToolGets(t *testing.T) {
	for sent, words := range map[string]string{
		"": "What it sent is an empty text.", "null": "What it sent is null.", " \n ": "What it sent is 3 bytes of white space.",
	} {
		t.Run(words, func(t *testing.T) {
			w := newWorld(t, nil)
			_, q := w.ask("s1", "Write", sent)
			ben := w.as("ben")
			a := ben.get("/requests/" + q.RequestID)
			require.Equal(t, "{}", a.doc.Find(".arguments [data-layout=laid] pre").Text())
			require.Contains(t, a.text(".arguments .note"), "The model sent no arguments; the tool gets {}. "+words)
			require.Contains(t, a.text(".arguments .bar2"), "2 bytes, all shown SHA-256 "+string(events.DigestOf([]byte("{}"))))
			require.NotContains(t, a.text("article"), "too long")

			form := a.fields("#change-all")
			requireText(t, "{}", form.Get("arguments"))
			form.Set("arguments", `{"path":"a"}`)
			changed := ben.post("/requests/"+q.RequestID+"/change", form)
			require.Equal(t, http.StatusOK, changed.status)
			require.Contains(t, changed.text(".pointers"), "added /path")

			require.Equal(t, "{}", ben.get("/inbox").text(".card .sum"))
			together := ben.get(selectPath(q.RequestID))
			require.Equal(t, "{}", together.doc.Find(".picks pre").Text())
			require.Contains(t, together.text(".picks"), "The model sent no arguments")
		})
	}
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", "{}")
	require.NotContains(t, w.as("ben").get("/requests/"+q.RequestID).text(".arguments"), "sent no arguments")
}

// White space does not push a command out of sight, on any page where one decides.
func TestWhiteSpaceHidesNothing(t *testing.T) {
	for name, c := range map[string]struct{ gap, chip, inbox string }{
		"spaces":     {strings.Repeat(" ", 400), "· 400 spaces ·rm -rf /", "ls· 400 spaces ·rm -rf /"},
		"line feeds": {strings.Repeat(`\n`, 3000), "· 3,000 line feeds ·rm -rf /", "ls … +3,000 lines"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nil)
			_, q := w.ask("s1", "Bash", `{"command":"ls`+c.gap+`rm -rf /"}`)
			ben := w.as("ben")
			a := ben.get("/requests/" + q.RequestID)
			require.Contains(t, a.doc.Find("[data-layout=laid] pre").Text(), c.chip)
			require.Contains(t, a.text(".arguments .note"), "1 long run of white space in the arguments. It is shown as its length, and the text goes on after it.")
			require.Equal(t, c.inbox, a.text(".card .sum"))
			together := ben.get(selectPath(q.RequestID))
			require.Contains(t, together.doc.Find(".picks pre").Text(), c.chip)
			require.Contains(t, together.text(".picks .note"), "1 long run of white space in these arguments.")

			form := a.fields("#change-all")
			form.Set("arguments", strings.Replace(form.Get("arguments"), "rm -rf /", "ls", 1))
			changed := ben.post("/requests/"+q.RequestID+"/change", form)
			require.Contains(t, changed.doc.Find("[data-layout=laid] pre").Text(), strings.TrimSuffix(c.chip, "rm -rf /")+"ls")
			require.Contains(t, ben.get("/requests/"+q.RequestID+"/text").doc.Find("pre").Text(), "rm -rf /")
		})
	}
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", `{"command":"ls`+strings.Repeat(`\n`, 3000)+`rm -rf /"}`)
	a := w.as("ben").get("/requests/" + q.RequestID)
	require.Contains(t, a.text(".value pre"), "ls· 3,000 line feeds; line 3,001 of 3,001 follows · rm -rf /", "as the tool reads it")
	require.Contains(t, a.text("#change label"), "as the tool reads it, 3,001 lines")
}

func TestHiddenCharactersAreCountedInWords(t *testing.T) {
	for hidden, want := range map[string]string{
		"\u200b":             "1 hidden character in the arguments. It is shown as an escape.",
		"\u202e":             "1 hidden character in the arguments, a direction control. It is shown as an escape.",
		"\u200b\u200b":       "2 hidden characters in the arguments. They are shown as escapes.",
		"\u200b\u202e\u200c": "3 hidden characters in the arguments, 1 direction control among them. They are shown as escapes.",
	} {
		w := newWorld(t, nil)
		_, q := w.ask("s1", "Write", `{"path":"a`+hidden+`"}`)
		require.Equal(t, want, w.as("ben").get("/requests/"+q.RequestID).text(".arguments [data-hidden]"))
	}
}

// What a page does not know, it refuses.
func TestPartsOfARequestAreReadStrictly(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	for path, status := range map[string]int{
		"/state": http.StatusOK, "/state?x=1": http.StatusBadRequest, "/state?from=1": http.StatusBadRequest,
		"/text": http.StatusOK, "/text?from=2": http.StatusOK, "/text?from=": http.StatusOK, "/text?from=2&from=3": http.StatusBadRequest,
		"/text?from=x": http.StatusBadRequest, "/text?from=-1": http.StatusBadRequest, "/text?to=2": http.StatusBadRequest,
		"/download": http.StatusOK, "/download?from=1": http.StatusBadRequest, "/download?x": http.StatusBadRequest,
	} {
		require.Equal(t, status, ben.get("/requests/"+q.RequestID+path).status, path)
	}
}
