package api

import (
	"fmt"
	"net/http"

	"github.com/countersign-dev/countersign/internal/auth"
)

// Part is something that agentd consists of, and whether it does its work. It
// goes over the wire.
type Part struct {
	Name string `json:"name"` // "log", "views"
	OK   bool   `json:"ok"`
	// Needed: agentd takes no work without it. Where the log does not take a
	// record, nothing can be asked, decided or run; where the views are being
	// built, pages wait and all else goes on.
	Needed bool   `json:"needed"`
	Reason string `json:"reason,omitempty"` // why it does not, for people; no secrets, no texts of others
}

// healthy says that the process answers: GET /healthz.
func (a *API) healthy(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	a.answer(w, r, http.StatusOK, map[string]string{"status": "ok"})
	return nil
}

// ready reports whether agentd takes work, and how its parts are: GET /readyz.
// 200 means that calls can be asked for, decided and run: gate and loop have
// caught up with the log, and every part that is needed does its work. What is
// not needed is told, and changes no status: a load balancer must not take a node
// away whose views are being built, since it goes on deciding.
func (a *API) ready(w http.ResponseWriter, r *http.Request, _ auth.Identity) error {
	parts := a.opt.Parts()
	if err := a.unready(parts); err != nil {
		p := refuse(http.StatusServiceUnavailable, "not_ready", "%v", err)
		if len(parts) > 0 {
			p = p.with("parts", parts)
		}
		return p
	}
	body := map[string]any{"status": "ready"}
	if len(parts) > 0 {
		body["parts"] = parts
	}
	if notes := a.opt.Notes(); len(notes) > 0 {
		body["notes"] = notes
	}
	a.answer(w, r, http.StatusOK, body)
	return nil
}

// needed is why a part does not work without which there is no work.
func needed(parts []Part) error {
	for _, p := range parts {
		if p.Needed && !p.OK {
			return fmt.Errorf("%s: %s", p.Name, p.Reason)
		}
	}
	return nil
}
