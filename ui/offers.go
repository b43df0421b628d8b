package ui

import (
	"context"
	"maps"
	"sync"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
)

// offered are the names that a form offers to filter by.
type offered struct{ tools, agents, rules, deciders, askers []string }

const (
	maxNames   = 200              // of a kind that a form offers
	offersLast = 30 * time.Second // before they are read anew
)

// offers keeps the names in the log for a while: they are many to read for each
// page, and change slowly.
type offers struct {
	mu    sync.Mutex
	until time.Time         // mu
	all   offered           // mu
	known map[string]string // mu; the names behind the people's ids
}

// add offers all names to an auditor. Anybody else is offered those that stand on
// their page, and learns of no other.
func (o *offers) add(ctx context.Context, c *Console, id auth.Identity, n *names, to *offered) error {
	if !id.Can(auth.Audit) {
		return nil
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if now := c.now(); now.After(o.until) {
		if err := o.read(ctx, c); err != nil {
			return err
		}
		o.until = now.Add(offersLast)
	}
	to.tools, to.agents, to.rules = append(to.tools, o.all.tools...), append(to.agents, o.all.agents...), append(to.rules, o.all.rules...)
	to.deciders, to.askers = append(to.deciders, o.all.deciders...), append(to.askers, o.all.askers...)
	for person, name := range o.known {
		if _, ok := n.known[person]; !ok {
			n.known[person] = name
		}
	}
	return nil
}

// read reads the names in the log; o.mu is held.
func (o *offers) read(ctx context.Context, c *Console) error {
	var all offered
	for _, q := range []struct {
		read func(context.Context, int) ([]string, error)
		into *[]string
	}{{c.views.Tools, &all.tools}, {c.views.Agents, &all.agents}, {c.views.Rules, &all.rules}, {c.views.People, &all.deciders}} {
		list, err := q.read(ctx, maxNames)
		if err != nil {
			return err
		}
		*q.into = list
	}
	all.askers = all.deciders
	n := c.names()
	for _, person := range all.deciders {
		n.of(ctx, person)
	}
	o.all, o.known = all, maps.Clone(n.known)
	return nil
}
