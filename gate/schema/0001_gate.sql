-- What the gate remembers of its own fold, so that a start reads little. Made
-- from the log alone.

CREATE TABLE position (
    one     INTEGER PRIMARY KEY CHECK (one = 1),
    row     INTEGER NOT NULL, -- the journal's row up to which this file is true
    digest  TEXT NOT NULL    -- SHA-256 of that row's envelope: tells another journal
) STRICT;

-- Sessions with a run, or a call without a result.
CREATE TABLE unfinished (
    session TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- Where a request is, for ever: a decision on an old one is told the truth.
CREATE TABLE requests (
    request TEXT PRIMARY KEY,
    session TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What the log has a definition for: "KIND/DIGEST" and the digest again.
CREATE TABLE known (
    name   TEXT PRIMARY KEY,
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
