// Package seats bounds what is open at once, in all and of one person, so that
// who opens much takes nothing from the others:
//
//	leave, err := s.Take(person)
//	if err != nil {
//		return err // ErrFull, ErrYours
//	}
//	defer leave()
package seats

import (
	"errors"
	"sync"
)

// What Take answers where there is no seat.
var (
	// ErrFull: all seats are taken.
	ErrFull = errors.New("all are taken")
	// ErrYours: the person has taken as many as one person may.
	ErrYours = errors.New("you have taken as many as one person may")
)

// least is how many one person may take, where there are so many.
const least = 16

// Seats are so many seats. Anybody may use them at once.
type Seats struct {
	all, each int

	mu    sync.Mutex
	taken int            // mu
	by    map[string]int // by person, who has some; mu
}

// New returns that many seats, of which one person may take a quarter, or 16
// where that is more.
func New(all int) *Seats {
	return &Seats{all: all, each: max(all/4, least), by: map[string]int{}}
}

// Each is how many one person may take.
func (s *Seats) Each() int { return s.each }

// Taken is how many seats are taken.
func (s *Seats) Taken() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.taken
}

// Take takes a seat for a person. leave gives it back, and is called once.
func (s *Seats) Take(person string) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.taken >= s.all:
		return nil, ErrFull
	case s.by[person] >= s.each:
		return nil, ErrYours
	}
	s.taken++
	s.by[person]++
	return func() { s.leave(person) }, nil
}

func (s *Seats) leave(person string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.taken--
	if s.by[person]--; s.by[person] == 0 {
		delete(s.by, person)
	}
}
