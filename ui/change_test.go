package ui_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

func TestApproveWithChanges(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a","content":"x"}`)
	ben := w.as("ben")
	page := ben.get("/requests/" + q.RequestID + "?change=1")
	require.Equal(t, 1, page.doc.Find("details#change[open]").Length())
	form := page.fields("#change")
	requireText(t, "{\n  \"path\": \"a\",\n  \"content\": \"x\"\n}", form.Get("arguments"))

	form.Set("arguments", strings.ReplaceAll("{\n  \"path\": \"b\",\n  \"content\": \"x\"\n}", "\n", "\r\n")) // as browsers post it
	preview := ben.post("/requests/"+q.RequestID+"/change", form)
	require.Equal(t, http.StatusOK, preview.status)
	require.Zero(t, w.gate.count(), "nothing is decided by looking")
	require.Equal(t, `- "path": "a",`, preview.text(".diff .d"))
	require.Equal(t, `+ "path": "b",`, preview.text(".diff .a"))

	confirm := preview.fields("form.decide")
	confirm.Set("verdict", "approve_and_modify")
	confirm.Set("arguments", strings.ReplaceAll(confirm.Get("arguments"), "\n", "\r\n"))
	a := ben.post("/requests/"+q.RequestID+"/decide", confirm)
	require.Equal(t, http.StatusSeeOther, a.status)
	require.Equal(t, events.VerdictModify, w.gate.last().Verdict)
	requireText(t, "{\n  \"path\": \"b\",\n  \"content\": \"x\"\n}", string(w.gate.last().Arguments), "exactly what the page showed")
	after := ben.get("/requests/" + q.RequestID)
	require.Contains(t, after.text(".outcome"), "Approved with changes by Ben Okafor")
	require.Contains(t, after.text(".diff .a"), `"b"`)
}

func TestChangesThatCannotRunComeBackWithTheirText(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	for text, want := range map[string]string{
		`{"path":`: "Arguments are not valid", `["a"]`: "must be one JSON object", `{"a":1,"a":2}`: "duplicate", `{} x`: "",
		strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70): "nested deeper than 64 levels",
	} {
		form := ben.get("/requests/" + q.RequestID).fields("#change")
		form.Set("arguments", text)
		a := ben.post("/requests/"+q.RequestID+"/change", form)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, text)
		require.Contains(t, a.text("[role=alert]"), want)
		require.Zero(t, a.doc.Find("button[value=approve_and_modify]").Length(), text)
		require.Equal(t, text, a.fields("#change").Get("arguments"))
	}
	require.Zero(t, w.gate.count())
}

func TestTheGatesRefusalOfAChangeComesBack(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("#change")
	form.Set("verdict", "approve_and_modify")
	form.Set("arguments", `{"path":7}`)
	form.Set("comment", "mine")
	w.gate.set("the changed arguments cannot run: path: want a string", nil)
	a := ben.post("/requests/"+q.RequestID+"/decide", form)
	require.Equal(t, http.StatusUnprocessableEntity, a.status)
	require.Contains(t, a.text("[role=alert]"), "Nothing was approved. The changed arguments cannot run: path: want a string.")
	require.Equal(t, `{"path":7}`, a.fields("#change").Get("arguments"))
	require.Equal(t, "mine", a.doc.Find("form.decide input[name=comment]").AttrOr("value", ""))
}

func TestHiddenCharactersAreEscapesInTheField(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", "{\"command\":\"a\u202eb\U000e0041\"}")
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("#change")
	requireText(t, "{\n  \"command\": \"a\\u202eb\\udb40\\udc41\"\n}", form.Get("arguments"))
	form.Set("arguments", "{\"command\":\"x\u200b\"}")
	preview := ben.post("/requests/"+q.RequestID+"/change", form)
	requireText(t, `{"command":"x\u200b"}`, preview.fields("form.decide").Get("arguments"))
	require.Contains(t, preview.text(".arguments .note"), "1 hidden character")
}

func TestAChangeOfAnotherTextIsNotShown(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("#change")
	w.log.Decide(q, w.log.Person("p-dana", "Dana", "reviewer"), events.VerdictDecline, "")
	w.settle()
	a := ben.post("/requests/"+q.RequestID+"/change", form)
	require.Equal(t, http.StatusConflict, a.status)
	require.Contains(t, a.text("main"), "Declined by Dana")
}

// requireText compares to the byte: what runs is the text, not its meaning.
func requireText(t *testing.T, want, got string, why ...any) {
	t.Helper()
	require.Equal(t, []byte(want), []byte(got), why...)
}
