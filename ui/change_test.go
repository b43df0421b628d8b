package ui_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui"
)

func TestApproveWithChanges(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a","content":"x"}`)
	ben := w.as("ben")
	page := ben.get("/requests/" + q.RequestID + "?change=1")
	require.Equal(t, 1, page.doc.Find("details#change[open]").Length())
	form := page.fields("#change-all")
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

// What the gate would refuse is refused before approving is offered.
func TestChangesThatCannotRunComeBackWithTheirText(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Checker = checker{} })
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	for text, want := range map[string]string{
		`{"path":`: "The text ends too early", `["a"]`: "must be one JSON object", `{"a":1,"a":2}`: "name stands twice in one object, at /a",
		`{} x`: "Something follows the object", `{"path":7}`: `at "/path": got number, want string`,
		strings.Repeat(`{"a":`, 70) + "1" + strings.Repeat("}", 70): "ested deeper than 64 levels",
	} {
		form := ben.get("/requests/" + q.RequestID).fields("#change-all")
		form.Set("arguments", text)
		a := ben.post("/requests/"+q.RequestID+"/change", form)
		require.Equal(t, http.StatusUnprocessableEntity, a.status, text)
		require.NotContains(t, a.body, "jsontext", "no library speaks to people")
		require.Contains(t, a.text("[role=alert]"), want)
		require.Zero(t, a.doc.Find("button[value=approve_and_modify]").Length(), text)
		require.Equal(t, text, a.fields("#change-all").Get("arguments"))
	}
	require.Zero(t, w.gate.count())
}

// checker knows one tool: its path is a string.
type checker struct{}

func (checker) Check(_ context.Context, tool string, arguments []byte) error {
	var args struct{ Path any }
	if err := json.Unmarshal(arguments, &args); err != nil {
		return err
	}
	if _, ok := args.Path.(float64); ok && tool == "Write" {
		return errors.New(`the arguments do not fit its schema: at "/path": got number, want string`)
	}
	return nil
}

func TestAnEditOfAFileReadsAsOne(t *testing.T) {
	w := newWorld(t, func(o *ui.Options) { o.Checker = checker{} })
	_, q := w.ask("s1", "Write", `{"path":"a","content":"one\ntwo\nthree\n"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("#change-all")
	form.Set("arguments", `{"path":"a","content":"one\n2\nthree\n","mode":"x"}`)
	a := ben.post("/requests/"+q.RequestID+"/change", form)
	require.Equal(t, http.StatusOK, a.status)
	require.Equal(t, "changed /contentadded /mode", a.text(".pointers"))
	require.Contains(t, a.text(".diff .d"), "- two")
	require.Contains(t, a.text(".diff .a"), "+ 2")
	require.Contains(t, a.text(".arguments"), "51 bytes", "the size of what would run")
	require.Contains(t, a.text(".arguments .digest"), string(events.DigestOf([]byte(form.Get("arguments")))))
	require.Equal(t, 1, a.doc.Find("button[value=approve_and_modify]").Length())
}

// A text of several lines is changed as text; all other bytes stay.
func TestATextIsChangedAsTheToolReadsIt(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a","content":"one\n\ttwo \"x\"\n","n":1.50}`)
	ben := w.as("ben")
	page := ben.get("/requests/" + q.RequestID)
	form := page.fields("#change form:first-of-type")
	require.Equal(t, "content", form.Get("member"))
	requireText(t, "one\n\ttwo \"x\"\n", form.Get("text"))
	form.Set("text", "one\r\n\ttwo \"y\"\u202e\r\n")
	preview := ben.post("/requests/"+q.RequestID+"/change", form)
	require.Equal(t, http.StatusOK, preview.status)
	requireText(t, "{\n  \"path\": \"a\",\n  \"content\": \"one\\n\\ttwo \\\"y\\\"\\u202e\\n\",\n  \"n\": 1.50\n}", preview.fields("form.decide").Get("arguments"))
	require.Contains(t, preview.text(".diff .a"), "y")
	require.Zero(t, preview.doc.Find("#change form[aria-label='Change content']").Length(), "a field would not show what is hidden")
	form.Set("member", "other")
	require.Equal(t, http.StatusBadRequest, ben.post("/requests/"+q.RequestID+"/change", form).status)
}

func TestTheGatesRefusalOfAChangeComesBack(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Write", `{"path":"a"}`)
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("#change-all")
	form.Set("verdict", "approve_and_modify")
	form.Set("arguments", `{"path":7}`)
	form.Set("comment", "mine")
	w.gate.set("the changed arguments cannot run: path: want a string", nil)
	a := ben.post("/requests/"+q.RequestID+"/decide", form)
	require.Equal(t, http.StatusUnprocessableEntity, a.status)
	require.Contains(t, a.text("[role=alert]"), "Nothing was approved. The changed arguments cannot run: path: want a string.")
	require.Equal(t, `{"path":7}`, a.fields("#change-all").Get("arguments"))
	require.Equal(t, "mine", a.doc.Find("form.decide input[name=comment]").AttrOr("value", ""))
}

func TestHiddenCharactersAreEscapesInTheField(t *testing.T) {
	w := newWorld(t, nil)
	_, q := w.ask("s1", "Bash", "{\"command\":\"a\u202eb\U000e0041\"}")
	ben := w.as("ben")
	form := ben.get("/requests/" + q.RequestID).fields("#change-all")
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
	form := ben.get("/requests/" + q.RequestID).fields("#change-all")
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
