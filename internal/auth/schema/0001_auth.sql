-- Who is who. An id is minted once and is what events carry; a token without a
-- person is a principal of its own.
CREATE TABLE people (
  id   TEXT NOT NULL PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('person', 'token', 'local')),
  name TEXT NOT NULL,
  UNIQUE (kind, name)
) STRICT;

-- One-time sign-in links that were not used, by the SHA-256 of their secret.
CREATE TABLE links (
  hash    BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  expires INTEGER NOT NULL -- microseconds since 1970 UTC
) STRICT, WITHOUT ROWID;

-- The console's sessions, by the SHA-256 of their cookie.
CREATE TABLE sessions (
  hash    BLOB NOT NULL PRIMARY KEY CHECK (length(hash) = 32),
  id      TEXT NOT NULL UNIQUE,  -- public: names the session in the record
  token   BLOB CHECK (length(token) = 32), -- hash of the token that began it; NULL: a local link
  created INTEGER NOT NULL,      -- microseconds since 1970 UTC
  used    INTEGER NOT NULL       -- at most a minute behind
) STRICT, WITHOUT ROWID;

-- The token that is written beside the journal where the configuration has none.
CREATE TABLE agent_token (
  one  INTEGER NOT NULL PRIMARY KEY CHECK (one = 1),
  hash BLOB NOT NULL CHECK (length(hash) = 32)
) STRICT;
