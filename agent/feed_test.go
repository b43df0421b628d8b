package agent

import (
	"context"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Pieces that are joined say the same; who stood between two of them gets the
// text anew, and everybody else neither misses nor repeats a thing.
func TestPiecesAreJoinedWhenThereAreMany(t *testing.T) {
	f := newFeed("run", "boot-1")
	f.lasting(Event{Type: EventFinish, Reason: "TOOL_CALLS"})
	between, behind := f.read(), f.read()
	f.piece(EventReasoning, "hm")
	for range 3 {
		f.piece(EventToken, "a")
	}
	next(t, between, 3)
	for range maxFeedText/pieceCost + 1 {
		f.piece(EventToken, "b")
	}
	f.lasting(Event{Type: EventFinish, Reason: "STOP"})
	f.end()
	require.Less(t, len(f.frames), 100_000/10)

	text := strings.Builder{}
	kinds := []string{}
	for _, e := range append(next(t, behind, 1), drain(t, behind)...) {
		text.WriteString(e.Data)
		if len(kinds) == 0 || kinds[len(kinds)-1] != e.Type {
			kinds = append(kinds, e.Type)
		}
	}
	require.Equal(t, []string{"finish", "reasoning", "token", "finish"}, kinds)
	require.Equal(t, "hmaaa"+strings.Repeat("b", maxFeedText/pieceCost+1), text.String())
	rest := drain(t, between)
	require.Equal(t, EventReset, rest[0].Type)
	require.Equal(t, "hm", rest[1].Data)
}

// What a reset took back is not kept for ever, and who stands in it starts over.
func TestWhatWasTakenBackGoes(t *testing.T) {
	f := newFeed("run", "boot-1")
	f.lasting(Event{Type: EventFinish, Reason: "TOOL_CALLS"})
	within := f.read()
	f.piece(EventToken, "wrong")
	f.piece(EventToken, "wronger")
	next(t, within, 2)
	f.piece(EventReset, "")
	f.piece(EventToken, strings.Repeat("a", maxFeedText))
	f.piece(EventToken, "b")
	f.end()
	require.Less(t, f.size(), maxFeedText+10*pieceCost)
	want := []string{"reset 0", "token " + strconv.Itoa(maxFeedText), "token 1"}
	require.Equal(t, append([]string{"finish 0"}, want...), sizes(drain(t, f.read())))
	require.Equal(t, append([]string{"reset 0"}, want...), sizes(drain(t, within)))
}

// sizes says of each event its type and how much text it has.
func sizes(events []Event) []string {
	out := make([]string, 0, len(events))
	for _, e := range events {
		out = append(out, e.Type+" "+strconv.Itoa(len(e.Data)))
	}
	return out
}

// Feeds of runs that have ended take a bounded part of memory: by their number,
// and by what is in them, lasting or not.
func TestFeedsOfFinishedRunsAreBounded(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	for name, test := range map[string]struct {
		add  func(*Feed)
		want int
	}{
		"small ones": {func(f *Feed) { f.piece(EventToken, "x") }, keepFeeds},
		"pieces":     {func(f *Feed) { f.piece(EventToken, text) }, keepBytes>>20 - 1},
		"results": {func(f *Feed) {
			f.lasting(Event{Type: EventToolResult, ToolResults: []EventResult{{Result: text}}})
		}, keepBytes>>20 - 1},
		"calls": {func(f *Feed) {
			f.lasting(Event{Type: EventToolCall, ToolCalls: []EventCall{{Arguments: text}}})
		}, keepBytes>>20 - 1},
		"one too large": {func(f *Feed) {
			for range 40 {
				f.lasting(Event{Type: EventApproval, Arguments: text})
			}
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			l := &Loop{active: map[string]*Feed{}}
			for i := range 100 {
				f := newFeed("run"+strconv.Itoa(i), "boot-1")
				test.add(f)
				f.end()
				l.active[f.run] = f
				l.ended(f)
			}
			require.Len(t, l.active, test.want)
			require.Len(t, l.finished, test.want)
		})
	}
}

func next(t *testing.T, r *Reader, n int) []Event {
	t.Helper()
	var out []Event
	for range n {
		f, err := r.Next(t.Context())
		require.NoError(t, err)
		out = append(out, f.Event)
	}
	return out
}

func drain(t *testing.T, r *Reader) []Event {
	t.Helper()
	var out []Event
	for {
		f, err := r.Next(t.Context())
		if err != nil {
			require.ErrorIs(t, err, ErrFeedEnded)
			return out
		}
		out = append(out, f.Event)
	}
}

func TestAReaderGivesTheCauseOfItsContext(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(ErrStopping)
	_, err := newFeed("run", "boot-1").read().Next(ctx)
	require.ErrorIs(t, err, ErrStopping)
}

// Property: whatever the feed and wherever the client left, resuming in the
// same feed gives the rest.
func TestResumingIsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := newFeed("run", "boot-1")
		var ids []string
		for _, lasting := range rapid.SliceOfN(rapid.Bool(), 1, 40).Draw(t, "frames") {
			if lasting {
				f.lasting(Event{Type: EventFinish})
			} else {
				f.piece(EventToken, "x")
			}
			ids = append(ids, f.id(f.at))
		}
		f.end()
		i := rapid.IntRange(0, len(ids)-1).Draw(t, "left after")
		r := f.from(parseID(ids[i]))
		for _, want := range ids[i+1:] {
			fr, err := r.Next(context.Background())
			if err != nil || fr.ID != want {
				t.Fatalf("got %q, %v; want %q", fr.ID, err, want)
			}
		}
		if !r.Empty() {
			t.Fatal("there is more")
		}
	})
}

// The members of each type, as the protocol spells them.
func TestEventsAreWrittenAsTheProtocolSays(t *testing.T) {
	for want, e := range map[string]Event{
		`{"type":"reasoning","data":"hm"}`: {Type: EventReasoning, Data: "hm"},
		`{"type":"token","data":""}`:       {Type: EventToken},
		`{"type":"tool_call","toolCalls":[{"id":"c","name":"Read","arguments":"{}","source":"builtin-tools"}]}`: {
			Type: EventToolCall, ToolCalls: []EventCall{{"c", "Read", "{}", "builtin-tools"}},
		},
		`{"type":"finish","reason":"STOP","usage":{"promptTokens":1,"completionTokens":0,"totalTokens":1}}`: {
			Type: EventFinish, Reason: "STOP", Usage: &Usage{1, 0, 1},
		},
		`{"type":"approval_request","requestId":"r","toolCallId":"c","toolName":"T","arguments":"{}","argumentsDigest":"sha256:0","rule":"x","expiresAt":"z"}`: {
			Type: EventApproval, RequestID: "r", ToolCallID: "c", ToolName: "T", Arguments: "{}", ArgumentsDigest: "sha256:0", Rule: "x", ExpiresAt: "z",
		},
		`{"type":"heartbeat"}`: {Type: EventHeartbeat},
		`{"type":"reset"}`:     {Type: EventReset},
		`{"type":"tool_result","toolResults":[{"id":"c","name":"T","result":"","status":"ok","cause":"human"}]}`: {
			Type: EventToolResult, ToolResults: []EventResult{{"c", "T", "", "ok", "human"}},
		},
		`{"type":"error","code":"","message":"m"}`: {Type: EventError, Message: "m"},
	} {
		got, err := json.Marshal(e)
		require.NoError(t, err)
		require.JSONEq(t, want, string(got))
	}
}
