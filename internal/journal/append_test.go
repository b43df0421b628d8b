package journal

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ledger"
)

// both runs a test on a journal in a file and on one in memory.
func both(t *testing.T, test func(t *testing.T, o Options)) {
	t.Helper()
	t.Run("file", func(t *testing.T) { test(t, Options{}) })
	t.Run("memory", func(t *testing.T) { test(t, Options{Memory: true}) })
}

func TestAppendGivesPlacesInOrder(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		j, _ := running(t, o)
		var want []Stored
		for i := range 5 {
			a, b := entry("one"), entry("two")
			b.Partition, b.KeyID, b.Signature = 7, "key", []byte{1, 2}
			for k, s := range appended(t, j, Begins, a, b) {
				require.EqualValues(t, 2*i+k+1, s.Row)
				require.EqualValues(t, i, s.Record.Offset)
				require.False(t, s.Duplicate)
				want = append(want, s)
			}
		}
		got, err := j.Read(t.Context(), 0, 100)
		require.NoError(t, err)
		requireStored(t, want, got)
		verified(t, j)
	})
}

func requireStored(t *testing.T, want, got []Stored) {
	t.Helper()
	require.Len(t, got, len(want))
	for i := range want {
		require.Equal(t, want[i].Row, got[i].Row)
		require.Equal(t, want[i].Session, got[i].Session)
		require.True(t, want[i].Record.Equal(got[i].Record), "row %d", want[i].Row)
	}
}

func TestHeadIsTheTreeOverTheRecords(t *testing.T) {
	both(t, func(t *testing.T, o Options) {
		j, _ := running(t, o)
		require.Empty(t, j.Head().Partitions)
		appended(t, j, Ends, entries(11, "one")...)
		got, err := j.Read(t.Context(), 0, 100)
		require.NoError(t, err)
		var f ledger.Frontier
		for _, s := range got {
			b, err := events.EncodeRecord(s.Record)
			require.NoError(t, err)
			f.Append(ledger.LeafHash(b))
		}
		last := got[len(got)-1].Record
		require.Equal(t, Head{Row: 11, Partitions: []PartitionHead{
			{Partition: 0, Size: 11, Root: f.Root(), LogTime: last.LogTime},
		}}, j.Head())
	})
}

func TestAppendingAgain(t *testing.T) {
	old := entry("one")
	other := old
	other.Envelope = []byte(`{"another":1}`)
	signed := old
	signed.Signature = []byte{1}
	fresh, more := entry("one"), entry("two")
	for name, test := range map[string]struct {
		entries   []Entry
		duplicate []bool // nil: ErrConflict
	}{
		"the same":                {[]Entry{old}, []bool{true}},
		"twice in one append":     {[]Entry{fresh, fresh}, []bool{false, true}},
		"some are new":            {[]Entry{fresh, old, more}, []bool{false, true, false}},
		"other bytes":             {[]Entry{other}, nil},
		"other signature":         {[]Entry{signed}, nil},
		"other bytes after a new": {[]Entry{fresh, other, more}, nil},
		"two at odds":             {[]Entry{fresh, {ID: fresh.ID, Session: "one", Envelope: []byte("{}")}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			both(t, func(t *testing.T, o Options) {
				j, _ := running(t, o)
				first := appended(t, j, Begins, old)[0]
				stored, err := j.Append(t.Context(), Begins, test.entries...)
				if test.duplicate == nil {
					require.ErrorIs(t, err, ErrConflict)
					require.EqualValues(t, 1, j.Head().Row, "nothing of the append is stored")
				} else {
					require.NoError(t, err)
				}
				added := 0
				for i, duplicate := range test.duplicate {
					require.Equal(t, duplicate, stored[i].Duplicate, "entry %d", i)
					if !duplicate {
						added++
					}
					if test.entries[i].ID == old.ID {
						require.Equal(t, first.Row, stored[i].Row)
						require.True(t, first.Record.Equal(stored[i].Record))
					}
				}
				require.EqualValues(t, 1+added, j.Head().Row)
				verified(t, j)
			})
		})
	}
}

// A conflict undoes its own append alone, also when others are in the commit.
func TestConflictHarmsNobodyElse(t *testing.T) {
	j, err := Open(t.Context(), Options{Path: t.TempDir() + "/journal.db"})
	require.NoError(t, err)
	taken := entry("one")
	other := taken
	other.Envelope = []byte(`{}`)
	appends := [][]Entry{{taken}, entries(3, "two"), {entry("three"), other}, entries(2, "two"), {taken}}
	results := make([]chan error, len(appends))
	for i, es := range appends { // all wait before the writer starts: one commit
		results[i] = make(chan error, 1)
		queued := len(j.queue.snapshot())
		go func() {
			_, err := j.Append(context.Background(), Ends, es...)
			results[i] <- err
		}()
		require.Eventually(t, func() bool { return len(j.queue.snapshot()) > queued }, time.Second, time.Millisecond)
	}
	run(t, j)
	for i, result := range results {
		if i == 2 {
			require.ErrorIs(t, <-result, ErrConflict)
			continue
		}
		require.NoError(t, <-result)
	}
	require.EqualValues(t, 6, j.Head().Row)
	verified(t, j)
}

func (q *queue) snapshot() []*request {
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]*request(nil), q.waiting...)
}

func TestAppendRefuses(t *testing.T) {
	j, _ := running(t, Options{Memory: true})
	for name, test := range map[string]struct {
		change func(*Entry)
		want   error
	}{
		"no id":             {func(e *Entry) { e.ID = "" }, ErrTooLarge},
		"a long id":         {func(e *Entry) { e.ID = strings.Repeat("x", 257) }, ErrTooLarge},
		"no session":        {func(e *Entry) { e.Session = "" }, nil},
		"a long session":    {func(e *Entry) { e.Session = strings.Repeat("x", 257) }, ErrTooLarge},
		"a long key id":     {func(e *Entry) { e.KeyID = strings.Repeat("x", 257) }, ErrTooLarge},
		"a long signature":  {func(e *Entry) { e.Signature = make([]byte, 1<<16) }, ErrTooLarge},
		"a large envelope":  {func(e *Entry) { e.Envelope = make([]byte, events.MaxEnvelopeBytes+1) }, ErrTooLarge},
		"many payloads":     {func(e *Entry) { e.Payloads = make([]events.Payload, 257) }, ErrTooLarge},
		"a large payload":   {func(e *Entry) { e.Payloads = []events.Payload{{Bytes: make([]byte, events.MaxEventBytes)}} }, ErrTooLarge},
		"the largest event": {func(e *Entry) { e.Envelope = make([]byte, events.MaxEnvelopeBytes) }, nil},
	} {
		t.Run(name, func(t *testing.T) {
			e := entry("one")
			test.change(&e)
			_, err := j.Append(t.Context(), Begins, e)
			require.ErrorIs(t, err, test.want)
		})
	}
	_, err := j.Append(t.Context(), 0, entry("one"))
	require.ErrorContains(t, err, "class")
	verified(t, j)
}

// Log time moves with the monotonic clock alone: the wall clock says where it
// begins, and not even that where the log ends later.
func TestLogTimeMovesWithTheMonotonicClock(t *testing.T) {
	wall, elapsed := time.UnixMicro(100), time.Duration(0)
	o := Options{
		Path: t.TempDir() + "/journal.db", Clock: func() time.Time { return wall }, elapsed: func() time.Duration { return elapsed },
	}
	at := func(j *Journal) int64 { return appended(t, j, Begins, entry("one"))[0].Record.LogTime }
	for _, start := range []struct {
		name        string
		wall, first int64
	}{
		{"empty", 100, 100},
		{"the wall clock was put back", 30, 150},
		{"and is still behind", 199, 200},
		{"it has caught up", 1000, 1000},
	} {
		wall, elapsed = time.UnixMicro(start.wall), 0
		j, stop := running(t, o)
		require.Equal(t, start.first, at(j), start.name)
		for _, step := range []int64{-1_000_000, 1_000_000_000} {
			wall = time.UnixMicro(start.wall + step)
			elapsed += 20 * time.Microsecond
			require.Equal(t, start.first+elapsed.Microseconds(), at(j), start.name)
		}
		elapsed += 10 * time.Microsecond
		require.Equal(t, start.first+50, at(j), start.name)
		stop()
	}
}

// The clock of a journal that is given none is the process's monotonic one.
func TestLogTimeMovesByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		c := newClock(Options{Clock: func() time.Time { return began.Add(time.Hour) }}, &tree{})
		<-time.After(time.Minute)
		require.Equal(t, began.Add(time.Hour+time.Minute).UnixMicro(), c.now())
	})
}

// Log time never goes back in a partition, whatever a broker says.
func TestLogTimeIsMonotone(t *testing.T) {
	o := Options{
		Path: t.TempDir() + "/journal.db", Clock: func() time.Time { return time.UnixMicro(200) }, elapsed: func() time.Duration { return 0 },
	}
	j, stop := running(t, o)
	require.EqualValues(t, 200, appended(t, j, Begins, entry("one"))[0].Record.LogTime)
	stop()

	j, _ = running(t, Options{Path: j.o.Path}) // a restart does not forget
	claimed := entry("one")
	claimed.LogTime = 7
	require.EqualValues(t, 200, appended(t, j, Begins, claimed)[0].Record.LogTime, "what is claimed is behind the partition")
	claimed = entry("one")
	claimed.Partition, claimed.LogTime = 1, 7
	require.EqualValues(t, 7, appended(t, j, Begins, claimed)[0].Record.LogTime, "another partition has a time of its own")
	verified(t, j)
}

func TestNamesComeBackAsTheyWere(t *testing.T) {
	names := []string{
		"0190aaaa-bbbb-7ccc-8ddd-eeeeffff0000", "0190AAAA-bbbb-7ccc-8ddd-eeeeffff0000", "urn:x", "a",
		strings.Repeat("x", 36), "\x00nul", "ünïcode", "0123456789abcdef", "12", "1e3",
	}
	j, _ := running(t, Options{Memory: true})
	for _, name := range names {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			e := Entry{ID: name, Session: name, Envelope: []byte("{}")}
			s := appended(t, j, Begins, e)[0]
			found, err := j.Find(t.Context(), 0, name)
			require.NoError(t, err)
			requireStored(t, []Stored{s}, []Stored{found})
			require.Equal(t, name, found.Session)
			of, err := j.ReadSession(t.Context(), name, 0, 10)
			require.NoError(t, err)
			requireStored(t, []Stored{s}, of)
		})
	}
}

func TestCancelledAppend(t *testing.T) {
	j, err := Open(t.Context(), Options{Path: t.TempDir() + "/journal.db"})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	e := entry("one")
	_, err = j.Append(ctx, Begins, e) // nobody writes yet
	require.ErrorIs(t, err, context.Canceled)
	run(t, j)
	require.False(t, appended(t, j, Begins, e)[0].Duplicate, "the writer left out what nobody waited for")
	require.EqualValues(t, 1, j.Head().Row)
}
