package api

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// ControlOptions are what the control handler is made of. All but Logger are
// required.
type ControlOptions struct {
	// Link makes a one-time sign-in link for the local admin.
	Link     func(ctx context.Context) (url string, expires time.Time, err error)
	Status   func() Status
	Recorder Recorder
	Views    Rebuilder
	Policy   PolicyReloader
	Logger   *slog.Logger // nil: none
}

// Status is what agentd tells its own commands of itself.
type Status struct {
	Version string        `json:"version"`
	Boot    string        `json:"boot"`
	Addr    string        `json:"addr"` // where the console is
	Ready   bool          `json:"ready"`
	Heads   []events.Head `json:"heads"` // of the log
}

// Link is the answer to POST /sign-in-link.
type Link struct {
	URL     string    `json:"url"` // for a terminal, never for a log
	Expires time.Time `json:"expires"`
}

// Control serves agentd's own commands: POST /sign-in-link, POST /rebuild,
// POST /policy/reload, GET /policy and GET /status. It asks nobody who they are, so it belongs on a socket that only
// the owner of the data directory can open, and nowhere else.
func Control(o ControlOptions) http.Handler {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /sign-in-link", o.link)
	mux.HandleFunc("POST /rebuild", o.rebuild)
	mux.HandleFunc("POST /policy/reload", o.policyReload)
	mux.HandleFunc("GET /policy", o.policyStanding)
	mux.HandleFunc("GET /status", func(w http.ResponseWriter, r *http.Request) { o.answer(w, r, o.Status()) })
	return mux
}

// link makes a link. That it was made goes on the record before it is given; a
// log that takes nothing new must not lock the admin out, so that it could not
// be recorded is logged.
func (o ControlOptions) link(w http.ResponseWriter, r *http.Request) {
	e := &events.Access{Action: "sign-in-link", Outcome: events.AccessOK, Via: "control"}
	if err := o.Recorder.Record(r.Context(), e, ""); err != nil {
		o.Logger.ErrorContext(r.Context(), "a sign-in link could not be recorded", "error", err)
	}
	url, expires, err := o.Link(r.Context())
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	o.answer(w, r, Link{url, expires})
}

func (o ControlOptions) answer(w http.ResponseWriter, r *http.Request, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	if err := json.NewEncoder(w).Encode(body); err != nil {
		o.Logger.WarnContext(r.Context(), "an answer of the control socket was lost", "error", err)
	}
}
