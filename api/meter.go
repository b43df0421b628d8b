package api

import (
	"sync"
	"time"
)

const (
	burst      = 20          // records about refusals at once
	burstEvery = time.Second // and then one each
)

// meter lets a burst through, and then one each second.
type meter struct {
	now func() time.Time

	mu     sync.Mutex
	full   time.Time // when a whole burst may come again; mu
	missed int       // since the last that was let through; mu
}

func newMeter(now func() time.Time) *meter { return &meter{now: now} }

// take reports whether one is let through, and how many were not before it.
func (m *meter) take() (missed int, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if m.full.Before(now) {
		m.full = now
	}
	if m.full.Sub(now) > (burst-1)*burstEvery {
		m.missed++
		return 0, false
	}
	m.full = m.full.Add(burstEvery)
	missed, m.missed = m.missed, 0
	return missed, true
}

// meters has one for each person. There are as many as there are people who
// were ever refused: credentials make people, not requests.
type meters struct {
	now func() time.Time

	mu sync.Mutex
	by map[string]*meter // mu
}

func newMeters(now func() time.Time) *meters { return &meters{now: now, by: map[string]*meter{}} }

func (m *meters) of(person string) *meter {
	m.mu.Lock()
	defer m.mu.Unlock()
	one := m.by[person]
	if one == nil {
		one = newMeter(m.now)
		m.by[person] = one
	}
	return one
}
