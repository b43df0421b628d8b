-- What things are, and what processes did.

-- The texts behind digests: where the log first had each. The text itself is a
-- payload of the event.
CREATE TABLE definitions (
    row     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL,
    name    TEXT NOT NULL,
    digest  TEXT NOT NULL,
    event   TEXT NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    content TEXT NOT NULL         -- reference to the text, JSON
) STRICT;
CREATE INDEX definitions_name ON definitions (kind, name, row);
CREATE INDEX definitions_digest ON definitions (kind, digest);

-- Boots, shutdowns, steps of clocks, and what was found open at a start. That a
-- process is alive is not kept: there are too many of it.
CREATE TABLE processes (
    row   INTEGER PRIMARY KEY,
    type  TEXT NOT NULL,
    event TEXT NOT NULL,
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    doc   TEXT NOT NULL           -- the event's data
) STRICT;
CREATE INDEX processes_type ON processes (type, row);

-- Which definitions of tools are accepted: the state of fold.Definitions, JSON.
CREATE TABLE accepted (one INTEGER PRIMARY KEY CHECK (one = 1), doc TEXT NOT NULL) STRICT;
