package fold_test

import (
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

func sum(of string) events.Digest { return events.DigestOf([]byte(of)) }

// defines records a definition of Bash.
func defines(content string) draft {
	return func(*book) events.Draft {
		return events.Draft{Data: &events.Definition{Kind: events.DefineTool, Name: "Bash", Digest: sum(content), Content: text(content)}}
	}
}

// boots begins a process whose gate asks about changes.
func boots(*book) events.Draft {
	return events.Draft{Data: &events.Boot{
		BootID: "b2", Node: "n", Version: "1", GoVersion: "go", Previous: []events.Head{}, Isolation: "none", Bus: "memory", AsksChanged: true, Clock: events.At(epoch),
	}}
}

// as is a call under a definition.
func as(content string) func(*events.ToolCall) {
	return func(e *events.ToolCall) { e.ToolDigest = sum(content) }
}

// definitions folds a book's records, as a process that keeps its state as JSON
// between any two of them.
func (b *book) definitions() (d fold.Definitions) {
	b.t.Helper()
	s := fold.NewSession("s")
	for _, record := range b.records {
		r := fold.Decode(record)
		o := s.Apply(r)
		before, err := json.Marshal(d, json.Deterministic(true))
		require.NoError(b.t, err)
		moved := d.Apply(r, s, o)
		after, err := json.Marshal(d, json.Deterministic(true))
		require.NoError(b.t, err)
		require.Equal(b.t, string(before) != string(after), moved, "what moved is told, or it is lost")
		d = fold.Definitions{}
		require.NoError(b.t, json.Unmarshal(after, &d))
	}
	return d
}

// Which of the definitions "one" and "two" of Bash are accepted, and how.
func TestDefinitions(t *testing.T) {
	const nf = fold.ReasonNotFolded
	ben := person("ben")
	handlers := func(e *events.ApprovalRequest) { e.Handlers = true }
	said := func(e *events.Decision) { e.Cause = events.CauseHandler }
	defined := []step{{0, defines("one"), nf}, {0, defines("two"), nf}}
	asked := []step{{0, call(as("two")), ""}, {0, ask(), ""}}
	for name, c := range map[string]struct {
		steps []step
		want  map[string]fold.Accepted
	}{
		"a definition":                {defined[:1], map[string]fold.Accepted{"one": "first"}},
		"a second one":                {defined, map[string]fold.Accepted{"one": "first"}},
		"a call before it":            {[]step{{0, free(as("two")), ""}, {0, defines("one"), nf}}, map[string]fold.Accepted{"two": "first"}},
		"a call without a definition": {[]step{{0, free(), ""}, {0, defines("one"), nf}}, map[string]fold.Accepted{"one": "first"}},
		"approved":                    {append(append(defined, asked...), step{time.Second, approve(ben), ""}), map[string]fold.Accepted{"one": "first"}},
		"approved and started":        {append(append(defined, asked...), step{time.Second, approve(ben), ""}, step{time.Second, start(), ""}), map[string]fold.Accepted{"one": "first", "two": "approved"}},
		"approved and taken back":     {append(append(defined, asked...), step{time.Second, approve(ben), ""}, step{time.Second, revoke(ben), ""}, step{time.Second, start(), fold.ReasonNoWarrant}), map[string]fold.Accepted{"one": "first"}},
		"declined":                    {append(append(defined, asked...), step{time.Second, decline(ben), ""}), map[string]fold.Accepted{"one": "first"}},
		"approved with changes": {append(append(defined, asked...), step{time.Second, modify(ben, `{"command":"pwd"}`), ""},
			step{time.Second, revise(1, "ben", `{"command":"pwd"}`), ""}, step{time.Second, func(b *book) events.Draft { b.approval = b.last[events.TypeDecision].ID; return start()(b) }, ""}), map[string]fold.Accepted{"one": "first", "two": "approved"}},
		"approved by a handler": {append(append([]step{}, defined...), step{0, call(as("two")), ""}, step{0, ask(handlers), ""},
			step{time.Second, approve(ben, said), ""}, step{time.Second, start(), ""}), map[string]fold.Accepted{"one": "first"}},
		"free, before gates asked":       {append(append([]step{}, defined...), step{0, free(as("two")), ""}, step{0, byRule(), ""}), map[string]fold.Accepted{"one": "first"}},
		"free, and then gates asked":     {append(append([]step{}, defined...), step{0, free(as("two")), ""}, step{0, byRule(), ""}, step{0, boots, nf}), map[string]fold.Accepted{"one": "first", "two": "before"}},
		"free, when gates asked already": {append(append([]step{{0, boots, nf}}, defined...), step{0, free(as("two")), ""}, step{0, byRule(), ""}, step{0, boots, nf}), map[string]fold.Accepted{"one": "first"}},
		"defined, and then gates asked":  {append(append([]step{}, defined...), step{0, boots, nf}), map[string]fold.Accepted{"one": "first"}},
	} {
		t.Run(name, func(t *testing.T) {
			d := write(t, c.steps...).definitions()
			got := map[string]fold.Accepted{}
			for _, content := range []string{"one", "two"} {
				if a, ok := d.Tools["Bash"].Accepted[sum(content)]; ok {
					got[content] = a.How
				}
				_, want := c.want[content]
				require.Equal(t, want, d.Accepts("Bash", sum(content)), content)
			}
			require.Equal(t, c.want, got)
			require.True(t, d.Accepts("Unheard", sum("one")), "what the log knows nothing of has not changed")
			if a, ok := d.Tools["Bash"].Accepted[sum("two")]; ok && a.How == fold.AcceptedApproved {
				require.Equal(t, []string{"ben", "s", request}, []string{a.Person, a.Session, a.Request})
			}
		})
	}
}

// The newest definition of a policy is the one that holds, also when it held before.
func TestTheNewestPolicy(t *testing.T) {
	policy := func(content string) step {
		return step{0, func(*book) events.Draft {
			return events.Draft{Data: &events.Definition{Kind: events.DefinePolicy, Name: "policy", Digest: sum(content), Content: text(content)}}
		}, fold.ReasonNotFolded}
	}
	require.Empty(t, write(t).definitions().Policy.Digest)
	b := write(t, policy("a"), policy("b"), policy("a"))
	p := b.definitions().Policy
	require.Equal(t, sum("a"), p.Digest)
	require.Equal(t, b.last[events.TypeDefinition].ID, p.EventID)
}
