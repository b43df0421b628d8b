package auth

import (
	"context"
	"fmt"

	"github.com/google/uuid"
)

// The kinds of people: somebody, a token that nobody in particular holds, and
// the local admin.
const (
	kindPerson = "person"
	kindToken  = "token"
	kindLocal  = "local"
)

// Person maps an opaque id to a name.
type Person struct {
	ID   string // a UUID, minted once
	Name string
}

// People returns everybody who ever had an id, by id.
func (s *Store) People(ctx context.Context) ([]Person, error) {
	rows, err := s.db.Read.QueryContext(ctx, "SELECT id, name FROM people ORDER BY id")
	if err != nil {
		return nil, fmt.Errorf("list people: %w", err)
	}
	defer rows.Close()
	var people []Person
	for rows.Next() {
		var p Person
		if err := rows.Scan(&p.ID, &p.Name); err != nil {
			return nil, fmt.Errorf("list people: %w", err)
		}
		people = append(people, p)
	}
	return people, rows.Err()
}

// identify sets the holder's id, minted at the first sight of a name.
func (s *Store) identify(ctx context.Context, c *credential) error {
	const insert = "INSERT INTO people (id, kind, name) VALUES (?, ?, ?) ON CONFLICT (kind, name) DO NOTHING"
	if _, err := s.db.Write.ExecContext(ctx, insert, uuid.NewString(), c.kind, c.label); err != nil {
		return fmt.Errorf("mint an id for %q: %w", c.label, err)
	}
	const find = "SELECT id FROM people WHERE kind = ? AND name = ?"
	if err := s.db.Write.QueryRowContext(ctx, find, c.kind, c.label).Scan(&c.person); err != nil {
		return fmt.Errorf("find the id of %q: %w", c.label, err)
	}
	return nil
}

// LocalAdmin returns the one local admin. ErrNoLocalAdmin where the store
// admits none.
func (s *Store) LocalAdmin() (Person, error) {
	if s.localAdmin == nil {
		return Person{}, ErrNoLocalAdmin
	}
	return Person{ID: s.localAdmin.person, Name: s.localAdmin.label}, nil
}
