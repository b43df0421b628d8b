// Package eventstest helps tests of other packages with events: samples to
// start from, and a validator for what they produce.
//
//	minted, err := minter.Mint(eventstest.Sample(events.TypeToolCall))
//	eventstest.Validate(t, minted[0].Envelope)
//
// Every event that a test produces should pass through Validate, so that the
// schemas that are served and the events that are minted cannot part.
package eventstest

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/countersign-dev/countersign/events"
)

// base is where the schemas are taken to be served from: their ids are paths.
const base = "https://countersign.example"

// Validate fails the test where an envelope or its data breaks the schema of
// its type and version, where it has an attribute that no minter writes, or
// where the decoders refuse it. It returns the decoded event.
func Validate(t testing.TB, envelope []byte) events.Event {
	t.Helper()
	event, err := validate(envelope)
	if err != nil {
		t.Fatalf("eventstest: %v\nin the envelope %.2000s", err, envelope)
	}
	return event
}

func validate(envelope []byte) (events.Event, error) {
	all, err := compiled()
	if err != nil {
		return nil, err
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(envelope))
	if err != nil {
		return nil, err
	}
	if err := validateDocument(all, doc); err != nil {
		return nil, err
	}
	decoded, err := events.DecodeEnvelope(envelope)
	if err != nil {
		return nil, err
	}
	return decoded.Event()
}

func validateDocument(all map[string]*jsonschema.Schema, doc any) error {
	object, ok := doc.(map[string]any)
	if !ok {
		return errors.New("the envelope is not an object")
	}
	schema := all[events.SchemaPath("envelope", events.EnvelopeSchemaVersion)]
	if err := schema.Validate(doc); err != nil {
		return err
	}
	for name := range object {
		if schema.Properties[name] == nil {
			return fmt.Errorf("attribute %q is none of ours", name)
		}
	}
	path, _ := object["dataschema"].(string)
	data, ok := all[path]
	if !ok {
		return fmt.Errorf("dataschema %q names no schema of ours", path)
	}
	return data.Validate(object["data"])
}

// compiled returns all schemas by path. They are compiled once for all tests of
// a binary and not changed afterwards.
var compiled = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	files, err := events.Schemas()
	if err != nil {
		return nil, err
	}
	paths, err := fs.Glob(files, "*/*.json")
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	all := map[string]*jsonschema.Schema{}
	for _, path := range paths {
		b, err := fs.ReadFile(files, path)
		if err != nil {
			return nil, err
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		id := "/schemas/" + path[:len(path)-len(".json")]
		if err := c.AddResource(base+id, doc); err != nil {
			return nil, err
		}
		if all[id], err = c.Compile(base + id); err != nil {
			return nil, err
		}
	}
	return all, nil
})
