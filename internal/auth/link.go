package auth

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// LinkLife is how long a sign-in link can be used.
const LinkLife = 10 * time.Minute

// NewLink returns the secret of a new one-time link for the local admin and when
// it expires. Only its hash is kept. The link belongs on a terminal, never into a
// log.
func (s *Store) NewLink(ctx context.Context) (secret string, expires time.Time, err error) {
	if s.localAdmin == nil {
		return "", time.Time{}, ErrNoLocalAdmin
	}
	now := s.clock()
	secret, expires = newSecret(), now.Add(LinkLife)
	if _, err := s.db.Write.ExecContext(ctx, "DELETE FROM links WHERE expires <= ?", now.UnixMicro()); err != nil {
		return "", time.Time{}, fmt.Errorf("make a sign-in link: %w", err)
	}
	h := hashOf(secret)
	if _, err := s.db.Write.ExecContext(ctx, "INSERT INTO links (hash, expires) VALUES (?, ?)", h[:], expires.UnixMicro()); err != nil {
		return "", time.Time{}, fmt.Errorf("make a sign-in link: %w", err)
	}
	return secret, expires, nil
}

// Redeem uses a link up and begins a session of the local admin. It returns the
// value of its cookie. ErrBadLink: the link is unknown, used or expired; of many
// who try at once, one gets in.
//
// Link and session change in one transaction: a crash leaves either an unused
// link, or a session whose cookie nobody got and a link that is used up.
func (s *Store) Redeem(ctx context.Context, secret string) (string, Identity, error) {
	if s.localAdmin == nil {
		return "", Identity{}, ErrNoLocalAdmin
	}
	if secret == "" || len(secret) > maxSecretText {
		return "", Identity{}, ErrBadLink
	}
	tx, err := s.db.Write.BeginTx(ctx, nil)
	if err != nil {
		return "", Identity{}, fmt.Errorf("sign in: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	expired, err := s.useUp(ctx, tx, secret)
	if err != nil {
		return "", Identity{}, err
	}
	if expired { // gone for good, whatever the clock says later
		return "", Identity{}, errors.Join(ErrBadLink, tx.Commit())
	}
	cookie, who, err := s.begin(ctx, tx, s.localAdmin)
	if err != nil {
		return "", Identity{}, err
	}
	if err := tx.Commit(); err != nil {
		return "", Identity{}, fmt.Errorf("sign in: %w", err)
	}
	return cookie, who, nil
}

// useUp removes a link and says whether it had expired.
func (s *Store) useUp(ctx context.Context, tx *sql.Tx, secret string) (expired bool, err error) {
	h := hashOf(secret)
	var expires int64
	err = tx.QueryRowContext(ctx, "DELETE FROM links WHERE hash = ? RETURNING expires", h[:]).Scan(&expires)
	if errors.Is(err, sql.ErrNoRows) {
		return false, ErrBadLink
	}
	if err != nil {
		return false, fmt.Errorf("sign in: %w", err)
	}
	return expires <= s.now(), nil
}
