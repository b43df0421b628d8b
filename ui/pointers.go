package ui

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/countersign-dev/countersign/ui/visible"
)

// maxPointers is how many changed members a page names.
const maxPointers = 24

// pointerView is a member that two arguments do not have alike: its place as a
// JSON pointer (RFC 6901).
type pointerView struct {
	Word    string // "added", "removed", "changed"
	Pointer []visible.Span
}

// changedMembers names where two arguments differ in what they mean, however
// they are written. more counts those beyond the bound.
func changedMembers(before, after map[string]any) (list []pointerView, more int) {
	w := &pointerWalk{}
	w.objects("", before, after)
	return w.list, w.more
}

type pointerWalk struct {
	list []pointerView
	more int
}

func (w *pointerWalk) note(word, pointer string) {
	if len(w.list) == maxPointers {
		w.more++
		return
	}
	w.list = append(w.list, pointerView{word, visible.Line(pointer, 160)})
}

func (w *pointerWalk) values(at string, a, b any) {
	switch a := a.(type) {
	case map[string]any:
		if b, ok := b.(map[string]any); ok {
			w.objects(at, a, b)
			return
		}
	case []any:
		if b, ok := b.([]any); ok {
			w.arrays(at, a, b)
			return
		}
	default:
		if scalar(b) && a == b {
			return
		}
	}
	w.note("changed", at)
}

func scalar(v any) bool {
	switch v.(type) {
	case nil, string, bool, json.Number:
		return true
	}
	return false
}

func (w *pointerWalk) objects(at string, a, b map[string]any) {
	names := maps.Clone(a)
	maps.Copy(names, b)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		old, was := a[name]
		now, is := b[name]
		w.member(at+"/"+pointerToken(name), old, now, was, is)
	}
}

func (w *pointerWalk) arrays(at string, a, b []any) {
	for i := range max(len(a), len(b)) {
		var old, now any
		if i < len(a) {
			old = a[i]
		}
		if i < len(b) {
			now = b[i]
		}
		w.member(at+"/"+strconv.Itoa(i), old, now, i < len(a), i < len(b))
	}
}

func (w *pointerWalk) member(at string, old, now any, was, is bool) {
	switch {
	case !was:
		w.note("added", at)
	case !is:
		w.note("removed", at)
	default:
		w.values(at, old, now)
	}
}

// pointerToken writes a name as a part of a JSON pointer.
func pointerToken(name string) string {
	return strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
}
