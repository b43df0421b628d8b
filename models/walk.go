package models

import (
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// walker walks a JSON text and notes where values stand.
type walker struct {
	dec *jsontext.Decoder
}

// object calls visit for each member of the object that comes next; visit reads
// the member's value.
func (w walker) object(visit func(name string) error) error {
	if err := w.open('{'); err != nil {
		return err
	}
	for w.dec.PeekKind() != '}' {
		name, err := w.dec.ReadToken()
		if err != nil {
			return err
		}
		if err := visit(name.String()); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

// array calls visit for each element of the array that comes next. Null is an
// empty array.
func (w walker) array(visit func() error) error {
	if w.dec.PeekKind() == 'n' {
		return w.dec.SkipValue()
	}
	if err := w.open('['); err != nil {
		return err
	}
	for w.dec.PeekKind() != ']' {
		if err := visit(); err != nil {
			return err
		}
	}
	_, err := w.dec.ReadToken()
	return err
}

func (w walker) open(kind jsontext.Kind) error {
	token, err := w.dec.ReadToken()
	if err != nil {
		return err
	}
	if token.Kind() != kind {
		return fmt.Errorf("%s instead of %s at byte %d", token.Kind(), kind, w.dec.InputOffset())
	}
	return nil
}

// end checks that nothing follows.
func (w walker) end() error {
	if _, err := w.dec.ReadToken(); err != io.EOF { //nolint:errorlint // the decoder returns it bare
		return fmt.Errorf("more text after byte %d", w.dec.InputOffset())
	}
	return nil
}

// value reads the next value and returns its place.
func (w walker) value() (span, error) {
	v, err := w.dec.ReadValue()
	end := int(w.dec.InputOffset())
	return span{start: end - len(v), end: end}, err
}

// call reads one element of tool_calls.
func (w walker) call() (callPlace, error) {
	var place callPlace
	err := w.object(func(name string) (err error) {
		switch name {
		case "id":
			place.id, err = w.value()
			return err
		case "function":
			place.arguments, err = w.arguments()
			return err
		}
		return w.dec.SkipValue()
	})
	return place, err
}

// arguments reads a function and returns where its arguments stand.
func (w walker) arguments() (span, error) {
	var place span
	err := w.object(func(name string) (err error) {
		if name != "arguments" {
			return w.dec.SkipValue()
		}
		place, err = w.value()
		return err
	})
	return place, err
}
