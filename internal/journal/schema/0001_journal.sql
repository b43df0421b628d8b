-- The append-only log. Rows are added and never change; only heads is updated,
-- in the transaction of the rows that it describes.

-- The stays of sessions. A session gets a new, higher number whenever some
-- thousand rows have gone by, so that the sessions of one time are neighbours in
-- records_session: an index on names would touch a page of its own for every
-- session in a commit.
CREATE TABLE sessions (
    no   INTEGER PRIMARY KEY,
    name ANY NOT NULL -- 16 bytes where it is a UUID in canonical form, else text
) STRICT;

CREATE INDEX sessions_name ON sessions (name); -- and no, which every index ends with

CREATE TABLE records (
    row       INTEGER PRIMARY KEY, -- 1, 2, 3, ...; local to this file
    partition INTEGER NOT NULL,
    id        ANY     NOT NULL,    -- the event's; as sessions.name
    session   INTEGER NOT NULL,    -- sessions.no
    payloads  INTEGER NOT NULL,    -- how many were appended with it
    leaf      BLOB    NOT NULL,    -- RFC 6962 leaf hash of record
    record    BLOB    NOT NULL     -- events.EncodeRecord
) STRICT;

CREATE UNIQUE INDEX records_id ON records (partition, id);
CREATE INDEX records_session ON records (session);

CREATE TABLE payloads (
    place      INTEGER PRIMARY KEY, -- row * 256 + ordinal
    commitment BLOB NOT NULL,
    salt       BLOB NOT NULL,
    bytes      BLOB NOT NULL
) STRICT;

-- The right edge of each partition's tree after the last row.
CREATE TABLE heads (
    partition INTEGER PRIMARY KEY,
    log_time  INTEGER NOT NULL, -- of its last record, microseconds
    frontier  BLOB    NOT NULL  -- ledger.Frontier, which begins with the size
) STRICT;

-- The heads as they were after some rows, so that a start need not read all.
CREATE TABLE frontiers (
    row       INTEGER NOT NULL,
    partition INTEGER NOT NULL,
    log_time  INTEGER NOT NULL,
    frontier  BLOB    NOT NULL,
    PRIMARY KEY (row, partition)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER records_no_update BEFORE UPDATE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only: no UPDATE'); END;

CREATE TRIGGER records_no_delete BEFORE DELETE ON records
BEGIN SELECT RAISE(ABORT, 'records are append-only: no DELETE'); END;

-- INSERT OR REPLACE deletes what it replaces without asking a DELETE trigger.
-- NEW.row is -1 where SQLite is to choose the row, as the writer lets it. (An
-- INSERT that gives the row could ABORT for more reasons than this trigger, and
-- SQLite would keep a journal for each: a third of the time of an append.)
CREATE TRIGGER records_no_replace BEFORE INSERT ON records
WHEN NEW.row BETWEEN 1 AND (SELECT max(row) FROM records)
    OR EXISTS (SELECT 1 FROM records WHERE partition = NEW.partition AND id = NEW.id)
BEGIN SELECT RAISE(FAIL, 'records are append-only: no INSERT over a row'); END;

CREATE TRIGGER payloads_no_update BEFORE UPDATE ON payloads
BEGIN SELECT RAISE(ABORT, 'payloads are append-only: no UPDATE'); END;

CREATE TRIGGER payloads_no_delete BEFORE DELETE ON payloads
BEGIN SELECT RAISE(ABORT, 'payloads are append-only: no DELETE'); END;

CREATE TRIGGER payloads_no_replace BEFORE INSERT ON payloads
WHEN EXISTS (SELECT 1 FROM payloads WHERE place = NEW.place)
BEGIN SELECT RAISE(FAIL, 'payloads are append-only: no INSERT over a row'); END;
