-- The audit views. All of it follows from the log: the file may be deleted at
-- any time and is made anew. A place in the log is (log_time, part, off), the
-- same on all nodes; row is this node's own and never leaves it. A table's row
-- is that of the record with which its entry began, so that what a batch adds
-- stands at the end of each table. The other ways in are in indexes.sql: a
-- rebuild makes them when the tables are full.

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

-- The records of sessions that moved nothing, and why. All others count; the
-- records themselves are in the journal.
CREATE TABLE uncounted (row INTEGER PRIMARY KEY, reason TEXT NOT NULL) STRICT;

CREATE TABLE sessions (
    row       INTEGER PRIMARY KEY,
    log_time  INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    id        TEXT NOT NULL,
    principal TEXT NOT NULL,
    agent     TEXT NOT NULL,
    model     TEXT NOT NULL,
    state     TEXT NOT NULL,
    records   INTEGER NOT NULL,
    calls     INTEGER NOT NULL,
    waiting   INTEGER NOT NULL,
    title     TEXT NOT NULL,      -- reference to the first run's query, JSON, or ''
    blocked   TEXT NOT NULL
) STRICT;

CREATE TABLE runs (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    session  TEXT NOT NULL,
    id       TEXT NOT NULL,
    doc      TEXT NOT NULL        -- fold.Run without its rounds
) STRICT;

CREATE TABLE rounds (
    row     INTEGER PRIMARY KEY,
    session TEXT NOT NULL,
    batch   TEXT NOT NULL,
    event   TEXT NOT NULL,
    doc     TEXT NOT NULL         -- fold.Round
) STRICT;

CREATE TABLE calls (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    session  TEXT NOT NULL,
    batch    TEXT NOT NULL,
    idx      INTEGER NOT NULL,
    tool     TEXT NOT NULL,
    agent    TEXT NOT NULL,
    rule     TEXT NOT NULL,
    state    TEXT NOT NULL,
    asker    TEXT NOT NULL,       -- whose conversation it is
    decider  TEXT NOT NULL,       -- the person whose decision ended its request, or ''
    approved INTEGER NOT NULL,    -- 1: by a person
    request  TEXT NOT NULL,       -- the id of its request, or ''
    doc      TEXT NOT NULL        -- fold.Call without its request
) STRICT;

CREATE TABLE requests (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    id       TEXT NOT NULL,
    session  TEXT NOT NULL,
    state    TEXT NOT NULL,
    call     INTEGER NOT NULL,    -- calls.row
    doc      TEXT NOT NULL        -- fold.Request
) STRICT;

-- Who was asked about something in a session, once each: 'group:sre',
-- 'person:ID', or '' for every reviewer. They may read the session.
CREATE TABLE asked (session TEXT NOT NULL, approver TEXT NOT NULL) STRICT;

-- Every decision, revision and revocation, whether it counted or not.
CREATE TABLE decisions (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    request  TEXT NOT NULL,
    session  TEXT NOT NULL,
    event    TEXT NOT NULL,
    type     TEXT NOT NULL,
    reason   TEXT NOT NULL,       -- why it did not count, or ''
    doc      TEXT NOT NULL        -- the event's data
) STRICT;

CREATE TABLE access (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    session  TEXT NOT NULL,
    person   TEXT NOT NULL,
    action   TEXT NOT NULL,
    resource TEXT NOT NULL,
    doc      TEXT NOT NULL        -- the event's data
) STRICT;

-- The name behind a person's id is a payload, fetched when a page shows it.
CREATE TABLE people (person TEXT PRIMARY KEY, event TEXT NOT NULL, name TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- What could not be read or shown: set aside, counted, never in the way.
CREATE TABLE aside (
    row      INTEGER PRIMARY KEY,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    reason   TEXT NOT NULL,
    raw      BLOB NOT NULL
) STRICT;

-- The texts of calls that can be searched. id is calls.row * 16 + the text's
-- number in the call; place is row * 256 + ordinal of the payload in the
-- journal; kind is a textKind;
-- json says that its escapes are resolved.
CREATE TABLE texts (id INTEGER PRIMARY KEY, place INTEGER NOT NULL, kind INTEGER NOT NULL, json INTEGER NOT NULL) STRICT;

-- Segments of the search index: how many texts they have, between which ids.
-- level tells the size, late that the texts came long after their calls.
CREATE TABLE segments (
    no       INTEGER PRIMARY KEY,
    level    INTEGER NOT NULL,
    late     INTEGER NOT NULL,
    texts    INTEGER NOT NULL,
    postings INTEGER NOT NULL,
    first    INTEGER NOT NULL,
    last     INTEGER NOT NULL
) STRICT;
CREATE INDEX segments_level ON segments (level, late);

-- Which texts of a segment have a gram, in pages of many grams: see grampages.go.
-- id is the segment's number and, in 40 bits, the first gram. The text itself is in
-- the journal alone, and what is found is held against it.
CREATE TABLE grams (id INTEGER PRIMARY KEY, page BLOB NOT NULL) STRICT;
