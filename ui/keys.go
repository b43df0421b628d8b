package ui

import (
	"net/http"

	"github.com/countersign-dev/countersign/internal/auth"
)

// shortcut is a key, or two after each other, and what it does.
type shortcut struct {
	Keys  []string
	Words string
}

// shortcuts are those of js/5-keys.js, in the order in which a day needs them.
func shortcuts() []shortcut {
	return []shortcut{
		{[]string{"j"}, "To the next request in the queue"},
		{[]string{"k"}, "To the one before"},
		{[]string{"Enter"}, "Open the one that has the focus"},
		{[]string{"a"}, "Go to Approve; a again, or Enter, approves exactly what is shown"},
		{[]string{"d"}, "Write why; Enter goes to Decline, Enter again declines"},
		{[]string{"e"}, "Change the arguments"},
		{[]string{"x"}, "Choose the request that has the focus, to decide several together"},
		{[]string{"u"}, "Back to the queue"},
		{[]string{"/"}, "Search"},
		{[]string{"g", "i"}, "Inbox"},
		{[]string{"g", "h"}, "History"},
		{[]string{"g", "s"}, "Sessions"},
		{[]string{"g", "t"}, "Tools"},
		{[]string{"g", "n"}, "Insights"},
		{[]string{"g", "a"}, "Access, for auditors"},
		{[]string{"g", "y"}, "System"},
		{[]string{"?"}, "This list"},
	}
}

func (c *Console) keys(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	if err := only(r); err != nil {
		return err
	}
	return c.page(w, r, http.StatusOK, c.shell(id, "Shortcuts", "/keys"), keysPage(shortcuts()))
}
