package main

import (
	"errors"
	"fmt"

	"github.com/countersign-dev/countersign/api"
	"github.com/countersign-dev/countersign/internal/journal"
	"github.com/countersign-dev/countersign/projections"
)

// parts is how log and views are, for /readyz, which everybody may ask: no paths
// and no texts of errors.
func (s *server) parts() []api.Part {
	return []api.Part{logPart(s.countersign.Takes()), viewsPart(s.views.Status(), s.views.Status().Behind(s.countersign.Log.Now()))}
}

// logPart is needed: nothing happens that is not on the record.
func logPart(err error) api.Part {
	p := api.Part{Name: "log", OK: err == nil, Needed: true}
	switch {
	case err == nil:
	case errors.Is(err, journal.ErrDiskFull):
		p.Reason = "there is no room on the disk for new work; what is under way is decided and ends"
	case errors.Is(err, journal.ErrStopped):
		p.Reason = "it has stopped: start agentd again; what it has logged says why"
	case errors.Is(err, journal.ErrReadOnly):
		p.Reason = "it is open for reading only"
	default:
		p.Reason = "it cannot be written now: another program may have locked it"
	}
	return p
}

// viewsPart is not needed: while views are built pages wait, and deciding goes
// on.
func viewsPart(v projections.Status, behind bool) api.Part {
	p := api.Part{Name: "views", OK: !behind && v.Fault == "" && v.Rebuilding == nil}
	switch {
	case p.OK:
	case v.Rebuilding != nil && v.Rebuilding.Indexing:
		p.Reason = fmt.Sprintf("they are being built anew: all %d records are read, the indexes are being made", v.Rebuilding.Total)
	case v.Rebuilding != nil:
		p.Reason = fmt.Sprintf("they are being built anew: %d of %d records are read", v.Rebuilding.Done, v.Rebuilding.Total)
	case v.Fault != "":
		p.Reason = fmt.Sprintf("they stand still at %d of %d records: what agentd has logged says why", v.Records, v.Head)
	default:
		p.Reason = fmt.Sprintf("they catch up with the log: %d of %d records are read", v.Records, v.Head)
	}
	return p
}
