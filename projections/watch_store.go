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

// violations stores what the watch found, but for what is about calls that were
// never counted.
func (s storing) violations() error {
	for _, event := range s.watched.refused {
		if err := s.exec("INSERT OR IGNORE INTO refused_calls (event) VALUES (?)", event); err != nil {
			return err
		}
	}
	for _, f := range s.watched.found {
		_, refused, err := s.number("SELECT 1 FROM refused_calls WHERE event = ?", f.about)
		if err != nil {
			return err
		}
		if refused {
			continue
		}
		s.add(famViolations, labels{string(f.Invariant)}, tally{n: 1})
		if err := s.violation(f.Violation); err != nil {
			return err
		}
	}
	return nil
}

func (s storing) violation(v Violation) error {
	return s.exec("INSERT INTO violations (log_time, part, off, session, batch, idx, invariant, event, detail) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
		v.At.LogTime, v.At.Partition, off(v.At), v.Session, v.Key.BatchID, v.Key.Index, string(v.Invariant), v.EventID, v.Detail)
}
