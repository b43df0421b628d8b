package instruments

import (
	"slices"
	"unicode/utf8"
)

const (
	// Other stands for every name beyond the known ones.
	Other = "_other"
	// MaxNames is how many names one label has at most, Other not among them.
	MaxNames = 100
	// maxName bounds a name in bytes.
	maxName = 64
)

// Names are the values that a label may have: those of the configuration. A
// model can ask for a tool by any name; it cannot make a series of it.
type Names struct{ known map[string]bool }

// NewNames returns the values of a label: the first MaxNames of the known
// names, in the order of their text. One that is long or not UTF-8 counts as
// Other.
func NewNames(known ...string) Names {
	n := Names{map[string]bool{}}
	for _, name := range slices.Sorted(slices.Values(known)) {
		if len(n.known) < MaxNames && name != "" && len(name) <= maxName && utf8.ValidString(name) {
			n.known[name] = true
		}
	}
	return n
}

// Of returns the value for a name.
func (n Names) Of(name string) string {
	if n.known[name] {
		return name
	}
	return Other
}

// All returns every value, Other last.
func (n Names) All() []string {
	all := make([]string, 0, len(n.known)+1)
	for name := range n.known {
		all = append(all, name)
	}
	slices.Sort(all)
	return append(all, Other)
}
