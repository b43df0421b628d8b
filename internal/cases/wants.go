package cases

import (
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wants is an object of expect.json, or another input, of which a judge takes
// what it understands. A member that nobody took is named in the report.
type wants struct {
	path    string // "assembled."
	members map[string]jsontext.Value
	names   []string // in order
	taken   map[string]bool
	report  *report
}

// parseWants reads an object. What is not one is a failure of the case.
func parseWants(r *report, path string, raw jsontext.Value) *wants {
	w := &wants{path: path, taken: map[string]bool{}, report: r}
	if err := json.Unmarshal(raw, &w.members); err != nil {
		r.fail("%s is not an object that can be read: %v", path, err)
	}
	for name := range w.members {
		w.names = append(w.names, name)
	}
	slices.Sort(w.names)
	return w
}

// has reports whether a member is there, and does not take it.
func (w *wants) has(name string) bool {
	_, ok := w.members[name]
	return ok
}

// take decodes a member into to, and reports whether it is there.
func (w *wants) take(name string, to any) bool {
	raw, ok := w.members[name]
	if !ok {
		return false
	}
	w.taken[name] = true
	if err := json.Unmarshal(raw, to); err != nil {
		w.report.fail("%s%s cannot be read: %v", w.path, name, err)
		return false
	}
	return true
}

// raw takes a member as it stands.
func (w *wants) raw(name string) jsontext.Value {
	w.taken[name] = true
	return w.members[name]
}

// object takes a member that is an object, or nil. The caller closes it.
func (w *wants) object(name string) *wants {
	if !w.has(name) || w.members[name].Kind() != '{' {
		return nil
	}
	return parseWants(w.report, w.path+name+".", w.raw(name))
}

// strings takes a member that is a text or a list of texts.
func (w *wants) strings(name string) []string {
	if raw := w.members[name]; raw.Kind() == '"' {
		var one string
		w.take(name, &one)
		return []string{one}
	}
	var all []string
	w.take(name, &all)
	return all
}

// refuse takes a member only to say why it is not judged.
func (w *wants) refuse(name, why string) {
	if w.has(name) {
		w.taken[name] = true
		w.report.leave(w.path+name, why)
	}
}

// close names what nobody took.
func (w *wants) close() {
	if w == nil {
		return
	}
	for _, name := range w.names {
		if !w.taken[name] {
			w.report.leave(w.path+name, "")
		}
	}
}

// unknown names the first member that nobody took, or "".
func (w *wants) unknown() string {
	for _, name := range w.names {
		if !w.taken[name] {
			return name
		}
	}
	return ""
}
