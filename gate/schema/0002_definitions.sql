-- Which definitions of tools are accepted, and which policy is the newest: the
-- state of fold.Definitions as JSON. A file from before is read again from the
-- log's beginning, once.
CREATE TABLE definitions (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    doc TEXT NOT NULL
) STRICT;

DELETE FROM position;
DELETE FROM unfinished;
DELETE FROM requests;
DELETE FROM known;
