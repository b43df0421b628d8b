package bus_test

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/ThreeDotsLabs/watermill/pubsub/tests"
	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// TestUniversal is Watermill's own suite for Pub/Subs, with its small counts
// under -short. What it knows and we do not claim: consumer groups (a consumer
// keeps its position itself), delivery exactly once (what was not acked comes
// again). It gets a journal for each test and a codec that carries anything.
// All publishers and subscribers of a test are buses of their own over that
// journal, since the suite closes one and goes on with another.
func TestUniversal(t *testing.T) {
	features := tests.Features{
		GuaranteedOrder:                  true,
		Persistent:                       true,
		NewSubscriberReceivesOldMessages: true,
	}
	for _, i := range implementations() {
		t.Run(i.name, func(t *testing.T) {
			journals := &shared{open: i.journal, byTest: map[string]*journal.Journal{}}
			o := bus.Options{Codec: anything{}, FromStart: true, FirstRetry: time.Millisecond, LastRetry: 5 * time.Millisecond}
			tests.TestPubSub(t, features, func(t *testing.T) (message.Publisher, message.Subscriber) {
				j := journals.of(t)
				pub, sub := i.bus(j, o), i.bus(j, o)
				t.Cleanup(func() { require.NoError(t, errors.Join(pub.Close(), sub.Close())) })
				return pub, sub
			}, nil)
		})
	}
}

// shared keeps a journal for each test.
type shared struct {
	open   func(testing.TB) journal.Options
	mu     sync.Mutex
	byTest map[string]*journal.Journal // guarded by mu
}

func (s *shared) of(t *testing.T) *journal.Journal {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byTest[t.Name()] == nil {
		s.byTest[t.Name()], _ = run(t, s.open(t))
	}
	return s.byTest[t.Name()]
}

// anything is a codec for messages of any kind: the topic stands where the
// session of an event does, so that topics stay apart.
type anything struct{}

type carried struct {
	UUID     string
	Metadata message.Metadata
	Payload  []byte
}

func (anything) Encode(topic string, m *message.Message) (journal.Entry, error) {
	b, err := json.Marshal(carried{m.UUID, m.Metadata, m.Payload})
	return journal.Entry{ID: topic + "/" + m.UUID, Session: topic, Type: "message", Envelope: b}, err
}

func (anything) Decode(s journal.Stored) (string, *message.Message) {
	var c carried
	if err := json.Unmarshal(s.Record.Envelope, &c); err != nil {
		return s.Session, message.NewMessage(err.Error(), nil)
	}
	m := message.NewMessageWithContext(context.Background(), c.UUID, c.Payload)
	m.Metadata = c.Metadata
	return s.Session, m
}
