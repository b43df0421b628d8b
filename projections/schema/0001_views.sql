-- The audit views. All of it follows from the log: the file may be deleted at
-- any time and is made anew. A place in the log is (log_time, part, off), the
-- same on all nodes; row is this node's own and never leaves it.

-- How far the one reader has come. leaf is the hash of the record at row: a
-- file that was made from another log shows by it.
CREATE TABLE progress (
    name  TEXT PRIMARY KEY,
    stamp TEXT NOT NULL,
    row   INTEGER NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    leaf  BLOB NOT NULL
) STRICT, WITHOUT ROWID;

-- The Merkle frontier of each partition over the records read.
CREATE TABLE frontiers (part INTEGER PRIMARY KEY, frontier BLOB NOT NULL) STRICT;

-- Every record that could be read, with what the fold said of it.
CREATE TABLE records (
    row      INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    type     TEXT NOT NULL,
    event    TEXT NOT NULL,
    reason   TEXT NOT NULL
) STRICT;
CREATE INDEX records_session ON records (session, row);

CREATE TABLE sessions (
    id        TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    agent     TEXT NOT NULL,
    model     TEXT NOT NULL,
    state     TEXT NOT NULL,
    records   INTEGER NOT NULL,
    calls     INTEGER NOT NULL,
    waiting   INTEGER NOT NULL,
    title     TEXT NOT NULL,      -- reference to the first run's query, JSON, or ''
    blocked   TEXT NOT NULL,
    began     INTEGER NOT NULL,
    log_time  INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL -- of its first record
) STRICT, WITHOUT ROWID;
CREATE INDEX sessions_place ON sessions (log_time, part, off);

CREATE TABLE runs (
    session  TEXT NOT NULL,
    id       TEXT NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    doc      TEXT NOT NULL,       -- fold.Run without its rounds
    PRIMARY KEY (session, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE rounds (
    session TEXT NOT NULL,
    batch   TEXT NOT NULL,
    event   TEXT NOT NULL,
    doc     TEXT NOT NULL,        -- fold.Round
    PRIMARY KEY (session, batch)
) STRICT, WITHOUT ROWID;

CREATE TABLE calls (
    session  TEXT NOT NULL,
    batch    TEXT NOT NULL,
    idx      INTEGER NOT NULL,
    tool     TEXT NOT NULL,
    state    TEXT NOT NULL,
    request  TEXT NOT NULL,       -- the id of its request, or ''
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    doc      TEXT NOT NULL,       -- fold.Call without its request
    PRIMARY KEY (session, batch, idx)
) STRICT, WITHOUT ROWID;
CREATE INDEX calls_place ON calls (log_time, part, off);
CREATE INDEX calls_tool ON calls (tool, log_time, part, off);
CREATE INDEX calls_state ON calls (state, log_time, part, off);

CREATE TABLE requests (
    id       TEXT PRIMARY KEY,
    session  TEXT NOT NULL,
    state    TEXT NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    doc      TEXT NOT NULL        -- fold.Request
) STRICT, WITHOUT ROWID;
CREATE INDEX requests_session ON requests (session);
CREATE INDEX requests_pending ON requests (log_time, part, off) WHERE state = 'pending';

-- Who was asked about something in a session: 'group:sre', 'person:ID', or ''
-- for every reviewer. They may read the session.
CREATE TABLE asked (session TEXT NOT NULL, approver TEXT NOT NULL, PRIMARY KEY (session, approver)) STRICT, WITHOUT ROWID;

-- Every decision, revision and revocation, whether it counted or not.
CREATE TABLE decisions (
    row      INTEGER PRIMARY KEY,
    request  TEXT NOT NULL,
    session  TEXT NOT NULL,
    event    TEXT NOT NULL,
    type     TEXT NOT NULL,
    reason   TEXT NOT NULL,       -- why it did not count, or ''
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    doc      TEXT NOT NULL        -- the event's data
) STRICT;
CREATE INDEX decisions_request ON decisions (request, row);
CREATE INDEX decisions_place ON decisions (log_time, part, off);

CREATE TABLE access (
    row      INTEGER PRIMARY KEY,
    session  TEXT NOT NULL,
    person   TEXT NOT NULL,
    action   TEXT NOT NULL,
    resource TEXT NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    doc      TEXT NOT NULL        -- the event's data
) STRICT;
CREATE INDEX access_place ON access (log_time, part, off);
CREATE INDEX access_viewed ON access (resource, person, action, log_time);

-- The name behind a person's id is a payload, fetched when a page shows it.
CREATE TABLE people (person TEXT PRIMARY KEY, event TEXT NOT NULL, name TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- What could not be read or shown: set aside, counted, never in the way.
CREATE TABLE aside (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    raw      BLOB NOT NULL
) STRICT;
