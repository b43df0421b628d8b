package main

import (
	"fmt"
	"math"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

const (
	draft       = "https://json-schema.org/draft/2020-12/schema"
	aboutLength = "Generated from the Go types. maxLength counts characters; what is bounded is bytes of UTF-8, to the same number."
)

// generator holds what all schemas are made from.
type generator struct {
	src    source
	places map[reflect.Type]place // of each struct, where a sample has most of its members

	version int // of the file that is being made
}

// generate returns the schemas of the package in dir, by file name.
func generate(dir string) (map[string][]byte, error) {
	src, err := readSource(dir)
	if err != nil {
		return nil, err
	}
	g := &generator{src: src, places: map[reflect.Type]place{}}
	if err := g.locate(); err != nil {
		return nil, err
	}
	files := map[string][]byte{}
	for _, t := range events.AllTypes() {
		data := reflect.TypeOf(eventstest.Sample(t).Data).Elem()
		for version := range t.Version() {
			if err := g.file(files, t, version+1, data); err != nil {
				return nil, err
			}
		}
	}
	return files, g.file(files, "envelope", events.EnvelopeSchemaVersion, reflect.TypeFor[events.Envelope]())
}

// file adds the schema of one type.
func (g *generator) file(files map[string][]byte, t events.Type, version int, data reflect.Type) error {
	defs := map[string]*schema{}
	g.version = version
	s, err := g.object(data, defs)
	if err != nil {
		return fmt.Errorf("%s: %w", t, err)
	}
	s.Schema, s.ID, s.Title, s.Comment, s.Defs = draft, events.SchemaPath(t, version), string(t), aboutLength, defs
	files[fmt.Sprintf("%s/%d.json", t, version)], err = s.text()
	return err
}

// object returns the schema of a struct, and adds those of the structs in it to
// defs.
func (g *generator) object(t reflect.Type, defs map[string]*schema) (*schema, error) {
	s := &schema{Description: g.src.types[t.Name()], Type: "object", AllOf: rules(t.Name()), AdditionalProperties: false}
	if t == reflect.TypeFor[events.Envelope]() {
		s.PropertyNames = &schema{Pattern: "^[a-z0-9]+$"}
		s.AdditionalProperties = &schema{Description: "An extension attribute.", Type: []string{"boolean", "integer", "string"}}
	}
	fields := fieldsOf(t)
	var optional []string
	for _, f := range fields {
		if f.optional {
			optional = append(optional, f.name)
		}
	}
	for _, f := range fields {
		since := since(f.owner, f.name)
		if since > g.version {
			continue
		}
		is, err := g.member(g.places[t], f, optional, defs)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Name(), err)
		}
		s.Properties = append(s.Properties, property{f.name, is})
		if !f.optional || since == g.version && since > 1 {
			s.Required = append(s.Required, f.name)
		}
	}
	return s, nil
}

// member returns the schema of one member.
func (g *generator) member(p place, f field, optional []string, defs map[string]*schema) (*schema, error) {
	t, ask := f.Type, plain
	list := t.Kind() == reflect.Slice && t != reflect.TypeFor[jsontext.Value]()
	if list {
		t, ask = t.Elem(), listed
	}
	s, err := g.value(p, f.name, indirect(t), ask, optional, defs)
	if err != nil {
		return nil, err
	}
	description := g.src.fields[f.owner+"."+f.Name]
	if description == "" && s.Ref == "" {
		description = g.src.types[t.Name()]
	}
	if list {
		s = &schema{Type: "array", Items: s}
	}
	s.Description = description
	return s, nil
}

// value returns the schema of the value of a member, or of the elements of it.
func (g *generator) value(p place, name string, t reflect.Type, ask wrap, optional []string, defs map[string]*schema) (*schema, error) {
	switch {
	case t == reflect.TypeFor[jsontext.Value]():
		return &schema{Type: "object"}, nil
	case t == reflect.TypeFor[events.Time]():
		return &schema{Type: "string", Format: "date-time", Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{6}Z$`}, nil
	case t == reflect.TypeFor[events.Duration]():
		s := &schema{Type: "string", Pattern: `^PT(0|[1-9][0-9]{0,8})(\.[0-9]{0,5}[1-9])?S$`}
		if !p.accepts(name, "PT0S") {
			s.Not = &schema{Const: "PT0S"}
		}
		return s, nil
	}
	switch t.Kind() {
	case reflect.String:
		return p.text(name, ask, optional, g.src.consts)
	case reflect.Bool:
		return &schema{Type: "boolean"}, nil
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return p.number(name, 0), nil
	case reflect.Uint32:
		return p.number(name, math.MaxUint32), nil
	case reflect.Struct:
		return g.define(t, defs)
	default:
		return nil, fmt.Errorf("%s has the Go type %s, which no schema is known for", name, t)
	}
}

// define adds the schema of a struct to defs, once, and refers to it.
func (g *generator) define(t reflect.Type, defs map[string]*schema) (*schema, error) {
	name := strings.ToLower(t.Name())
	if defs[name] == nil {
		s, err := g.object(t, defs)
		if err != nil {
			return nil, err
		}
		defs[name] = s
	}
	return &schema{Ref: "#/$defs/" + name}, nil
}
