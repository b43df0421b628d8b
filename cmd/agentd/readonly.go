package main

import "github.com/countersign-dev/countersign/events"

// notes are what /readyz tells though agentd does its work.
func (s *server) notes() []string {
	if err := s.countersign.Noting(); err != nil {
		return []string{err.Error()}
	}
	return nil
}

// words are those of an error, "" where there is none.
func words(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func personOf(a *events.Access) string {
	if a.Actor == nil {
		return ""
	}
	return a.Actor.Person
}
