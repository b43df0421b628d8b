package journal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// answers is what readers get, from memory where it is there.
func answers(t *testing.T, j *Journal, entries []Entry) map[string]any {
	t.Helper()
	told := map[string]any{}
	head := j.Head().Row
	for _, after := range []int64{-1, 0, 1, 2, head / 2, head - 3, head - 1, head, head + 1} {
		for _, most := range []int{0, 1, 7, 10_000} {
			all, err := j.Read(t.Context(), after, most)
			require.NoError(t, err)
			one, err := j.ReadSession(t.Context(), "one", after, most)
			require.NoError(t, err)
			told[fmt.Sprintf("%d after %d", most, after)] = [][]Stored{append([]Stored{}, all...), append([]Stored{}, one...)}
		}
	}
	for _, e := range entries {
		for _, p := range e.Payloads {
			got, err := j.Payload(t.Context(), 0, e.ID, p.Ref("text/plain").Commitment)
			require.NoError(t, err)
			told[e.ID] = string(got.Bytes)
		}
	}
	return told
}

func TestMemoryAnswersAsTheFile(t *testing.T) {
	for name, n := range map[string]int{"a few": 12, "more than are kept": 2*recentRows + 10, "many times as many": 5 * recentRows} {
		t.Run(name, func(t *testing.T) {
			j, _ := running(t, Options{})
			var all []Entry
			for i := range n {
				all = append(all, entry([]string{"one", "two", ""}[i%3], fmt.Sprintf("payload %d", i)))
			}
			for batch := all; len(batch) > 0; batch = batch[min(len(batch), 500):] {
				appended(t, j, Ends, batch[:min(len(batch), 500)]...)
			}
			appended(t, j, Ends, all[0], entry("one")) // what comes again has no second row
			fast := answers(t, j, all)
			j.recent = newRecent()
			require.Equal(t, answers(t, j, all), fast)
		})
	}
}

func TestMemoryIsBounded(t *testing.T) {
	j, _ := running(t, Options{})
	for range 300 {
		e := entry("one", strings.Repeat("p", 30<<10), strings.Repeat("q", recentPayload))
		e.Envelope = append(e.Envelope, make([]byte, 20<<10)...)
		appended(t, j, Ends, e, entry("one", strings.Repeat("p", 40<<10)))
		require.LessOrEqual(t, j.recent.bytes, 2*recentBytes)
		require.LessOrEqual(t, j.recent.held, 2*recentBytes)
	}
	require.NotEmpty(t, j.recent.order)
	require.Len(t, j.recent.payloads, len(j.recent.order))
}

func TestMemoryKeepsNothingOfTheCallers(t *testing.T) {
	j, _ := running(t, Options{})
	e := entry("one", "payload")
	want := string(e.Envelope)
	appended(t, j, Ends, e)
	clear(e.Envelope)
	clear(e.Payloads[0].Bytes)
	got, err := j.Read(t.Context(), 0, 1)
	require.NoError(t, err)
	require.Equal(t, want, string(got[0].Record.Envelope))
	require.Equal(t, "payload", string(j.recent.payloads[place{0, e.ID}][0].Bytes))
}
