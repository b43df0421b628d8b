-- What is counted, and what the watch found. All of it follows from the log,
-- as the rest does, and commits with the position.

-- Totals. step is the seconds of the interval, 3600 or 86400, and began its
-- first second since 1970 UTC; both are 0 for the totals of the whole log.
-- a, b, c are the labels; bucket is that of a distribution, else 0. n counts and
-- sum adds microseconds or bytes; of a family of greatest values n is that.
CREATE TABLE tallies (
    step   INTEGER NOT NULL,
    family TEXT NOT NULL,
    began  INTEGER NOT NULL,
    a      TEXT NOT NULL,
    b      TEXT NOT NULL,
    c      TEXT NOT NULL,
    bucket INTEGER NOT NULL,
    n      INTEGER NOT NULL,
    sum    INTEGER NOT NULL,
    PRIMARY KEY (step, family, began, a, b, c, bucket)
) STRICT, WITHOUT ROWID;

-- Names that may be labels: the first of each kind, in log order.
CREATE TABLE labels (kind TEXT NOT NULL, name TEXT NOT NULL, PRIMARY KEY (kind, name)) STRICT, WITHOUT ROWID;

-- When a tool was last called, and what defines it since when. '' where no
-- definition names it.
CREATE TABLE tool_marks (
    tool       TEXT PRIMARY KEY,
    called     INTEGER NOT NULL,
    changed    INTEGER NOT NULL,
    definition TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Requests that wait.
CREATE TABLE waits (
    request  TEXT PRIMARY KEY,
    asked    INTEGER NOT NULL,
    deadline INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX waits_asked ON waits (asked);
CREATE INDEX waits_deadline ON waits (deadline);

-- When a person was first shown a request that waits.
CREATE TABLE shown (request TEXT NOT NULL, person TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (request, person)) STRICT, WITHOUT ROWID;

-- How many approvals a person has given since the last decline.
CREATE TABLE streaks (person TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT, WITHOUT ROWID;

-- The policies under which calls were judged: where the text of each is.
CREATE TABLE policies (digest TEXT PRIMARY KEY, event TEXT NOT NULL, content TEXT NOT NULL) STRICT, WITHOUT ROWID;

-- How many starts of a session the watch does not say hold: those that cannot be
-- judged again, and those that ran elsewhere.
CREATE TABLE doubts (session TEXT NOT NULL, finding TEXT NOT NULL, n INTEGER NOT NULL, PRIMARY KEY (session, finding)) STRICT, WITHOUT ROWID;

-- Records that show that an invariant broke, each once.
CREATE TABLE violations (
    log_time INTEGER NOT NULL, part INTEGER NOT NULL, off INTEGER NOT NULL,
    session   TEXT NOT NULL,
    batch     TEXT NOT NULL,
    idx       INTEGER NOT NULL,
    invariant TEXT NOT NULL,
    event     TEXT NOT NULL,
    detail    TEXT NOT NULL,
    PRIMARY KEY (log_time, part, off)
) STRICT, WITHOUT ROWID;
CREATE INDEX violations_session ON violations (session, log_time, part, off);
