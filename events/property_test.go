package events_test

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

// Whatever a schema allows, the decoder takes; minting it and decoding the
// envelope gives the same event; and the envelope is valid again.
func TestMintThenDecodeIsTheIdentity(t *testing.T) {
	for _, typ := range events.AllTypes() {
		root := readSchema(t, typ)
		t.Run(string(typ), func(t *testing.T) {
			rapid.Check(t, func(rt *rapid.T) {
				doc, err := json.Marshal(document(rt, typ, root))
				require.NoError(rt, err)
				event, err := events.DecodeData(typ, 1, doc)
				require.NoError(rt, err, "%s", doc)

				session := hostile(0).Draw(rt, "session")
				minted, err := events.NewMinter(source, eventstest.Now).Mint(events.Draft{Session: session, Data: event})
				require.NoError(rt, err)
				env, got, err := decode(minted[0].Envelope)
				require.NoError(rt, err)
				require.Equal(rt, event, got)
				require.Equal(rt, session, env.SessionID)
				require.Equal(rt, event, eventstest.Validate(t, minted[0].Envelope))
			})
		})
	}
}

// document returns a random value of the schema of a type.
func document(t *rapid.T, typ events.Type, root node) any {
	doc, _ := draw(t, root, root, string(typ)).(map[string]any)
	if cause := doc["cause"]; typ == events.TypeDecision {
		if cause == "human" || cause == "handler" {
			doc["actor"] = draw(t, root, root.Defs["actor"], "actor")
		} else {
			delete(doc, "actor")
		}
	}
	if warrant, ok := doc["warrant"].(map[string]any); ok {
		for name, is := range root.Defs["warrant"].Properties {
			if is.Pattern == "" {
				is.MinLength = 1
			}
			warrant[name] = draw(t, root, is, name)
		}
	}
	return doc
}

func draw(t *rapid.T, root, n node, name string) any {
	if n.Ref != "" {
		n = root.Defs[strings.TrimPrefix(n.Ref, "#/$defs/")]
	}
	switch n.Type {
	case "object":
		object := map[string]any{}
		for _, member := range members(n) {
			is, optional := n.Properties[member], !slices.Contains(n.Required, member)
			if optional {
				is.least = 1 // an empty list that may be left out is left out when it is minted
			}
			if !optional || rapid.Bool().Draw(t, "with "+member) {
				object[member] = draw(t, root, is, member)
			}
		}
		return object
	case "array":
		return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) any { return draw(t, root, *n.Items, name) }), n.least, 3).Draw(t, name)
	case "boolean":
		return rapid.Bool().Draw(t, name)
	case "integer":
		return integer(n).Draw(t, name)
	default:
		return text(n).Draw(t, name)
	}
}

// members returns the names in a fixed order, for rapid to replay.
func members(n node) []string {
	names := make([]string, 0, len(n.Properties))
	for name := range n.Properties {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func integer(n node) *rapid.Generator[int64] {
	low, high := int64(math.MinInt64), int64(math.MaxInt64)
	if n.Minimum != nil {
		low = *n.Minimum
	}
	if n.Maximum != nil {
		high = *n.Maximum
	}
	return rapid.Int64Range(low, high)
}

// text returns the generator of a string: of an enumeration, of a pattern, or
// of any text within its bounds.
func text(n node) *rapid.Generator[string] {
	switch {
	case n.Enum != nil:
		return rapid.SampledFrom(n.Enum)
	case n.Format == "date-time":
		return rapid.Map(rapid.Int64Range(-62135596800e6, 253402300799999999), func(us int64) string {
			return events.Micros(us).Format("2006-01-02T15:04:05.000000Z")
		})
	case n.Pattern != "":
		return rapid.StringMatching(n.Pattern).Filter(func(s string) bool { return n.Not == nil || s != n.Not.Const })
	default:
		return hostile(n.MinLength)
	}
}

// hostile returns text that somebody sent to break something: never more than
// 256 bytes, always valid UTF-8.
func hostile(least int) *rapid.Generator[string] {
	strange := []rune{
		0, 1, '\n', '\r', '\t', 0x1b, 0x7f, 0x85, 0xa0, 0x200b, 0x200d, 0x202e, 0x2028, 0x2029, 0x2066, 0xfeff, 0xfffd, 0xfffe, 0xffff,
		0x1f600, 0x10ffff, '"', '\\', '/', '<', '>', '&', '\'', '{', '}', '[', ']', ':', ',', '$', '%', 'é', 'е', 'İ', 'ſ', 'K',
	}
	return rapid.OneOf(
		rapid.StringOfN(rapid.OneOf(rapid.RuneFrom(strange), rapid.Rune()), least, 12, events.MaxNameBytes),
		rapid.SampledFrom([]string{
			"null", "true", "0", `\u0000`, `","tool":"x`, "../../etc/passwd", "’; DROP TABLE records; --", "<script>alert(1)</script>",
			strings.Repeat("x", events.MaxNameBytes), strings.Repeat("é", events.MaxNameBytes/2), "%s%n", "constructor",
		}),
	)
}
