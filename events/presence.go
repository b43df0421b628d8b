package events

import (
	"bytes"
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Decoding into a Go struct cannot tell an absent member from a zero, and reads
// null as a zero. A record must say what it says: an absent "index" is not call
// 0. So the text is held against the shape of its type, in one more pass.

var (
	errNull   = errors.New("is null")
	errAbsent = errors.New("is missing")
)

// shape is what the JSON object of a Go struct consists of.
type shape struct {
	members []member // in the order in which they are minted, at most 64
}

type member struct {
	quoted   string // the name as minted, with its quotes
	required bool
	of       *shape // of the object, or of the objects of the array; nil for other values
}

// shapes returns the shape of every type in the version that is minted. It is
// computed once, from the struct tags, and not changed afterwards.
var shapes = sync.OnceValue(func() map[Type]*shape {
	table := make(map[Type]*shape, len(AllTypes()))
	for _, t := range AllTypes() {
		table[t] = shapeOf(reflect.TypeOf(newEvent(t, t.Version())))
	}
	return table
})

// shapeOf reads the tags of a struct, or of the struct behind pointers and
// slices; it returns nil for every other type.
func shapeOf(t reflect.Type) *shape {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]()) {
		return nil
	}
	s := &shape{}
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			s.members = append(s.members, shapeOf(f.Type).members...)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		s.members = append(s.members, member{
			quoted: `"` + name + `"`, required: !strings.Contains(options, "omit"), of: shapeOf(f.Type),
		})
	}
	return s
}

// checkPresence reports a required member that data lacks, and a null. The data
// has been decoded before: it is valid, and has no other names than those of
// its shape.
func (s *shape) checkPresence(data []byte) error {
	// Names were checked for repetition and text for UTF-8 by the decoding.
	dec := jsontext.NewDecoder(bytes.NewBuffer(data), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return s.object(dec)
}

func (s *shape) object(dec *jsontext.Decoder) error {
	if dec.PeekKind() != '{' {
		return errors.New("is not an object")
	}
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	var seen uint64
	next := 0 // the likely place of the next name
	for dec.PeekKind() != '}' {
		name, err := dec.ReadValue()
		if err != nil {
			return err
		}
		i := s.find(name, next)
		if i < 0 {
			return fmt.Errorf("unknown member %s", name)
		}
		seen |= 1 << i
		next = i + 1
		if err := s.members[i].value(dec); err != nil {
			return err
		}
	}
	if err := s.complete(seen); err != nil {
		return err
	}
	_, err := dec.ReadToken()
	return err
}

// complete reports the first required member that was not seen.
func (s *shape) complete(seen uint64) error {
	for i, m := range s.members {
		if m.required && seen&(1<<i) == 0 {
			return fmt.Errorf("%s %w", m.quoted, errAbsent)
		}
	}
	return nil
}

// find returns the place of a name, or -1. It looks at hint first: members
// nearly always come in the order in which they are minted.
func (s *shape) find(quoted []byte, hint int) int {
	if hint < len(s.members) && s.members[hint].quoted == string(quoted) {
		return hint
	}
	if bytes.IndexByte(quoted, '\\') >= 0 {
		plain, err := jsontext.AppendUnquote(nil, quoted)
		if err != nil {
			return -1
		}
		quoted = []byte(`"` + string(plain) + `"`)
	}
	for i, m := range s.members {
		if m.quoted == string(quoted) {
			return i
		}
	}
	return -1
}

// value reads the value of a member, or an element of it.
func (m member) value(dec *jsontext.Decoder) error {
	kind := dec.PeekKind()
	switch {
	case kind == 'n':
		return fmt.Errorf("%s %w", m.quoted, errNull)
	case kind == '{' && m.of != nil:
		if err := m.of.object(dec); err != nil {
			return fmt.Errorf("%s: %w", m.quoted, err)
		}
		return nil
	case kind == '[':
		return m.array(dec)
	default:
		return dec.SkipValue()
	}
}

func (m member) array(dec *jsontext.Decoder) error {
	if _, err := dec.ReadToken(); err != nil {
		return err
	}
	for dec.PeekKind() != ']' {
		if err := m.value(dec); err != nil {
			return err
		}
	}
	_, err := dec.ReadToken()
	return err
}
