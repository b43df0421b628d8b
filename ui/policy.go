package ui

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/ui/visible"
)

// Policies is the policy that judges, and how administrators change it.
type Policies interface {
	// Standing tells how things stand. It reads nothing.
	Standing() PolicyStanding
	// Reload reads the file again, for a person.
	Reload(ctx context.Context, by *events.Actor) PolicyReload
	// Confirm lets the held policy of a digest hold in place of another. The
	// console has checked that the person administers. ErrPolicyMoved where that
	// is not what waits.
	Confirm(ctx context.Context, instead, held events.Digest, by *events.Actor) error
}

// ErrPolicyMoved is what Policies returns for a change that does not wait any more.
var ErrPolicyMoved = errors.New("what you were shown does not wait any more: another policy holds, or another one waits. Look at the page again")

// PolicyStanding is the policy, and what is known of its changes.
type PolicyStanding struct {
	File   string // that it is read from; "" where it cannot be read again
	Digest events.Digest
	Text   []byte // its document, canonical JSON
	Held   *HeldPolicy
	Last   *PolicyReload // the last one of this process
	Start  PolicyAtStart
}

// HeldPolicy is one that loosens, and waits for an administrator.
type HeldPolicy struct {
	Digest  events.Digest
	Text    []byte
	Changes []PolicyChange
	Since   time.Time
}

// PolicyReload is what became of a reload.
type PolicyReload struct {
	At      time.Time
	Via     string // "signal", "control", "console"
	By      *events.Actor
	Outcome string // "unchanged", "applied", "held", "failed"; "confirmed" where one that was held holds now
	Error   string // why it failed
	Changes []PolicyChange
	Restart []string // keys of the file that need a restart
}

// PolicyAtStart is how the policy of the last start differs from the one before.
type PolicyAtStart struct {
	Before  string // its digest; "" where nothing differs
	Changes []PolicyChange
	Unknown string // why it cannot be told
}

// PolicyChange is a difference in words.
type PolicyChange struct {
	Words   string
	Loosens bool
}

// policyView is the page of the policy.
type policyView struct {
	Said     string // what was wrong with what was posted
	Facts    []factView
	Text     *textView
	Held     *heldView
	Last     *reloadView
	Start    *startView
	Admin    bool
	Reloads  bool // there is a file
	Restarts []string
}

// heldView is a policy that waits, against the one that holds.
type heldView struct {
	Since   whenView
	Instead string // digests
	Digest  string
	Changes []PolicyChange
	Diff    comparison
}

type reloadView struct {
	Chip    chip
	When    whenView
	Words   string
	Error   []visible.Span
	Changes []PolicyChange
	Restart []string
}

type startView struct {
	Words   string
	Loosens bool
	Changes []PolicyChange
}

func (c *Console) policyPage(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r); err != nil {
		return err
	}
	return c.showPolicy(w, r, id, http.StatusOK, "")
}

func (c *Console) showPolicy(w http.ResponseWriter, r *http.Request, id auth.Identity, status int, said string) error {
	if c.opt.Policies == nil {
		return errNoPage
	}
	s := c.opt.Policies.Standing()
	c.note(r.Context(), id, "policy "+short(s.Digest), "")
	v := policyView{
		Said: said, Admin: id.Can(auth.Administer), Reloads: s.File != "", Start: startOf(s.Start),
		Facts: []factView{{Name: "In short", Value: c.opt.Policy()}, {Name: "Digest", Value: string(s.Digest)}, {Name: "File", Spans: visible.Line(s.File, 300)}},
	}
	text := shownText(s.Text, theirsBudget)
	if laid, err := visible.JSON(s.Text, theirsBudget); err == nil {
		text.Text = laid
	}
	v.Text = &text
	if s.Held != nil {
		v.Held = &heldView{
			Since: whenOnly(s.Held.Since), Instead: string(s.Digest), Digest: string(s.Held.Digest), Changes: s.Held.Changes, Diff: compare(s.Text, s.Held.Text),
		}
	}
	v.Last = c.reloadOf(r.Context(), s.Last)
	return c.page(w, r, status, c.shell(id, "Policy", "/system"), policyPage(v))
}

func (c *Console) reloadOf(ctx context.Context, r *PolicyReload) *reloadView {
	if r == nil {
		return nil
	}
	v := &reloadView{When: whenOnly(r.At), Changes: r.Changes, Restart: r.Restart, Error: visible.Line(r.Error, 1000)}
	who := "by SIGHUP"
	switch {
	case r.By != nil:
		who = "by " + c.names().of(ctx, r.By.Person)
	case r.Via == "control":
		who = "by agentd policy reload"
	}
	switch r.Outcome {
	case "applied":
		v.Chip, v.Words = chip{"ok", "check", "Applied"}, "Read again "+who+". It only tightens, so it holds."
	case "held":
		v.Chip, v.Words = chip{"wait", "clock", "Held back"}, "Read again "+who+". It loosens: the old policy holds until an administrator confirms the change."
	case "confirmed":
		v.Chip, v.Words = chip{"ok", "check", "Confirmed"}, "The change was confirmed "+who+", and holds."
	case "failed":
		v.Chip, v.Words = chip{"no", "cross", "Failed"}, "Read again "+who+". The old policy holds."
	default:
		v.Chip, v.Words = chip{"plain", "check", "Unchanged"}, "Read again "+who+". The policy is the same."
	}
	return v
}

// startOf says what changed with the last start; nil where nothing did.
func startOf(s PolicyAtStart) *startView {
	v := &startView{Changes: s.Changes}
	for _, change := range s.Changes {
		v.Loosens = v.Loosens || change.Loosens
	}
	switch {
	case s.Unknown != "":
		v.Words = "Whether this start changed the policy is not known: " + visible.Escaped(s.Unknown)
	case s.Before == "":
		return nil
	case v.Loosens:
		v.Words = "This start loosened the policy. Whoever restarts the program has its file, so it holds without a confirmation."
	default:
		v.Words = "This start tightened the policy."
	}
	return v
}

// policyNewsView is what is new of the policy, in sentences.
type policyNewsView struct{ Words []string }

// policyNews says what is new of the policy; nil where the program has no page of
// it.
func (c *Console) policyNews() *policyNewsView {
	if c.opt.Policies == nil {
		return nil
	}
	s, v := c.opt.Policies.Standing(), &policyNewsView{}
	if s.Held != nil {
		v.Words = append(v.Words, "A policy that loosens waits for an administrator.")
	}
	if start := startOf(s.Start); start != nil && start.Loosens {
		v.Words = append(v.Words, "The policy was loosened at the last start.")
	}
	if s.Last != nil && s.Last.Outcome == "failed" {
		v.Words = append(v.Words, "The last reload of the policy failed: the old one holds.")
	}
	return v
}

// policyReload reads the file again, for an administrator.
func (c *Console) policyReload(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if _, err := readFields(w, r, maxPolicyForm, ""); err != nil {
		return err
	}
	if c.opt.Policies == nil {
		return errNoPage
	}
	c.opt.Policies.Reload(r.Context(), id.Actor())
	http.Redirect(w, r, "/system/policy", http.StatusSeeOther)
	return nil
}

const maxPolicyForm = 16 << 10

// policyConfirm lets a policy hold that loosens: the one that the person was shown,
// in place of the one that they were shown.
func (c *Console) policyConfirm(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	form, err := readFields(w, r, maxPolicyForm, "")
	if err != nil {
		return err
	}
	if c.opt.Policies == nil {
		return errNoPage
	}
	if form["confirm"] != "yes" || form["held"] == "" {
		return c.showPolicy(w, r, id, http.StatusBadRequest, "Nothing was changed. Tick the box to say that you have read what would change.")
	}
	err = c.opt.Policies.Confirm(r.Context(), events.Digest(form["instead"]), events.Digest(form["held"]), id.Actor())
	if errors.Is(err, ErrPolicyMoved) {
		return c.showPolicy(w, r, id, http.StatusConflict, "Nothing was changed: "+err.Error()+".")
	}
	if err != nil {
		return err
	}
	http.Redirect(w, r, "/system/policy", http.StatusSeeOther)
	return nil
}
