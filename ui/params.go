package ui

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

// errParameter is for a part of an address or a form that is not right. What
// wraps it names the parameter, and says what is allowed.
var errParameter = errors.New("the parameter")

// params are the parameters of an address or a form, read strictly: each of a
// known name, once, in UTF-8 and within events.MaxNameBytes. "" is as if it were
// not there, so that a form may send what nobody filled in.
type params map[string]string

// paramsOf reads the parameters of an address.
func paramsOf(r *http.Request, known ...string) (params, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, errQuery
	}
	return strict(values, known)
}

// maxForm bounds the body of a form that holds no arguments.
const maxForm = 64 << 10

// formOf reads the parameters of a form that was posted, without those of its
// address.
func formOf(w http.ResponseWriter, r *http.Request, known ...string) (params, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxForm)
	if err := r.ParseForm(); err != nil {
		return nil, errForm
	}
	return strict(r.PostForm, known)
}

func strict(values url.Values, known []string) (params, error) {
	p := params{}
	for name, list := range values {
		err := once(name, list, known)
		switch {
		case err != nil:
			return nil, err
		case len(list[0]) > events.MaxNameBytes:
			return nil, parameter(name, fmt.Sprintf("it has %d bytes; at most %d are allowed", len(list[0]), events.MaxNameBytes))
		case !utf8.ValidString(list[0]):
			return nil, parameter(name, "it is not UTF-8")
		case list[0] != "":
			p[name] = list[0]
		}
	}
	return p, nil
}

// only refuses parameters that a page does not know, and repeated ones. Their
// values are the page's to judge: a cursor is longer than a name may be.
func only(r *http.Request, known ...string) error {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return errQuery
	}
	for name, list := range values {
		if err := once(name, list, known); err != nil {
			return err
		}
	}
	return nil
}

// once fails where a parameter is none of those known, or there more than once.
func once(name string, list, known []string) error {
	switch {
	case len(known) == 0:
		return parameter(clip(name), "this page takes none")
	case !slices.Contains(known, name):
		return parameter(clip(name), "this page does not know it; it knows "+strings.Join(known, ", "))
	case len(list) > 1:
		return parameter(name, fmt.Sprintf("it is there %d times; give it once", len(list)))
	}
	return nil
}

// parameter says what is wrong with a parameter.
func parameter(name, why string) error {
	return fmt.Errorf("%w %s: %s", errParameter, visible.String(name), why)
}

// oneOf fails where a parameter is none of some words.
func (p params) oneOf(name string, words ...string) (string, error) {
	if v := p[name]; v != "" && !slices.Contains(words, v) {
		return "", parameter(name, fmt.Sprintf("%s is none of %s", visible.String(v), strings.Join(words, ", ")))
	}
	return p[name], nil
}
