package api

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
)

// problem is an answer that is an error.
type problem struct {
	status  int
	code    string         // for programs; never changes its meaning
	message string         // for people: what, where, what to do
	more    map[string]any // members beside "error"
}

func (p *problem) Error() string { return p.code + ": " + p.message }

func refuse(status int, code, format string, args ...any) *problem {
	return &problem{status: status, code: code, message: fmt.Sprintf(format, args...)}
}

func badRequest(format string, args ...any) *problem {
	return refuse(http.StatusBadRequest, "bad_request", format, args...)
}

// with adds a member to the answer.
func (p *problem) with(name string, value any) *problem {
	p.more = map[string]any{name: value}
	return p
}

// outside is the one table from errors to what clients get.
func outside(err error) *problem {
	if p, ok := errors.AsType[*problem](err); ok {
		return p
	}
	for _, row := range []struct {
		err    error
		status int
		code   string
	}{
		{auth.ErrNoCredentials, http.StatusUnauthorized, "no_credentials"},
		{auth.ErrBadCredentials, http.StatusUnauthorized, "bad_credentials"},
		{gate.ErrUnknownSession, http.StatusNotFound, "unknown_conversation"},
		{agent.ErrBusy, http.StatusConflict, "conversation_busy"},
		{agent.ErrNoModel, http.StatusBadRequest, "unknown_model"},
		{agent.ErrStopping, http.StatusServiceUnavailable, "stopping"},
		{gate.ErrStopped, http.StatusServiceUnavailable, "stopping"},
		{events.ErrLogStopped, http.StatusServiceUnavailable, "log_stopped"},
		{events.ErrRefused, http.StatusServiceUnavailable, "log_refused"},
		{gate.ErrNotBack, http.StatusServiceUnavailable, "not_judged_yet"},
		{gate.ErrNotTaken, http.StatusServiceUnavailable, "not_recorded_yet"},
		{context.Canceled, http.StatusServiceUnavailable, "cut_off"},
	} {
		if errors.Is(err, row.err) {
			return refuse(row.status, row.code, "%v", err)
		}
	}
	return refuse(http.StatusServiceUnavailable, "failed", "agentd could not do it now: its log says why; try again")
}

// fail answers with an error. A request whose context has ended is answered as
// well: who has gone away does not hear it, and to everybody else no answer
// would look like success.
func (a *API) fail(w http.ResponseWriter, r *http.Request, err error) {
	p := outside(err)
	if cut := context.Cause(r.Context()); cut != nil && (p.code == "failed" || p.code == "cut_off") {
		p = outside(fmt.Errorf("the request was not done to its end: %w", cut))
	}
	switch {
	case p.code == "cut_off":
		a.logger.DebugContext(r.Context(), "a client went away", "path", r.URL.Path, "error", err)
	case p.code == "failed":
		a.logger.ErrorContext(r.Context(), "a request failed", "path", r.URL.Path, "error", err)
	case p.status == http.StatusServiceUnavailable:
		a.logger.WarnContext(r.Context(), "a request was put off", "path", r.URL.Path, "error", err)
	}
	switch p.status {
	case http.StatusServiceUnavailable:
		w.Header().Set("Retry-After", "1")
	case http.StatusUnauthorized: // RFC 6750, section 3
		challenge := `Bearer realm="countersign"`
		if p.code == "bad_credentials" {
			challenge += `, error="invalid_token"`
		}
		w.Header().Set("WWW-Authenticate", challenge)
	}
	body := map[string]any{"error": map[string]string{"code": p.code, "message": p.message}}
	maps.Copy(body, p.more)
	a.answer(w, r, p.status, body)
}

// answer writes a JSON answer.
func (a *API) answer(w http.ResponseWriter, r *http.Request, status int, body any) {
	b, err := json.Marshal(body)
	if err != nil {
		a.logger.ErrorContext(r.Context(), "an answer could not be encoded", "error", err)
		status, b = http.StatusInternalServerError, []byte(`{"error":{"code":"failed","message":"the answer could not be encoded"}}`)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	w.Write(append(b, '\n')) //nolint:gosec // JSON; who has gone away gets nothing
}
