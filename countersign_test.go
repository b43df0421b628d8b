package countersign_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/policy"
)

// options are those of a house with one tool that asks and one that is free.
func options(t testing.TB) countersign.Options {
	t.Helper()
	p, err := policy.Compile(policy.Config{RequiredTools: []string{"Write"}})
	require.NoError(t, err)
	tool := func(name string) gate.Tool {
		return gate.Tool{Name: name, Source: events.SourceBuiltin, Definition: []byte(`{"name":"` + name + `"}`), Schema: []byte(`{}`)}
	}
	return countersign.Options{Policy: p, Tools: []gate.Tool{tool("Write"), tool("Read")}}
}

// run opens a Countersign and runs it until stop.
func run(t testing.TB, dir string, o countersign.Options) (cs *countersign.Countersign, stop func()) {
	t.Helper()
	cs, err := countersign.Open(t.Context(), dir, o)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- cs.Run(ctx) }()
	<-cs.Ready()
	return cs, func() {
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, cs.Close())
	}
}

// logged reads the whole log; every event keeps to its schema.
func logged(t testing.TB, cs *countersign.Countersign) (all []events.Event) {
	t.Helper()
	entries, err := cs.Log.Read(t.Context(), 0, 1000)
	require.NoError(t, err)
	for _, e := range entries {
		all = append(all, eventstest.Validate(t, e.Record.Envelope))
	}
	return all
}

// of returns the events of one type, in the order of the log.
func of[T events.Event](all []events.Event) (found []T) {
	for _, e := range all {
		if e, ok := e.(T); ok {
			found = append(found, e)
		}
	}
	return found
}

// The package comment's example: a protected call, from its proposal through a
// person's decision to its result.
func TestAProtectedCall(t *testing.T) {
	cs, stop := run(t, t.TempDir(), options(t))
	defer stop()
	ctx, key := t.Context(), events.CallKey{BatchID: "b1"}
	require.NoError(t, cs.Gate.Propose(ctx, gate.Proposal{
		Session: "s1", BatchID: key.BatchID, Agent: events.Agent{Name: "main"}, Principal: "ann",
		Calls: []gate.ProposedCall{{Tool: "Write", Arguments: []byte(`{"path":"a.txt"}`)}},
	}))
	answer, err := cs.Gate.Decide(ctx, gate.Ruling{
		RequestID: of[*events.ApprovalRequest](logged(t, cs))[0].RequestID, Verdict: events.VerdictApprove, Via: "test",
		Actor: &events.Actor{Person: "bob", Roles: []string{"reviewer"}, Method: "token", At: events.At(time.Now())},
	})
	require.NoError(t, err)
	require.True(t, answer.Accepted, answer.Reason)
	var ran atomic.Int32
	require.NoError(t, cs.Gate.Carry(ctx, "s1", key, func(_ context.Context, arguments []byte) gate.Output {
		ran.Add(1)
		return gate.Output{Content: arguments}
	}))
	require.EqualValues(t, 1, ran.Load())
	require.Equal(t, []string{
		"boot", "definition", "definition", "definition", "tool_call", "approval_request", "person", "decision", "tool_started", "tool_result",
	}, typesOf(logged(t, cs)))
}

func typesOf(all []events.Event) (names []string) {
	for _, e := range all {
		names = append(names, string(e.Type()))
	}
	return names
}

// Each boot says which it follows, how that ended, and where the log stood.
func TestBootsFollowEachOther(t *testing.T) {
	dir := t.TempDir()
	first, stop := run(t, dir, options(t))
	stop()
	head := first.Heads()
	second, stop := run(t, dir, options(t))
	all := logged(t, second)
	stop()

	boots := of[*events.Boot](all)
	require.Len(t, boots, 2)
	require.Equal(t, boots[0].Node, boots[1].Node)
	require.Equal(t, []string{"", first.Boot}, []string{boots[0].LastBoot, boots[1].LastBoot})
	require.Equal(t, []bool{false, true}, []bool{boots[0].Clean, boots[1].Clean})
	require.Empty(t, boots[0].Previous)
	require.Equal(t, head, boots[1].Previous)
	shutdowns := of[*events.Shutdown](all)
	require.Len(t, shutdowns, 1)
	require.Equal(t, events.Shutdown{BootID: first.Boot, Reason: "asked", Heads: shutdowns[0].Heads}, *shutdowns[0])
}

// Nothing beside the journal is needed to know what an earlier boot of this node
// had started: such a call ends as ambiguous, also where every other file is lost.
func TestNothingButTheJournalIsNeeded(t *testing.T) {
	dir := t.TempDir()
	first, stop := run(t, dir, options(t))
	key := events.CallKey{BatchID: "b1"}
	require.NoError(t, first.Gate.Propose(t.Context(), gate.Proposal{
		Session: "s1", BatchID: key.BatchID, Agent: events.Agent{Name: "main"}, Principal: "ann",
		Calls: []gate.ProposedCall{{Tool: "Read", Arguments: []byte(`{}`), AtOnce: true}}, // started with its proposal, and never carried
	}))
	stop()
	kept := map[string]bool{"journal.db": true, "reserve": true, "lock": true}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, f := range files {
		if !kept[f.Name()] {
			require.NoError(t, os.Remove(filepath.Join(dir, f.Name())))
		}
	}
	second, stop := run(t, dir, options(t))
	defer stop()
	all := logged(t, second)
	require.Equal(t, events.StatusAmbiguous, of[*events.ToolResult](all)[0].Status)
	require.Equal(t, first.Boot, of[*events.Boot](all)[1].LastBoot)
	require.Empty(t, second.Warning(), "gate.db may be deleted")
}

// A journal that is not the one from which the files beside it were made is
// noticed: it may have been removed, exchanged or put back from a copy.
func TestAnotherJournal(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, dir string){
		"removed": func(t *testing.T, dir string) {
			require.NoError(t, os.Remove(filepath.Join(dir, "journal.db")))
		},
		"exchanged": func(t *testing.T, dir string) {
			other := t.TempDir()
			_, stop := run(t, other, options(t))
			stop()
			require.NoError(t, os.Rename(filepath.Join(other, "journal.db"), filepath.Join(dir, "journal.db")))
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			_, stop := run(t, dir, options(t))
			stop()
			change(t, dir)
			for _, want := range []string{"gate.db", ""} { // it is told once
				cs, stop := run(t, dir, options(t))
				boots := of[*events.Boot](logged(t, cs))
				stop()
				require.Equal(t, want, boots[len(boots)-1].Beside)
				require.Equal(t, want != "", strings.Contains(cs.Warning(), "is not the one that gate.db beside it was made from"))
			}
		})
	}
}

// The wall clock is what people read, so its jumps are recorded; deadlines run
// on the monotonic one.
func TestThePulse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := options(t)
		var off atomic.Int64
		o.Memory, o.Clock = true, func() time.Time { return time.Now().Add(time.Duration(off.Load())) }
		cs, stop := run(t, "", o)
		<-time.After(time.Minute)
		require.Empty(t, of[*events.ClockStep](logged(t, cs)))
		off.Store(int64(-time.Hour))
		<-time.After(10 * time.Minute)
		all := logged(t, cs)
		stop()

		steps := of[*events.ClockStep](all)
		require.Len(t, steps, 1, "a jump is told once")
		require.Equal(t, -time.Hour, steps[0].After.Sub(steps[0].Before.Time))
		alive := of[*events.Alive](all)
		require.Len(t, alive, 1)
		require.Equal(t, fmt.Sprint(cs.Boot, 1), fmt.Sprint(alive[0].BootID, len(alive[0].Heads)))
	})
}
