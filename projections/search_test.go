package projections_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
	pt "github.com/countersign-dev/countersign/projections/projectionstest"
)

// library is a log of calls with texts of every kind. Its calls are told apart
// by tool: Bash, Write, Read, SQL, Emoji.
func library(t *testing.T) *pt.Log {
	t.Helper()
	l := pt.NewLog(t)
	ben := l.Person("ben", "Ben", "reviewer")

	run := l.Run("s1", "carla", "Please tidy the Überwachung folder")
	l.Round("s1", run, "b1", 1, 2, "I look for stale migrations first")
	bash, q := l.Protected("s1", run, "b1", 0, "Bash", `{"command":"rm -f db\\migrations\\0042.sql && echo \"done\"\n"}`)
	d := l.Decide(q, ben, events.VerdictApprove, "fine, 删除 it & be quick")
	l.Start(bash, &q, d)
	l.Result(bash, events.StatusOK, events.CauseHuman, "removed 1 file: SELECT * FROM \"t\" WHERE a <> 'b';\n\x00 tail-after-nul")
	write, q2 := l.Protected("s1", run, "b1", 1, "Write", `{"path":"docs/读我.md","content":"\u5220\u9664 files ﬁnally ＦＵＬＬ"}`)
	l.Decide(q2, ben, events.VerdictDecline, "NOT( near AND far")
	l.Result(write, events.StatusDeclined, events.CauseHuman, "declined")

	other := l.Run("s2", "carla", "count words")
	l.Propose("s2", other, "b1", 0, "Read", `{"path":"form.txt"}`, events.EffectAllow)
	l.Round("s2", other, "b2", 1, 0, "answer without any call: cafe\u0301 100%")
	l.Propose("s2", other, "b1", 1, "SQL", `{"q":"a*b_c%d \"unmatched"}`, events.EffectAllow)
	l.Propose("s2", other, "b1", 2, "Emoji", `{"say":"launch 🚀 now 👩‍👩‍👧"}`, events.EffectAllow)
	return l
}

func found(t *testing.T, v *projections.Views, f projections.Filter) (tools []string) {
	t.Helper()
	for cursor := ""; ; {
		page, err := v.History(t.Context(), f, cursor, 2)
		require.NoError(t, err)
		for _, c := range page.Items {
			tools = append(tools, c.Tool)
			if strings.TrimSpace(f.Query) == "" {
				continue
			}
			require.NotNil(t, c.Found, f.Query)
			require.LessOrEqual(t, 0, c.Found.Start)
			require.Less(t, c.Found.Start, c.Found.End)
			require.LessOrEqual(t, c.Found.End, len(c.Found.Excerpt))
		}
		if cursor = page.Next; cursor == "" {
			return tools
		}
	}
}

// What people type, and which calls have it, the newest first.
func TestSearchFindsWhatStandsInCalls(t *testing.T) {
	everything := []string{"Emoji", "SQL", "Read", "Write", "Bash"}
	v := viewsOf(t, library(t))
	for query, want := range map[string][]string{
		"":                        everything,
		" \t\n":                   everything,
		"deploy-bot":              everything, // the agent's name
		"migrations":              {"Bash"},   // arguments, and the turn's message
		"MIGRATIONS":              {"Bash"},
		"grations":                {"Bash"}, // substrings
		"Bash migrations":         {"Bash"}, // the tool's name counts
		"Write migrations":        nil,
		"db\\migrations\\0042":    {"Bash"}, // escapes of JSON are resolved
		`echo "done"`:             {"Bash"},
		"stale":                   {"Bash"}, // the message of its turn
		"tidy":                    {"Bash"}, // the query of its run
		"überwachung":             {"Bash"}, // letters beyond ASCII
		"ÜBERWACHUNG":             {"Bash"},
		"tidy removed quick":      {"Bash"}, // in three texts of one call
		"tidy declined":           nil,      // in two calls
		"rm":                      {"Bash"}, // a short word, and no part of one: form.txt
		"RM":                      {"Bash"},
		"-f":                      {"Bash"},
		"rm -f":                   {"Bash"},
		"&&":                      {"Bash"},
		"删除":                      {"Write", "Bash"}, // a comment; \u escapes
		"除":                       {"Write", "Bash"},
		"读我":                      {"Write"},
		"读我.md":                   {"Write"},
		"finally":                 {"Write"}, // a ligature
		"full":                    {"Write"}, // full width
		"ＲＥＡＤ":                    {"Read"},
		"café":                    {"Read"}, // the answer, with the call before
		"100%":                    {"Read"},
		"tail-after-nul":          {"Bash"}, // the index must not end at a NUL
		"tail\x00":                nil,
		"\x00":                    {"Bash"},
		`"`:                       everything, // all arguments are JSON
		`"unmatched`:              {"SQL"},
		`""`:                      nil,
		"a*b":                     {"SQL"},
		"a*":                      {"SQL"},
		"*":                       {"SQL", "Bash"},
		"_c%d":                    {"SQL"},
		"%":                       {"SQL", "Read"},
		"AND":                     {"Write", "Bash"}, // command
		"near AND far":            {"Write"},
		"NOT(":                    {"Write"},
		"NEAR(":                   nil,
		"text:done":               nil,
		"' OR 1=1 --":             nil,
		"{}":                      nil,
		"^done":                   nil,
		"done-":                   nil,
		"🚀":                       {"Emoji"},
		"👩‍👩‍👧":                   {"Emoji"},
		"say 🚀":                   {"Emoji"},
		"\xff":                    nil,
		"a\xffb":                  nil,
		"nothing of this is here": nil,
	} {
		require.Equal(t, want, found(t, v, all(projections.Filter{Query: query})), "query %q", query)
	}
}

func TestASearchThatIsTooLongSaysTheBound(t *testing.T) {
	v := viewsOf(t, library(t))
	for query, says := range map[string]string{
		strings.Repeat("x", 257):       "257 bytes, at most 256",
		strings.Repeat("x ", 5<<10):    "10240 bytes, at most 256",
		strings.Repeat("ab ", 17):      "17 words, at most 16",
		strings.Repeat("删", 86):        "258 bytes, at most 256",
		strings.Repeat("\u3000a", 17):  "17 words, at most 16",
		strings.Repeat("\xff", 1<<20):  "1048576 bytes, at most 256",
		strings.Repeat("\" OR ", 2000): "10000 bytes, at most 256",
	} {
		_, err := v.History(t.Context(), all(projections.Filter{Query: query}), "", 10)
		require.ErrorIs(t, err, projections.ErrSearch)
		require.ErrorContains(t, err, says)
		_, err = v.Newer(t.Context(), all(projections.Filter{Query: query}), events.Position{}, 10)
		require.ErrorIs(t, err, projections.ErrSearch)
	}
	for _, query := range []string{strings.Repeat("x", 256), strings.Repeat("ab ", 16), strings.Repeat("删", 85)} {
		_, err := v.History(t.Context(), all(projections.Filter{Query: query}), "", 10)
		require.NoError(t, err)
	}
}

func TestSearchSaysWhereItFound(t *testing.T) {
	v := viewsOf(t, library(t))
	for query, want := range map[string]struct{ text, match, around string }{
		"migrations":  {"arguments", "migrations", `rm -f db\migrations\0042.sql && echo "done"`},
		"removed":     {"result", "removed", `removed 1 file`},
		"quick":       {"comment", "quick", "fine, 删除 it & be quick"},
		"TIDY":        {"query", "tidy", "Please tidy the Überwachung folder"},
		"überw":       {"query", "Überw", "Please tidy the Überwachung folder"},
		"stale":       {"message", "stale", "I look for stale migrations first"},
		"finally":     {"arguments", "ﬁnally", "删除 files ﬁnally ＦＵＬＬ"},
		"full":        {"arguments", "ＦＵＬＬ", "删除 files ﬁnally ＦＵＬＬ"},
		"café":        {"message", "cafe\u0301", "any call: cafe\u0301 100%"},
		"Emoji":       {"tool", "Emoji", "Emoji deploy-bot migrator"},
		"Emoji now":   {"arguments", "now", "launch 🚀 now 👩‍👩‍👧"}, // rather a text than a name
		"deploy-b":    {"tool", "deploy-b", "Emoji deploy-bot migrator"},
		"rm":          {"arguments", "rm", "rm -f db"},
		"nul":         {"result", "nul", "tail-after-nul"},
		"b_c%d \"unm": {"arguments", "b_c%d", `a*b_c%d "unmatched`},
	} {
		page, err := v.History(t.Context(), all(projections.Filter{Query: query}), "", 1)
		require.NoError(t, err)
		require.Len(t, page.Items, 1, query)
		h := page.Items[0].Found
		require.Equal(t, want.text, h.Text, query)
		require.Equal(t, want.match, string(h.Excerpt[h.Start:h.End]), query)
		require.Contains(t, string(h.Excerpt), want.around, query)
	}
}

func TestAnExcerptIsShortAndWhole(t *testing.T) {
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "go")
	l.Propose("s1", run, "b1", 0, "Read", strings.Repeat("删", 10_000)+" needle "+strings.Repeat("é", 10_000), events.EffectAllow)
	page, err := viewsOf(t, l).History(t.Context(), all(projections.Filter{Query: "needle"}), "", 1)
	require.NoError(t, err)
	h := page.Items[0].Found
	require.Less(t, len(h.Excerpt), 200)
	require.Equal(t, "needle", string(h.Excerpt[h.Start:h.End]))
	require.Equal(t, strings.ToValidUTF8(string(h.Excerpt), "?"), string(h.Excerpt))
}

func TestErasedTextsAreNotFound(t *testing.T) {
	l := pt.NewLog(t)
	run := l.Run("s1", "carla", "go")
	c := l.Propose("s1", run, "b1", 0, "Read", `{"path":"secret"}`, events.EffectAllow)
	v := viewsOf(t, l)
	require.Equal(t, []string{"Read"}, found(t, v, all(projections.Filter{Query: "secret"})))
	l.Erase(c.Event)
	require.Empty(t, found(t, v, all(projections.Filter{Query: "secret"})))
	require.Empty(t, found(t, viewsOf(t, l), all(projections.Filter{Query: "secret"})))
	require.Equal(t, []string{"Read"}, found(t, viewsOf(t, l), all(projections.Filter{Query: "read deploy-bot"})))
}

func TestSearchGoesWithEveryFilter(t *testing.T) {
	l := library(t)
	v := viewsOf(t, l)
	for name, c := range map[string]struct {
		filter projections.Filter
		want   []string
	}{
		"tool":          {projections.Filter{Query: "删除", Tool: "Bash"}, []string{"Bash"}},
		"agent":         {projections.Filter{Query: "删除", Agent: "deploy-bot"}, []string{"Write", "Bash"}},
		"other agent":   {projections.Filter{Query: "删除", Agent: "x"}, nil},
		"session":       {projections.Filter{Query: "deploy-bot", Session: "s2"}, []string{"Emoji", "SQL", "Read"}},
		"rule":          {projections.Filter{Query: "rm", Rule: "required-tools"}, []string{"Bash"}},
		"state":         {projections.Filter{Query: "删除", States: []projections.CallState{"declined"}}, []string{"Write"}},
		"states":        {projections.Filter{Query: "删除", States: []projections.CallState{"declined", "ok"}}, []string{"Write", "Bash"}},
		"decider":       {projections.Filter{Query: "deploy-bot", Decider: "ben"}, []string{"Write", "Bash"}},
		"asker":         {projections.Filter{Query: "deploy-bot", Asker: "carla"}, []string{"Emoji", "SQL", "Read", "Write", "Bash"}},
		"until":         {projections.Filter{Query: "deploy-bot", Until: l.Now().Add(-10_000_000_000)}, nil},
		"from":          {projections.Filter{Query: "rm", From: l.Now()}, nil},
		"all of a time": {projections.Filter{Query: "rm", From: l.Now().Add(-1_000_000_000), Until: l.Now()}, []string{"Bash"}},
	} {
		require.Equal(t, c.want, found(t, v, all(c.filter)), name)
	}
	for name, c := range map[string]struct {
		reader projections.Reader
		want   []string
	}{
		"nobody":         {projections.Reader{}, nil},
		"who asked":      {projections.Reader{Person: "carla"}, []string{"Emoji", "SQL", "Read", "Write", "Bash"}},
		"reviewer":       {projections.Reader{Person: "ben", Reviewer: true}, []string{"Write", "Bash"}},
		"another person": {projections.Reader{Person: "eve"}, nil},
	} {
		require.Equal(t, c.want, found(t, v, projections.Filter{Query: "deploy-bot", Reader: c.reader}), name)
	}
}
