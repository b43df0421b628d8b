package projections

import "context"

// take counts a record, as the fold left it, and holds it against the
// invariants.
func (d *delta) take(ctx context.Context, r folded, source Source) error {
	d.count(r)
	if err := d.watch(ctx, r, source); err != nil {
		return err
	}
	if d.book.definitions.Apply(r.Record, r.session, r.outcome) {
		d.redefined = true
	}
	return nil
}

// export shows the totals to scrapers. The views have caught up with the log, so
// they are no less than any that were shown before.
func (v *Views) export() { v.exported.Store(v.follower.audit.sums) }
