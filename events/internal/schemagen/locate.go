package main

import (
	"encoding"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

// field is a member of the wire with the Go field behind it.
type field struct {
	reflect.StructField
	owner    string // the Go type that declares it
	name     string // on the wire
	optional bool   // left out where it is zero
}

// fieldsOf returns the members of a struct in their order, those of embedded
// structs in their place.
func fieldsOf(t reflect.Type) []field {
	var fields []field
	for f := range t.Fields() {
		tag := f.Tag.Get("json")
		if f.Anonymous && tag == "" {
			fields = append(fields, fieldsOf(f.Type)...)
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		fields = append(fields, field{f, t.Name(), name, strings.Contains(options, "omit")})
	}
	return fields
}

// locate finds, for every struct, the place in a sample where most of its
// members are set.
func (g *generator) locate() error {
	for _, t := range events.AllTypes() {
		for version := range t.Version() {
			if err := g.locateIn(t, version+1); err != nil {
				return err
			}
		}
	}
	minted, err := events.NewMinter("agentd/node-1/boot-1", eventstest.Now).Mint(eventstest.Sample(events.TypeToolCall))
	if err != nil {
		return err
	}
	ask := func(doc []byte) bool {
		_, err := events.DecodeEnvelope(doc)
		return err == nil
	}
	g.places[reflect.TypeFor[events.Envelope]()] = place{sample: minted[0].Envelope, ask: ask}
	return nil
}

// locateIn visits the sample of a version of a type.
func (g *generator) locateIn(t events.Type, version int) error {
	data := eventstest.SampleOf(t, version).Data
	b, err := json.Marshal(data)
	if err != nil {
		return err
	}
	ask := func(doc []byte) bool {
		_, err := events.DecodeData(t, version, doc)
		return err == nil
	}
	return g.visit(place{sample: b, ask: ask}, reflect.TypeOf(data).Elem())
}

// visit offers a place for a struct, and the places in it for those that it is
// made of.
func (g *generator) visit(p place, t reflect.Type) error {
	doc, err := decode(p.sample)
	if err != nil {
		return err
	}
	object, _ := at(doc, p.path).(map[string]any)
	if best, ok := g.places[t]; !ok || best.members < len(object) {
		p.members = len(object)
		g.places[t] = p
	}
	for _, f := range fieldsOf(t) {
		path := append(slices.Clone(p.path), f.name)
		inner := f.Type
		if inner.Kind() == reflect.Slice {
			inner, path = inner.Elem(), append(path, 0)
		}
		if inner = indirect(inner); !isObject(inner) || at(doc, path) == nil {
			continue
		}
		if err := g.visit(place{sample: p.sample, ask: p.ask, path: path}, inner); err != nil {
			return err
		}
	}
	return nil
}

func indirect(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Pointer {
		return t.Elem()
	}
	return t
}

// isObject reports whether a type is an object on the wire: a struct that has
// no text form.
func isObject(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && !reflect.PointerTo(t).Implements(reflect.TypeFor[encoding.TextUnmarshaler]())
}
