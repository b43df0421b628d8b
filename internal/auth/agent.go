package auth

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
)

// EnsureAgentToken admits the token in the file "token" of a folder, for where
// the configuration has no tokens, and returns the file's path. The token has the
// role agent alone. A new one is written, and created is true, where the file is
// missing, holds anything but the token that was written, or could be read by
// others; the one before then admits nobody.
//
// The file is written before its hash is stored: a crash between the two leaves
// a token that admits nobody and is replaced at the next start.
func (s *Store) EnsureAgentToken(ctx context.Context, dir string) (path string, created bool, err error) {
	path = filepath.Join(dir, "token")
	kept, err := s.agentHash(ctx)
	if err != nil {
		return "", false, fmt.Errorf("agent token: %w", err)
	}
	h := hashOf(readToken(path))
	if h != kept {
		created = true
		if h, err = s.newAgentToken(ctx, path); err != nil {
			return "", false, fmt.Errorf("agent token: %w", err)
		}
	}
	c := credential{Token: Token{Name: "data-dir-token", Roles: []string{RoleAgent}}, kind: kindToken, label: "agent token of the data directory", hash: h}
	if err := s.identify(ctx, &c); err != nil {
		return "", false, err
	}
	s.agent.Store(&c)
	return path, created, nil
}

// agentHash returns the hash of the token that was written, or none.
func (s *Store) agentHash(ctx context.Context) (hash, error) {
	var b []byte
	err := s.db.Read.QueryRowContext(ctx, "SELECT hash FROM agent_token").Scan(&b)
	if errors.Is(err, sql.ErrNoRows) {
		return hash{}, nil
	}
	if err != nil {
		return hash{}, err
	}
	return hash(b), nil
}

// readToken returns the token in a file that only its owner can read, or "".
func readToken(path string) string {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0) //nolint:gosec // the operator's folder
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil || info.Mode() != 0o600 { // a plain file, and nobody else's to read
		return ""
	}
	b, err := io.ReadAll(io.LimitReader(f, maxSecretText+1))
	if err != nil || len(b) > maxSecretText {
		return ""
	}
	return string(bytes.TrimSuffix(b, []byte("\n")))
}

func (s *Store) newAgentToken(ctx context.Context, path string) (hash, error) {
	plain, _ := NewToken()
	if err := replace(path, []byte(plain+"\n")); err != nil {
		return hash{}, err
	}
	h := hashOf(plain)
	const store = "INSERT INTO agent_token (one, hash) VALUES (1, ?) ON CONFLICT (one) DO UPDATE SET hash = excluded.hash"
	_, err := s.db.Write.ExecContext(ctx, store, h[:])
	return h, err
}

// replace puts a file of mode 0600 in the place of whatever has the name, in one
// step and durably. It follows no link.
func replace(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".token-*") // mode 0600
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err = errors.Join(err, f.Sync(), f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	dir, err := os.Open(filepath.Dir(path))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}
