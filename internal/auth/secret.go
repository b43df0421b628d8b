package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"encoding/hex"
	"errors"
)

const (
	secretBytes = 32 // of randomness in every secret
	// maxSecretText bounds what is hashed of a header or form: a longer text is
	// no secret of ours.
	maxSecretText = 512
	tokenPrefix   = "countersign_" // so that scanners for leaked secrets know a token
)

// NewToken returns a new bearer token, to be shown once, and the hex SHA-256
// that the configuration keeps of it.
func NewToken() (plain, sha256hex string) {
	plain = tokenPrefix + newSecret()
	h := hashOf(plain)
	return plain, hex.EncodeToString(h[:])
}

// newSecret returns 256 random bits in 43 characters that fit a URL, a header
// and a cookie.
func newSecret() string {
	var b [secretBytes]byte
	_, _ = rand.Read(b[:]) // never fails (crypto/rand, Go 1.24)
	return base64.RawURLEncoding.EncodeToString(b[:])
}

func hashOf(secret string) hash { return sha256.Sum256([]byte(secret)) }

// none is the hash of a token that nobody holds: no secret is known to have it.
func (h hash) none() bool { return h == hash{} }

// parseHash reads a hash of the configuration. "" is none.
func parseHash(text string) (hash, error) {
	if text == "" {
		return hash{}, nil
	}
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(hash{}) || hash(b).none() {
		return hash{}, errors.New("expected a hex SHA-256 of 64 digits")
	}
	return hash(b), nil
}

// byHash finds the token with a hash. It compares with every token, each in
// constant time, so that its duration tells nothing of how close a guess was.
func (s *Store) byHash(h hash) *credential {
	var found *credential
	look := func(c *credential) {
		if subtle.ConstantTimeCompare(c.hash[:], h[:]) == 1 && !c.hash.none() {
			found = c
		}
	}
	for i := range s.tokens {
		look(&s.tokens[i])
	}
	if agent := s.agent.Load(); agent != nil {
		look(agent)
	}
	return found
}

// byToken finds the token with a text.
func (s *Store) byToken(token string) *credential {
	if token == "" || len(token) > maxSecretText {
		return nil
	}
	return s.byHash(hashOf(token))
}
