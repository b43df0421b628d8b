-- The ways into the tables. None is unique, also where the fold sees to that: a
-- log from elsewhere may use an id twice, and an index must not be what stops a
-- rebuild. Each filter of a history is the prefix of an index
-- that goes on in the order of the list, so that a page costs the same wherever
-- it is.
CREATE INDEX IF NOT EXISTS sessions_id ON sessions (id);
CREATE INDEX IF NOT EXISTS sessions_place ON sessions (log_time, part, off);
CREATE INDEX IF NOT EXISTS runs_id ON runs (session, id);
CREATE INDEX IF NOT EXISTS rounds_batch ON rounds (session, batch);

CREATE INDEX IF NOT EXISTS calls_key ON calls (session, batch, idx);
CREATE INDEX IF NOT EXISTS calls_place ON calls (log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_tool ON calls (tool, log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_agent ON calls (agent, log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_rule ON calls (rule, log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_state ON calls (state, log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_asker ON calls (asker, log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_session ON calls (session, log_time, part, off);
CREATE INDEX IF NOT EXISTS calls_decider ON calls (decider, log_time, part, off) WHERE decider <> '';
CREATE INDEX IF NOT EXISTS calls_similar ON calls (tool, agent, log_time, part, off) WHERE approved = 1;
CREATE INDEX IF NOT EXISTS calls_declined ON calls (tool, agent, asker, log_time, part, off) WHERE approved = 0 AND decider <> '';
CREATE INDEX IF NOT EXISTS calls_declined_session ON calls (session, tool, agent, log_time, part, off) WHERE approved = 0 AND decider <> '';

CREATE INDEX IF NOT EXISTS requests_id ON requests (id);
CREATE INDEX IF NOT EXISTS requests_session ON requests (session);
CREATE INDEX IF NOT EXISTS requests_pending ON requests (log_time, part, off) WHERE state = 'pending';
CREATE INDEX IF NOT EXISTS asked_session ON asked (session, approver);

CREATE INDEX IF NOT EXISTS decisions_request ON decisions (request, row);
CREATE INDEX IF NOT EXISTS access_place ON access (log_time, part, off);
CREATE INDEX IF NOT EXISTS access_viewed ON access (resource, person, action, log_time);
CREATE INDEX IF NOT EXISTS aside_place ON aside (part, off);
