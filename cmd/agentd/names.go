package main

import "sync"

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
