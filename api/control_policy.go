package api

import (
	"context"
	"net/http"
)

// PolicyReload is the answer to POST /policy/reload: what became of the file's
// policy. Nothing that comes over the control socket can let a policy hold that
// loosens: that is for an administrator, in the console.
type PolicyReload struct {
	// Outcome is "unchanged", "applied", "held" or "failed".
	Outcome string `json:"outcome"`
	// Error says why it failed; the old policy holds.
	Error   string         `json:"error,omitempty"`
	Changes []PolicyChange `json:"changes"`
	// Restart names the keys of the file that differ from what runs, and that only
	// a restart takes up.
	Restart []string `json:"restart,omitempty"`
	Console string   `json:"console"` // where a held policy is confirmed
}

// PolicyChange is one difference from the policy that held, in words.
type PolicyChange struct {
	Words   string `json:"words"`
	Loosens bool   `json:"loosens,omitempty"`
}

// PolicyStanding is the answer to GET /policy.
type PolicyStanding struct {
	Digest string         `json:"digest"` // of the policy that holds
	Held   string         `json:"held,omitempty"`
	Waits  []PolicyChange `json:"waits,omitempty"` // what the held one would change
}

// PolicyReloader reads the policy's file again.
type PolicyReloader interface {
	ReloadPolicy(ctx context.Context) PolicyReload
	PolicyStanding() PolicyStanding
}

func (o ControlOptions) policyReload(w http.ResponseWriter, r *http.Request) {
	o.answer(w, r, o.Policy.ReloadPolicy(r.Context()))
}

func (o ControlOptions) policyStanding(w http.ResponseWriter, r *http.Request) {
	o.answer(w, r, o.Policy.PolicyStanding())
}
