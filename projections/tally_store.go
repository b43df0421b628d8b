package projections

// store writes what a batch adds, in its transaction, and reads what scrapers
// are to see after it.
func (d *delta) store(w *writer) error {
	s := storing{writer: w, delta: d}
	for _, step := range []func() error{s.shown, s.streaks, s.violations, s.doubted, s.waits, s.names, s.tools, s.policies, s.accepted, s.tallies, s.waiting} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// storing is a delta on its way into the file.
type storing struct {
	*delta
	*writer
}

func (s storing) shown() error {
	for _, v := range s.delta.shown {
		if err := s.exec("INSERT OR IGNORE INTO shown (request, person, at) VALUES (?, ?, ?)", v.request, v.person, v.at); err != nil {
			return err
		}
	}
	return nil
}

func (s storing) streaks() error {
	for person, n := range s.delta.streaks {
		if err := s.exec("INSERT INTO streaks (person, n) VALUES (?, ?) ON CONFLICT (person) DO UPDATE SET n = excluded.n", person, n); err != nil {
			return err
		}
	}
	return nil
}

// waits keeps the requests that wait, and forgets who saw those that have ended.
func (s storing) waits() error {
	for request, w := range s.delta.waits {
		err := error(nil)
		if w.ended {
			err = s.exec("DELETE FROM waits WHERE request = ?", request)
		} else {
			err = s.exec("INSERT OR REPLACE INTO waits (request, asked, deadline) VALUES (?, ?, ?)", request, w.asked, w.deadline)
		}
		if err != nil {
			return err
		}
	}
	for _, request := range s.unshown {
		if err := s.exec("DELETE FROM shown WHERE request = ?", request); err != nil {
			return err
		}
	}
	return nil
}

func (s storing) names() error {
	for _, n := range s.delta.names {
		if err := s.exec("INSERT OR IGNORE INTO labels (kind, name) VALUES (?, ?)", n[0], n[1]); err != nil {
			return err
		}
	}
	return nil
}

func (s storing) tools() error {
	for tool, m := range s.delta.tools {
		if err := s.exec(`INSERT INTO tool_marks (tool, called, changed, definition) VALUES (?, ?, ?, ?)
			ON CONFLICT (tool) DO UPDATE SET called = max(called, excluded.called), changed = max(changed, excluded.changed),
				definition = CASE excluded.definition WHEN '' THEN definition ELSE excluded.definition END`,
			tool, m.called, m.changed, string(m.definition)); err != nil {
			return err
		}
	}
	return nil
}

func (s storing) tallies() error {
	const into = "INSERT INTO tallies (step, family, began, a, b, c, bucket, n, sum) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET "
	const sums, most = into + "n = n + excluded.n, sum = sum + excluded.sum", into + "n = max(n, excluded.n)"
	for k, t := range s.delta.tallies {
		query := sums
		if k.family.greatest() {
			query = most
		}
		if err := s.exec(query, k.step, string(k.family), k.began, k.a, k.b, k.c, k.bucket, t.n, t.sum); err != nil {
			return err
		}
	}
	return nil
}

// waiting reads what is to be shown of the requests that wait.
func (s storing) waiting() (err error) {
	if s.gauges.oldest, s.gauges.waiting, err = s.number("SELECT min(asked) FROM waits"); err != nil {
		return err
	}
	s.gauges.nextExpiry, _, err = s.number("SELECT min(deadline) FROM waits")
	return err
}
