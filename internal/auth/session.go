package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// How long a session lasts.
const (
	SessionIdle = 12 * time.Hour     // without a request
	SessionLife = 7 * 24 * time.Hour // after the sign-in, whatever happens
	// touchEvery is how far the stored time of use may be behind: a page is not
	// worth a write to disk.
	touchEvery = time.Minute
)

// session is a row of sessions.
type session struct {
	id            string
	token         []byte // nil: a local link
	created, used int64
}

// execer is a database or a transaction of one.
type execer interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}

// SignInWithToken begins a session for the person who holds a token, and returns
// the value of its cookie. It returns ErrBadCredentials for an unknown token,
// ErrNotAPerson for one without a person.
func (s *Store) SignInWithToken(ctx context.Context, token string) (string, Identity, error) {
	c := s.byToken(token)
	switch {
	case c == nil:
		return "", Identity{}, ErrBadCredentials
	case c.kind != kindPerson:
		return "", Identity{}, ErrNotAPerson
	}
	return s.begin(ctx, s.db.Write, c)
}

// SignOut ends the session of a cookie. One that has no session is no error.
func (s *Store) SignOut(ctx context.Context, cookie string) error {
	h := hashOf(cookie)
	if _, err := s.db.Write.ExecContext(ctx, "DELETE FROM sessions WHERE hash = ?", h[:]); err != nil {
		return fmt.Errorf("sign out: %w", err)
	}
	return nil
}

// begin stores a new session, after sessions that ended.
func (s *Store) begin(ctx context.Context, db execer, c *credential) (string, Identity, error) {
	now := s.now()
	const purge = "DELETE FROM sessions WHERE used < ? OR created < ?"
	if _, err := db.ExecContext(ctx, purge, now-SessionIdle.Microseconds(), now-SessionLife.Microseconds()); err != nil {
		return "", Identity{}, fmt.Errorf("sign in: %w", err)
	}
	cookie := newSecret()
	h := hashOf(cookie)
	row := session{id: uuid.NewString(), created: now, used: now}
	if c.kind != kindLocal {
		row.token = c.hash[:]
	}
	const insert = "INSERT INTO sessions (hash, id, token, created, used) VALUES (?, ?, ?, ?, ?)"
	if _, err := db.ExecContext(ctx, insert, h[:], row.id, row.token, row.created, row.used); err != nil {
		return "", Identity{}, fmt.Errorf("sign in: %w", err)
	}
	return cookie, row.identity(c), nil
}

// fromCookie finds the session of a cookie and what it stands on.
func (s *Store) fromCookie(ctx context.Context, cookie string) (Identity, error) {
	if cookie == "" || len(cookie) > maxSecretText {
		return Identity{}, ErrBadCredentials
	}
	h := hashOf(cookie)
	var row session
	const find = "SELECT id, token, created, used FROM sessions WHERE hash = ?"
	err := s.db.Read.QueryRowContext(ctx, find, h[:]).Scan(&row.id, &row.token, &row.created, &row.used)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return Identity{}, ErrBadCredentials
	case err != nil:
		return Identity{}, fmt.Errorf("find the session: %w", err)
	}
	c := s.holder(row)
	if now := s.now(); c == nil || now-row.used >= SessionIdle.Microseconds() || now-row.created >= SessionLife.Microseconds() {
		return Identity{}, ErrBadCredentials
	}
	s.touch(ctx, h, row)
	return row.identity(c), nil
}

// holder returns what a session stands on, or nil where that is gone.
func (s *Store) holder(row session) *credential {
	if row.token == nil {
		return s.localAdmin
	}
	c := s.byHash(hash(row.token))
	if c == nil || c.kind != kindPerson {
		return nil
	}
	return c
}

// touch notes that a session is in use. A disk that is full must not lock a
// reviewer out: the session then ends earlier than it could, no more.
func (s *Store) touch(ctx context.Context, h hash, row session) {
	now := s.now()
	if now-row.used < touchEvery.Microseconds() {
		return
	}
	const update = "UPDATE sessions SET used = max(used, ?) WHERE hash = ?"
	if _, err := s.db.Write.ExecContext(ctx, update, now, h[:]); err != nil && ctx.Err() == nil {
		s.logger.WarnContext(ctx, "could not note the use of a session", "error", err)
	}
}

// identity is the session's holder, as signed in.
func (row session) identity(c *credential) Identity {
	i := c.identity()
	i.At = time.UnixMicro(row.created).UTC()
	i.Method, i.Credential = MethodLocalLink, "session-"+row.id
	if c.kind == kindPerson {
		i.Method, i.Credential = MethodSession, c.Name+"/session-"+row.id
	}
	return i
}
