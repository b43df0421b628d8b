package main

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// schema is the part of JSON Schema 2020-12 that we write, in the order in
// which it is written.
type schema struct {
	Schema               string             `json:"$schema,omitzero"`
	ID                   string             `json:"$id,omitzero"`
	Title                string             `json:"title,omitzero"`
	Comment              string             `json:"$comment,omitzero"`
	Ref                  string             `json:"$ref,omitzero"`
	Description          string             `json:"description,omitzero"`
	Type                 any                `json:"type,omitzero"` // a name, or a list of names
	Format               string             `json:"format,omitzero"`
	Const                any                `json:"const,omitzero"`
	Enum                 []string           `json:"enum,omitempty"`
	Pattern              string             `json:"pattern,omitzero"`
	MinLength            int                `json:"minLength,omitzero"`
	MaxLength            int                `json:"maxLength,omitzero"`
	Minimum              *int64             `json:"minimum,omitzero"`
	Maximum              *int64             `json:"maximum,omitzero"`
	Items                *schema            `json:"items,omitzero"`
	Properties           properties         `json:"properties,omitempty"`
	Required             []string           `json:"required,omitempty"`
	PropertyNames        *schema            `json:"propertyNames,omitzero"`
	AdditionalProperties any                `json:"additionalProperties,omitzero"` // false, or a schema
	Not                  *schema            `json:"not,omitzero"`
	If                   *schema            `json:"if,omitzero"`
	Then                 *schema            `json:"then,omitzero"`
	Else                 *schema            `json:"else,omitzero"`
	AllOf                []*schema          `json:"allOf,omitempty"`
	Defs                 map[string]*schema `json:"$defs,omitempty"`
}

// properties keeps the order of the Go fields.
type properties []property

type property struct {
	name string
	is   any // a schema, or false for a member that must be absent
}

// MarshalJSONTo implements json.MarshalerTo.
func (ps properties) MarshalJSONTo(enc *jsontext.Encoder) error {
	if err := enc.WriteToken(jsontext.BeginObject); err != nil {
		return err
	}
	for _, p := range ps {
		if err := enc.WriteToken(jsontext.String(p.name)); err != nil {
			return err
		}
		if err := json.MarshalEncode(enc, p.is); err != nil {
			return err
		}
	}
	return enc.WriteToken(jsontext.EndObject)
}

// text returns the file of a schema.
func (s *schema) text() ([]byte, error) {
	b, err := json.Marshal(s, json.Deterministic(true), jsontext.WithIndent("  "))
	return append(b, '\n'), err
}
