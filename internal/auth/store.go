package auth

import (
	"context"
	"crypto/sha256"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/countersign-dev/countersign/internal/sqlite"
)

// What authentication refuses.
var (
	ErrNoCredentials  = errors.New("no credentials: send Authorization: Bearer TOKEN, or sign in to the console")
	ErrBadCredentials = errors.New("the credentials are unknown or have expired: check the token, or sign in again")
	ErrBadLink        = errors.New("the link was used already or has expired: `agentd sign-in` prints another")
	ErrNotAPerson     = errors.New("the token belongs to a program, not to a person: sign in with a token of your own")
	ErrNoLocalAdmin   = errors.New("there is no local admin: sign in with a token")
)

// applicationID marks auth.db: "CSau".
const applicationID = 0x43536175

//go:embed schema/*.sql
var schema embed.FS

// Options says what a Store is made of.
type Options struct {
	// Path is the database file. Memory is used where it is "".
	Path   string
	Tokens []Token // names and hashes are unique
	// LocalAdmin admits the one local admin, by links.
	LocalAdmin bool
	Site       Site             // where requests come in
	Clock      func() time.Time // nil: time.Now
	Logger     *slog.Logger     // nil: discarded
}

// Store is the open database of people and sessions. It is safe for use by many
// goroutines.
type Store struct {
	db         *sqlite.DB
	tokens     []credential
	localAdmin *credential // nil: there is none
	site       Site
	clock      func() time.Time
	logger     *slog.Logger

	agent atomic.Pointer[credential] // the token on disk; nil until EnsureAgentToken
}

// credential is a token with the id of who holds it.
type credential struct {
	Token
	kind   string // of people
	person string // opaque id
	label  string // the name of who holds it
	hash   hash
}

// hash is the SHA-256 of a secret, the only form in which one is kept.
type hash [sha256.Size]byte

// Open opens the database, creates it where it is missing, and mints the ids of
// those whom the options name. Close it at the end.
func Open(ctx context.Context, o Options) (*Store, error) {
	db, err := open(ctx, o.Path)
	if err != nil {
		return nil, fmt.Errorf("open the sign-in database: %w", err)
	}
	s := &Store{db: db, site: o.Site, clock: o.Clock, logger: o.Logger}
	if s.clock == nil {
		s.clock = time.Now
	}
	if s.logger == nil {
		s.logger = slog.New(slog.DiscardHandler)
	}
	if err := s.start(ctx, o); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func open(ctx context.Context, path string) (*sqlite.DB, error) {
	if path == "" {
		return sqlite.OpenMemory(ctx)
	}
	return sqlite.Open(ctx, path, sqlite.Options{Synchronous: sqlite.Full, Readers: 2, CacheKiB: 512})
}

// start brings the database up to date and makes the credentials.
func (s *Store) start(ctx context.Context, o Options) error {
	files, err := fs.Sub(schema, "schema")
	if err != nil {
		return err
	}
	if err := sqlite.Migrate(ctx, s.db.Write, files, applicationID); err != nil {
		return fmt.Errorf("sign-in database %s: %w", o.Path, err)
	}
	for _, t := range o.Tokens {
		c, err := s.credential(ctx, t)
		if err != nil {
			return fmt.Errorf("token %q: %w", t.Name, err)
		}
		s.tokens = append(s.tokens, c)
	}
	if !o.LocalAdmin {
		return nil
	}
	admin := credential{Token: Token{Name: "local", Roles: []string{RoleAdmin}}, kind: kindLocal, label: "local admin"}
	s.localAdmin = &admin
	return s.identify(ctx, &admin)
}

// credential checks a token of the configuration and finds its holder's id.
func (s *Store) credential(ctx context.Context, t Token) (credential, error) {
	c := credential{Token: t, kind: kindPerson, label: t.Person}
	if t.Person == "" {
		if t.decides() {
			return credential{}, errors.New("it can decide and names no person: name who holds it")
		}
		c.kind, c.label = kindToken, t.Name
	}
	var err error
	if c.hash, err = parseHash(t.SHA256); err != nil {
		return credential{}, err
	}
	if other := s.byHash(c.hash); other != nil {
		return credential{}, fmt.Errorf("it has the hash of token %q: make a new token", other.Name)
	}
	return c, s.identify(ctx, &c)
}

// Close closes the database.
func (s *Store) Close() error { return s.db.Close() }

// now is the clock in the form that the database keeps.
func (s *Store) now() int64 { return s.clock().UnixMicro() }
