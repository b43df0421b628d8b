package ui_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// askToChange writes a protected call whose request says what it would change.
func (w *world) askToChange(session string, target events.Target, preview, media string) pt.Request {
	w.t.Helper()
	run := w.log.Run(session, "carla", "please do it")
	w.log.Round(session, run, "b1", 1, 1, "I will do it")
	call := w.log.Propose(session, run, "b1", 0, "Write", `{"path":"a","content":"x"}`, events.EffectAsk)
	p := events.NewPayload([]byte(preview))
	e := events.ApprovalRequest{
		RequestID: events.NewRequestID(), CallKey: call.CallKey, Tool: call.Tool, Arguments: call.Arguments.CarriedBy(call.Event), Requester: call.Principal,
		Target: &target, Preview: p.Ref(media),
		Terms: events.Terms{
			Rule: "required-tools", PolicyDigest: w.log.Policy, Why: "required-tools names Write", Quorum: 1, Approvers: []string{},
			Timeout: events.Duration(3 * time.Minute), StartWithin: events.Duration(5 * time.Minute),
		},
	}
	m := w.log.Append(events.Draft{Session: session, Payloads: []events.Payload{p}, Data: &e, Causation: call.Event})[0]
	q := pt.Request{ApprovalRequest: e, Session: session, Event: m.ID, Digest: m.Digest()}
	w.gate.add(q)
	w.settle()
	return q
}

const mediaDiff = "text/x-diff; charset=utf-8"

// A request shows what its call would change, line by line; what is in the file
// cannot look like ours, and all of it can be had to the byte.
func TestTheRequestShowsTheChange(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	const old = "0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f0f"
	diff := "Folders that would be made: x/\n--- a/x/a\n+++ b/x/a\n@@ -5,3 +5,4 @@\n same\n-limit: 100\n+limit: 1\u202e00\n+--- a/fake\n more\n@@ -20 +21 @@\n-end\n\\ No newline at end of file\n+end\n"
	q := w.askToChange("s1", events.Target{Path: "x/a", Digest: old}, diff, mediaDiff)
	page := ben.get("/requests/" + q.RequestID)
	require.Contains(t, page.text(".target .diff .d"), "- limit: 100")
	require.Contains(t, page.text(".target .diff"), "… 4 equal lines")
	require.Contains(t, page.text(".target .diff"), "… 12 equal lines")
	require.Contains(t, page.text(".target .diff .a"), "+ --- a/fake", "a line of the file is no header")
	require.NotContains(t, page.text(".target .diff"), "\u202e")
	require.Contains(t, page.text(".target .diff"), "(no line feed at the end)")
	require.Contains(t, page.text(".target"), "Folders that would be made: x/")
	require.Contains(t, page.text(".target"), "+3 −2 lines")
	require.Contains(t, page.text(".target"), "SHA-256 "+old)

	whole := ben.get("/requests/" + q.RequestID + "/preview")
	require.Equal(t, http.StatusOK, whole.status)
	require.Contains(t, whole.text("h1"), "What Write would change")
	require.Equal(t, diff, ben.get("/requests/"+q.RequestID+"/preview/download").body)
}

func TestTheRequestShowsWhyThereIsNoDiff(t *testing.T) {
	w := newWorld(t, nil)
	ben := w.as("ben")
	q := w.askToChange("s1", events.Target{Path: "new"}, "new is a new file of 3 bytes. It is not text (UTF-8), so there is no diff.", events.MediaText)
	page := ben.get("/requests/" + q.RequestID)
	require.Contains(t, page.text(".target"), "so there is no diff")
	require.Contains(t, page.text(".target"), "which does not exist yet")
	require.Zero(t, page.doc.Find(".target .diff").Length())

	_, plain := w.ask("s2", "Bash", `{"command":"ls"}`)
	require.Zero(t, ben.get("/requests/"+plain.RequestID).doc.Find(".target").Length())
	require.Equal(t, http.StatusGone, ben.get("/requests/"+plain.RequestID+"/preview").status)
}
