package api

import (
	"context"
	"encoding/json"
	"net/http"
	"time"
)

// Rebuilding is a line of the answer to POST /rebuild: how far it is. The last
// one has Finished, and Error where it failed.
type Rebuilding struct {
	Done     uint64 `json:"done"`               // records
	Total    uint64 `json:"total"`              // records
	Indexing bool   `json:"indexing,omitempty"` // all are read
	Finished bool   `json:"finished,omitempty"`
	Error    string `json:"error,omitempty"`
}

// Rebuilder makes the views anew.
type Rebuilder interface {
	// Rebuild returns when they are made and in use, or ctx ends.
	Rebuild(ctx context.Context) error
	// Progress says how far it is.
	Progress() Rebuilding
}

// tellEvery is how often a rebuild says how far it is.
const tellEvery = 500 * time.Millisecond

// rebuild rebuilds the views as long as who asked waits for it, and tells how
// far it is, one JSON document a line.
func (o ControlOptions) rebuild(w http.ResponseWriter, r *http.Request) {
	control := http.NewResponseController(w)
	_ = control.SetWriteDeadline(time.Time{}) // it takes as long as it takes
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	ended := make(chan error, 1)
	go func() { ended <- o.Views.Rebuild(r.Context()) }()
	tick := time.NewTicker(tellEvery)
	defer tick.Stop()
	lines := json.NewEncoder(w)
	for {
		select {
		case <-tick.C:
			_ = lines.Encode(o.Views.Progress()) // who has gone ends the rebuild by the context
			_ = control.Flush()
		case err := <-ended:
			last := o.Views.Progress()
			if last.Finished = true; err != nil {
				last.Error = err.Error()
			}
			_ = lines.Encode(last)
			return
		}
	}
}
