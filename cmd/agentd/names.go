package main

import (
	"context"
	"sync"

	"github.com/countersign-dev/countersign/events"
)

// names is who is who, for texts that people and models read.
type names struct {
	mu   sync.RWMutex
	byID map[string]string // mu
}

func newNames() *names { return &names{byID: map[string]string{}} }

// of returns the name behind an id, or the id.
func (n *names) of(id string) string {
	n.mu.RLock()
	defer n.mu.RUnlock()
	if name := n.byID[id]; name != "" {
		return name
	}
	return id
}

func (n *names) set(id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.byID[id] = name
}

// introduce records who is behind the ids of people, so that pages and exports
// can tell who asks. Once each boot: what the log has is a payload, which may be
// erased. That it could not be recorded stops nothing.
func (s *server) introduce(ctx context.Context) {
	people, err := s.auth.People(ctx)
	var drafts []events.Draft
	for _, p := range people {
		name := events.NewPayload([]byte(p.Name))
		drafts = append(drafts, events.Draft{
			Payloads: []events.Payload{name}, Data: &events.Person{Person: p.ID, Name: name.Ref(events.MediaText)},
		})
	}
	if err == nil && len(drafts) > 0 {
		_, err = s.countersign.Log.Append(ctx, drafts...)
	}
	if err != nil && ctx.Err() == nil {
		s.logger.WarnContext(ctx, "the names of people could not be recorded; pages show their ids", "error", err)
	}
}

// meet records who is behind an id that is no credential's.
func (s *server) meet(ctx context.Context, id, name string) error {
	s.names.set(id, name)
	text := events.NewPayload([]byte(name))
	_, err := s.countersign.Log.Append(ctx, events.Draft{
		Payloads: []events.Payload{text}, Data: &events.Person{Person: id, Name: text.Ref(events.MediaText)},
	})
	return err
}
