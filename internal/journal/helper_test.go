package journal

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
)

// running opens a journal and runs it until the test ends or stop is called.
func running(t testing.TB, o Options) (j *Journal, stop func()) {
	t.Helper()
	if o.Path == "" && !o.Memory {
		o.Path = filepath.Join(t.TempDir(), "journal.db")
	}
	j, err := Open(context.Background(), o)
	require.NoError(t, err)
	return j, run(t, j)
}

// run runs an open journal; stop, which may be called again, ends it and
// closes it.
func run(t testing.TB, j *Journal) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- j.Run(ctx) }()
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		require.NoError(t, <-ended)
		require.NoError(t, j.Close())
	}
	t.Cleanup(stop)
	return stop
}

// envelope is one of the given session, about 600 bytes long, as a producer
// would mint it.
func envelope(id, session string) []byte {
	return fmt.Appendf(nil, `{"specversion":"1.0","id":%q,"source":"test","type":"tool_call","subject":"x",`+
		`"time":"2026-01-02T03:04:05.000006Z","sessionid":%q,"data":{"text":"%s"}}`, id, session, filler)
}

var filler = strings.Repeat("a", 380)

// entry mints an event with a new id.
func entry(session string, payloads ...string) Entry {
	id := uuid.Must(uuid.NewV7()).String()
	e := Entry{ID: id, Session: session, Type: "tool_call", Envelope: envelope(id, session)}
	for _, p := range payloads {
		e.Payloads = append(e.Payloads, events.NewPayload([]byte(p)))
	}
	return e
}

func entries(n int, session string) []Entry {
	es := make([]Entry, 0, n)
	for range n {
		es = append(es, entry(session))
	}
	return es
}

// appended appends and expects success.
func appended(t testing.TB, j *Journal, class Class, es ...Entry) []Stored {
	t.Helper()
	stored, err := j.Append(context.Background(), class, es...)
	require.NoError(t, err)
	require.Len(t, stored, len(es))
	return stored
}

// verified expects the whole journal to be whole.
func verified(t testing.TB, j *Journal) {
	t.Helper()
	require.NoError(t, j.VerifyAll(context.Background(), func(int64) {}))
}

// namesOf reads an envelope's names.
func namesOf(envelope []byte) (eventID, session string, err error) {
	var e struct {
		ID      string `json:"id"`
		Session string `json:"sessionid"`
	}
	err = json.Unmarshal(envelope, &e)
	return e.ID, e.Session, err
}
