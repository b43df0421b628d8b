package projections

// policies stores where the texts of new policies are.
func (s storing) policies() error {
	for _, p := range s.watched.policies {
		content, err := doc(p.content)
		if err != nil {
			return err
		}
		if err := s.exec("INSERT OR IGNORE INTO policies (digest, event, content) VALUES (?, ?, ?)", string(p.digest), p.event, content); err != nil {
			return err
		}
	}
	return nil
}

// violations stores what the watch found.
func (s storing) violations() error {
	for _, v := range s.watched.found {
		s.add(famViolations, labels{string(v.Invariant)}, tally{n: 1})
		if err := s.violation(v); err != nil {
			return err
		}
	}
	return nil
}

// doubted adds the starts of which the watch does not say that they hold.
func (s storing) doubted() error {
	for of, n := range s.watched.doubts {
		if err := s.exec("INSERT INTO doubts (session, finding, n) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET n = n + excluded.n", of.session, of.finding, n); err != nil {
			return err
		}
	}
	return nil
}

func (s storing) violation(v Violation) error {
	return s.exec("INSERT INTO violations (log_time, part, off, session, batch, idx, invariant, event, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		v.At.LogTime, v.At.Partition, off(v.At), v.Session, v.Key.BatchID, v.Key.Index, string(v.Invariant), v.EventID, v.Detail)
}
