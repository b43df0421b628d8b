package config

import (
	"bytes"
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Differ returns the keys whose effective values differ between two
// configurations, in their order of bytes: "chat.system", "tools.custom". A list
// is one value. Of tokens that only their secrets differ shows as well.
func Differ(a, b Config) []string {
	differ := map[string]bool{}
	differIn(differ, "", a.Document(), b.Document())
	if !reflect.DeepEqual(a.Auth, b.Auth) {
		differ["auth.tokens"] = true
	}
	return slices.Sorted(maps.Keys(differ))
}

func differIn(differ map[string]bool, key string, a, b jsontext.Value) {
	if bytes.Equal(a, b) {
		return
	}
	as, bs := members(a), members(b)
	if as == nil && bs == nil {
		differ[key] = true
		return
	}
	names := maps.Clone(as)
	if names == nil {
		names = map[string]jsontext.Value{}
	}
	maps.Copy(names, bs)
	for name := range names {
		differIn(differ, join(key, name), as[name], bs[name])
	}
}

// members are those of an object; nil for anything else.
func members(v jsontext.Value) (of map[string]jsontext.Value) {
	if v.Kind() != jsontext.KindBeginObject || json.Unmarshal(v, &of, jsontext.AllowInvalidUTF8(true)) != nil {
		return nil
	}
	return of
}
