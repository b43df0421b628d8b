package countersign

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/journal"
)

// before is what the log says of the process that wrote it before this one.
type before struct {
	node  string // the name of this log's node; a new one where the log is empty
	boot  string // "" where there was none
	clean bool   // that boot ended as asked
}

// source names the envelopes of one boot. Since one process at a time writes a
// log, the source of its last event names the last boot.
func source(node, boot string) string { return "agentd/" + node + "/" + boot }

// lookBackRows is how many records are read at a time.
const lookBackRows = 256

// lookBack finds the last boot. The log is the only place where it stands: a
// note beside it could be lost, and then what that boot had started would seem
// to run for ever.
func lookBack(ctx context.Context, j *journal.Journal) (before, error) {
	for end := j.Head().Row; end > 0; end -= lookBackRows {
		first := max(0, end-lookBackRows)
		records, err := j.Read(ctx, first, int(end-first))
		if err != nil {
			return before{}, fmt.Errorf("look for the last boot: %w", err)
		}
		for _, r := range slices.Backward(records) {
			e, err := events.DecodeEnvelope(r.Record.Envelope)
			if err != nil {
				continue // of another build
			}
			if node, boot, ok := strings.Cut(strings.TrimPrefix(e.Source, "agentd/"), "/"); ok && e.Source == source(node, boot) {
				return before{node, boot, e.Type == events.TypeShutdown}, nil
			}
		}
	}
	return before{node: events.NewID()}, nil
}

// files lists the databases in the data directory.
func (c *Countersign) files() string {
	if c.o.Memory {
		return ""
	}
	found, _ := filepath.Glob(filepath.Join(c.dir, "*.db")) // a folder's name is no pattern of ours: none is found then
	var names []string
	for _, path := range found {
		if name := filepath.Base(path); name != journalFile {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// Warning says what is wrong with the data directory though it can be used, in
// words for the operator; "" where nothing is.
func (c *Countersign) Warning() string {
	if c.beside == "" {
		return ""
	}
	return fmt.Sprintf("the journal in %s is not the one that %s beside it was made from: was it removed, exchanged, or put back from a copy? "+
		"What that one recorded is not here, and what it had started is not known.", c.dir, c.beside)
}
