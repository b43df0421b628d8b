package api

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// readBody reads a JSON body: application/json alone, in UTF-8, not encoded,
// not beyond the bound. How long that may take is the server's to say.
func (a *API) readBody(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	if err := checkMedia(r.Header); err != nil {
		return nil, err
	}
	b, err := io.ReadAll(http.MaxBytesReader(w, r.Body, a.opt.MaxBody))
	var tooLong *http.MaxBytesError
	switch {
	case errors.As(err, &tooLong):
		return nil, refuse(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes: send less", a.opt.MaxBody)
	case err != nil:
		return nil, badRequest("the body could not be read to its end: send it again")
	}
	return b, nil
}

func checkMedia(h http.Header) error {
	media, parameters, err := mime.ParseMediaType(h.Get("Content-Type"))
	charset, said := parameters["charset"]
	if err != nil || media != "application/json" || len(h.Values("Content-Type")) != 1 ||
		len(parameters) > 1 || len(parameters) == 1 && !said || said && !strings.EqualFold(charset, "utf-8") {
		return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body must be sent with Content-Type: application/json")
	}
	if e := h.Get("Content-Encoding"); e != "" && !strings.EqualFold(e, "identity") {
		return refuse(http.StatusUnsupportedMediaType, "unsupported_media_type", "the body must be sent without Content-Encoding")
	}
	return nil
}

// members are the members that a body may have, each a *string or a *bool.
type members map[string]any

// given says which members a body had.
type given map[string]bool

// decode reads a JSON object (RFC 8259) strictly: names match exactly and
// come once, values have their member's type, the text is UTF-8, and nothing
// follows it.
func decode(body []byte, m members) (given, error) {
	d := jsontext.NewDecoder(bytes.NewReader(body))
	if kind := d.PeekKind(); kind != jsontext.KindBeginObject {
		if _, err := d.ReadToken(); err != nil {
			return nil, malformed(err)
		}
		return nil, badRequest("the body is %s: send a JSON object", named(kind))
	}
	had := given{}
	_, err := d.ReadToken() // {
	for err == nil {
		var t jsontext.Token
		if t, err = d.ReadToken(); err != nil {
			break
		}
		if t.Kind() == jsontext.KindEndObject {
			return had, ended(d)
		}
		name := t.String()
		if err := m.set(d, name); err != nil {
			return nil, err
		}
		had[name] = true
	}
	return nil, malformed(err)
}

// set reads the value of a member.
func (m members) set(d *jsontext.Decoder, name string) error {
	to, known := m[name]
	if !known {
		return m.unknown(name)
	}
	want := "a string"
	if _, flag := to.(*bool); flag {
		want = "true or false"
	}
	kind := d.PeekKind()
	t, err := d.ReadToken()
	if err != nil {
		return malformed(err)
	}
	switch to := to.(type) {
	case *string:
		if kind == jsontext.KindString {
			*to = t.String()
			return nil
		}
	case *bool:
		if kind == jsontext.KindTrue || kind == jsontext.KindFalse {
			*to = t.Bool()
			return nil
		}
	}
	return badRequest("member %q is %s: it must be %s", name, named(kind), want)
}

// named is a kind of JSON value in words.
func named(kind jsontext.Kind) string {
	switch kind {
	case jsontext.KindBeginObject:
		return "an object"
	case jsontext.KindBeginArray:
		return "an array"
	case jsontext.KindString:
		return "a string"
	case jsontext.KindNumber:
		return "a number"
	default:
		return kind.String() // null, true, false
	}
}

func (m members) unknown(name string) error {
	names := slices.Sorted(maps.Keys(m))
	for _, n := range names {
		if strings.EqualFold(n, name) {
			return badRequest("member %.80q is unknown: it is spelled %q", name, n)
		}
	}
	return badRequest("member %.80q is unknown: the members are %s", name, strings.Join(names, ", "))
}

func ended(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); !errors.Is(err, io.EOF) {
		return badRequest("something follows the JSON object at byte %d: send the object alone", d.InputOffset())
	}
	return nil
}

// malformed says what is wrong with a JSON text.
func malformed(err error) error {
	var where *jsontext.SyntacticError
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF), !errors.As(err, &where):
		return badRequest("the body ends before its JSON does: send a whole JSON object")
	case errors.Is(err, jsontext.ErrDuplicateName):
		return badRequest("member %.80q is given twice: send it once", where.JSONPointer.LastToken())
	}
	return badRequest("the body is not valid JSON at byte %d: %.120s", where.ByteOffset, where.Err.Error())
}
