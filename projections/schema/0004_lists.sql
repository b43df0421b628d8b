-- What the lists of sessions and of acts are narrowed by.
CREATE INDEX sessions_state ON sessions (state, log_time, part, off);
CREATE INDEX sessions_agent ON sessions (agent, log_time, part, off);
CREATE INDEX sessions_principal ON sessions (principal, log_time, part, off);
CREATE INDEX access_person ON access (person, log_time, part, off);
