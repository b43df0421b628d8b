package api

import (
	"context"
	"errors"
	"net/http"
	"strconv"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
)

// schema serves the JSON Schema of an event type: GET /schemas/TYPE/VERSION,
// where the dataschema of events points. "envelope" is that of all.
func (a *API) schema(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	b, err := schemaOf(r.PathValue("type"), r.PathValue("version"))
	if err != nil {
		return refuse(http.StatusNotFound, "no_such_schema", "no event has the schema %.200q", r.URL.Path)
	}
	w.Header().Set("Content-Type", "application/schema+json")
	w.Header().Set("Cache-Control", "public, max-age=3600")
	w.Write(b) //nolint:gosec // ours; who has gone away gets nothing
	return nil
}

func schemaOf(name, text string) ([]byte, error) {
	version, err := strconv.Atoi(text)
	switch {
	case err != nil || strconv.Itoa(version) != text:
		return nil, events.ErrUnknownVersion
	case name != "envelope":
		return events.Schema(events.Type(name), version)
	case version != events.EnvelopeSchemaVersion:
		return nil, events.ErrUnknownVersion
	default:
		return events.EnvelopeSchema()
	}
}

var errStarting = errors.New("agentd is starting: it catches up with its log")

// unready says why agentd takes no work.
func (a *API) unready(parts []Part) error {
	if a.opt.ReadOnly != nil {
		return a.opt.ReadOnly
	}
	for _, ready := range []<-chan struct{}{a.gate.Ready(), a.loop.Ready()} {
		select {
		case <-ready:
		default:
			return errStarting
		}
	}
	if a.life.Err() != nil {
		return context.Cause(a.life)
	}
	return needed(parts)
}
