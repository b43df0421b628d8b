package fold_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

func TestAModificationBecomesARevision(t *testing.T) {
	modified := after(asked, step{1, modify(alice, "{}"), ""})
	for _, c := range []struct {
		name  string
		steps []step
		state fold.RequestState
		votes int
	}{
		{"it asks: its author's approve is held", []step{{2, revise(1, "alice", "{}"), ""}}, fold.Approved, 1},
		{"it is refused: the old text stands", []step{{2, revise(1, "alice", "{}", refused), ""}, {3, approve(bob), ""}}, fold.Approved, 1},
		{"it is refused, and nobody approved anything", []step{{2, revise(1, "alice", "{}", refused), ""}}, fold.Pending, 0},
		{"a revision with another number", []step{{2, revise(2, "alice", "{}"), fold.ReasonOutOfOrder}}, fold.Pending, 0},
		{"a revision by another author", []step{{2, revise(1, "bob", "{}"), fold.ReasonOtherDigest}}, fold.Pending, 0},
		{"a revision to other arguments", []step{{2, revise(1, "alice", "[]"), fold.ReasonOtherDigest}}, fold.Pending, 0},
		{"a second revision of one modification", []step{{2, revise(1, "alice", "{}", refused), ""}, {3, revise(2, "alice", "{}"), fold.ReasonUnknownRequest}}, fold.Pending, 0},
		{"an approve between, of the old text", []step{{2, approve(bob), ""}, {3, revise(1, "alice", "{}"), fold.ReasonNotPending}}, fold.Approved, 1},
		{"a decline between", []step{{2, decline(bob), ""}, {3, revise(1, "alice", "{}"), fold.ReasonNotPending}}, fold.Declined, 0},
		{"after the deadline, while nobody has ended it", []step{{hour, revise(1, "alice", "{}"), ""}}, fold.Approved, 1},
		{"after the time-out", []step{{hour, says(events.CauseTimeout), ""}, {hour, revise(1, "alice", "{}"), fold.ReasonNotPending}}, fold.Declined, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, after(modified, c.steps...)...)
			require.Equal(t, c.state, b.request().State)
			require.Len(t, b.request().Votes, c.votes)
		})
	}
}

func TestARevisionWithoutAModification(t *testing.T) {
	write(t, after(asked, step{1, modify(person("eve"), "{}"), ""}, step{2, revise(1, "eve", "{}", func(e *events.Revision) { e.RequestID = "r2" }), fold.ReasonUnknownRequest})...)
	write(t, after(asked, step{hour, modify(alice, "{}"), fold.ReasonTooLate}, step{hour, revise(1, "alice", "{}"), fold.ReasonUnknownRequest})...)
	write(t, after(asked, step{1, decide(events.VerdictModify, events.CauseHandler, alice), fold.ReasonNotPermitted}, step{2, revise(1, "alice", `{"command":"ls"}`), fold.ReasonUnknownRequest})...)
}

// What was approved before the text changed is no approval of the new text.
func TestVotesStartAgainWithARevision(t *testing.T) {
	b := write(t,
		step{0, call(), ""}, step{0, ask(quorum(2)), ""}, step{1, approve(alice), ""}, step{2, modify(bob, "{}"), ""}, step{3, revise(1, "bob", "{}"), ""})
	require.Equal(t, fold.Pending, b.request().State)
	require.Equal(t, 1, b.request().Needed(), "bob's own approve is held, alice's is not")
	require.Equal(t, "bob", b.request().Author)
	old := b.last[events.TypeApprovalRequest].Digest()
	b.now = b.now.Add(time.Second)
	require.Equal(t, fold.ReasonOtherDigest, b.add(approve(alice, func(e *events.Decision) { e.RequestDigest = old })(b)).Reason)
	require.True(t, b.add(approve(alice)(b)).Counts)
	require.Equal(t, fold.Approved, b.request().State)
	require.Len(t, b.request().Decided, 3, "what counted is never forgotten")
	require.Len(t, b.request().Revisions, 1)
}

func TestFourEyesHoldsNoApproveOfTheAuthor(t *testing.T) {
	b := write(t,
		step{0, call(), ""}, step{0, ask(fourEyes), ""}, step{1, modify(alice, "{}"), ""}, step{2, revise(1, "alice", "{}"), ""},
		step{3, approve(alice), fold.ReasonNotPermitted}, step{4, approve(carla), fold.ReasonNotPermitted})
	require.Equal(t, fold.Pending, b.request().State)
	require.True(t, b.add(approve(bob)(b)).Counts)
	require.Equal(t, fold.Approved, b.request().State)
}

// The stricter of both terms hold, and the deadline never moves later.
func TestTheStricterTermsHold(t *testing.T) {
	change := func(f func(*events.Terms)) func(*events.Revision) {
		return func(e *events.Revision) { f(&e.Terms) }
	}
	for _, c := range []struct {
		name  string
		first func(*events.ApprovalRequest)
		then  func(*events.Revision)
		check func(t *testing.T, q *fold.Request)
	}{
		{
			"a higher quorum", quorum(1), change(func(n *events.Terms) { n.Quorum = 3 }),
			func(t *testing.T, q *fold.Request) { require.Equal(t, 2, q.Needed()) },
		},
		{
			"a lower quorum", quorum(3), change(func(n *events.Terms) { n.Quorum = 1 }),
			func(t *testing.T, q *fold.Request) { require.Equal(t, 2, q.Needed()) },
		},
		{
			"four eyes from now on", quorum(1), change(func(n *events.Terms) { n.FourEyes = true }),
			func(t *testing.T, q *fold.Request) { require.Equal(t, 1, q.Needed()) },
		},
		{
			"a shorter time", quorum(2), change(func(n *events.Terms) { n.Timeout = events.Duration(time.Second) }),
			func(t *testing.T, q *fold.Request) { require.True(t, epoch.Add(3*time.Second).Equal(q.Deadline)) },
		},
		{
			"a longer time", quorum(2), change(func(n *events.Terms) { n.Timeout = events.Duration(hour) }),
			func(t *testing.T, q *fold.Request) { require.True(t, epoch.Add(timeout).Equal(q.Deadline)) },
		},
		{
			"no handler any more", func(e *events.ApprovalRequest) { e.Handlers, e.Quorum = true, 2 }, change(func(*events.Terms) {}),
			func(t *testing.T, q *fold.Request) { require.False(t, q.Handlers) },
		},
		{
			"no handler before", quorum(2), change(func(n *events.Terms) { n.Handlers = true }),
			func(t *testing.T, q *fold.Request) { require.False(t, q.Handlers) },
		},
		{
			"a shorter start", quorum(1), change(func(n *events.Terms) { n.StartWithin = events.Duration(time.Second) }),
			func(t *testing.T, q *fold.Request) { require.True(t, epoch.Add(2*time.Second).Equal(q.StartBy())) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := write(t, step{0, call(), ""}, step{0, ask(c.first), ""}, step{time.Second, modify(alice, "{}"), ""}, step{2 * time.Second, revise(1, "alice", "{}", c.then), ""})
			c.check(t, b.request())
		})
	}
}

// An approver must be in every list that the request ever had.
func TestApproverListsAddUp(t *testing.T) {
	list := func(names ...string) func(*events.Revision) {
		return func(e *events.Revision) { e.Approvers = names }
	}
	sre, both := person("alice", "sre"), person("bob", "sre", "dev")
	before := []step{
		{0, call(), ""},
		{0, ask(func(e *events.ApprovalRequest) { e.Approvers = []string{"group:sre"} }), ""},
		{1, modify(sre, "{}"), ""},
		{2, revise(1, "alice", "{}", list("group:dev")), ""}, // its author is not of dev: nothing is held
	}
	b := write(t, after(before, step{3, approve(sre), fold.ReasonNotPermitted}, step{4, approve(person("dora", "dev")), fold.ReasonNotPermitted}, step{5, approve(both), ""})...)
	require.Equal(t, fold.Approved, b.request().State)
	require.Equal(t, [][]string{{"group:sre"}}, b.request().Also)

	b = write(t, after(before, step{3, modify(both, "[]"), ""}, step{4, revise(2, "bob", "[]", list()), ""})...)
	require.Equal(t, fold.Approved, b.request().State, "an empty list adds no condition, and takes none away")
	require.Equal(t, [][]string{{"group:sre"}, {"group:dev"}}, b.request().Also)
}

// The first modification that is revised drops the others: they were of a text
// that is no more.
func TestModificationsOfAnOlderTextAreDropped(t *testing.T) {
	first := ""
	b := write(t,
		step{0, call(), ""}, step{0, ask(quorum(2)), ""},
		step{1, modify(alice, "{}"), ""},
		step{2, func(b *book) events.Draft { first = b.last[events.TypeDecision].ID; return modify(bob, "[]")(b) }, ""},
		step{3, revise(1, "bob", "[]"), ""},
		step{4, func(b *book) events.Draft { d := revise(2, "alice", "{}")(b); d.Causation = first; return d }, fold.ReasonUnknownRequest})
	require.Empty(t, b.request().Modifications)
	require.Equal(t, "bob", b.request().Author)
}
