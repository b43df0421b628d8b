package ui_test

import (
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// Any record can be looked at by its place, with the hash under which it is
// sealed, and its exact bytes.
func TestARecordByItsPlace(t *testing.T) {
	w := newWorld(t, nil)
	call, q := w.ask("s1", "Write", `{"path":"a"}`)
	entries, err := w.log.Read(t.Context(), 0, 100)
	require.NoError(t, err)
	eve := w.as("eve")
	for i, e := range entries {
		path := "/at/0/" + itoa(i)
		a := eve.get(path)
		require.Equal(t, http.StatusOK, a.status)
		requireClean(t, a)
		require.Equal(t, string(e.Record.Envelope), eve.get(path+"/envelope").body)
		record := eve.get(path + "/record").body
		decoded, err := events.DecodeRecord([]byte(record))
		require.NoError(t, err)
		require.True(t, decoded.Equal(e.Record))
		leaf := sha256.Sum256(append([]byte{0}, record...))
		require.Contains(t, a.text(".hashes"), hex.EncodeToString(leaf[:]))
		require.Contains(t, a.text(".hashes"), string(events.DigestOf(e.Record.Envelope)))
	}
	require.Equal(t, "/at/0/2", eve.get("/at/0/1").doc.Find("a[rel=next]").AttrOr("href", ""))
	require.Equal(t, "/at/0/1", eve.get("/at/0/2").doc.Find(".pager a").First().AttrOr("href", ""))
	page := eve.get("/at/0/2")
	require.Contains(t, page.text("h2"), "tool_call at #2")
	require.Contains(t, page.text(".arguments pre"), call.Arguments.Commitment)
	require.Equal(t, []string{"data.arguments", "12 bytes", "application/json", "kept, download", call.Arguments.Commitment}, cellsOf(page, 0))
	requireText(t, `{"path":"a"}`, eve.get("/at/0/2/payload?n=0").body)
	require.Contains(t, page.doc.Find("a.btn").First().AttrOr("href", ""), "/call?batch=b1")
	require.Equal(t, "/requests/"+q.RequestID, eve.get("/at/0/3").doc.Find("a.btn").First().AttrOr("href", ""))
	// A row of the history leads to it, and from it to the call.
	require.Equal(t, "/at/0/2", eve.get("/history").doc.Find("td[data-label=Position] a").AttrOr("href", ""))

	w.log.Erase(call.Event)
	require.Contains(t, strings.Join(cellsOf(eve.get("/at/0/2"), 0), " "), "was erased from the record")
	require.Equal(t, http.StatusGone, eve.get("/at/0/2/payload?n=0").status)
}

// cellsOf are the texts of a row of the page's table.
func cellsOf(a answer, row int) []string {
	var out []string
	for _, n := range a.doc.Find("tbody tr").Eq(row).Find("td").Nodes {
		out = append(out, strings.Join(strings.Fields(a.doc.FindNodes(n).Text()), " "))
	}
	return out
}

func TestWhatIsNoRecordOrNotYours(t *testing.T) {
	w := newWorld(t, nil)
	w.log.Run("other", "carla", "private")
	w.log.Person("p-x", "X", "reviewer") // belongs to no session
	w.ask("s1", "Write", `{"path":"a"}`)
	eve, ben := w.as("eve"), w.as("ben")
	for path, want := range map[string][2]int{ // an auditor, a reviewer
		"/at/0/0":                                {200, 403},
		"/at/0/0/record":                         {200, 403},
		"/at/0/1":                                {200, 403},
		"/at/0/4":                                {200, 200},
		"/at/0/999":                              {404, 403}, // there or not: it is not theirs to know
		"/at/1/0":                                {404, 403},
		"/at/0/x":                                {404, 404},
		"/at/0/-1":                               {404, 404},
		"/at/0/4/nothing":                        {404, 404},
		"/at/0/4/payload":                        {400, 400},
		"/at/0/4/record?n=1":                     {400, 400},
		"/at/0/4/payload?n=99999999999999999999": {400, 400},
	} {
		require.Equal(t, want, [2]int{eve.get(path).status, ben.get(path).status}, path)
	}
}

// A record that this build cannot read is shown as it is.
func TestARecordOfAnotherVersionIsShown(t *testing.T) {
	w := newWorld(t, nil)
	w.log.AppendRaw("s1", []byte("\x00 not JSON \xff\u202e"))
	w.settle()
	a := w.as("eve").get("/at/0/0")
	require.Equal(t, http.StatusOK, a.status)
	requireClean(t, a)
	require.Contains(t, a.text(".arguments pre"), "U+0000 not JSON 0xFFU+202E")
}
