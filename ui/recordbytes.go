package ui

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/ui/visible"
)

// payloadsOf are the texts that a record commits to: every member of its data
// that is a reference.
func (c *Console) payloadsOf(ctx context.Context, p events.Position, r fold.Record) []payloadView {
	var out []payloadView
	for i, ref := range refsIn(r.Envelope.Data) {
		v := payloadView{
			Where: visible.String(ref.where), Bytes: bytesOf(ref.Bytes), Media: visible.String(ref.MediaType), Commitment: visible.String(ref.Commitment),
			Said: "kept", Href: placePath(p) + "/payload?n=" + strconv.Itoa(i),
		}
		if _, err := c.views.Text(ctx, r.Envelope.ID, &ref.Ref); err != nil {
			v.Said, v.Href = missing(err), ""
		}
		out = append(out, v)
	}
	return out
}

// foundRef is a reference, and where it stands.
type foundRef struct {
	events.Ref

	where string
}

// maxRefs is how many references of a record are looked at; ours have fewer.
const maxRefs = 64

// refsIn finds the references in the data of an event.
func refsIn(data jsontext.Value) []foundRef {
	var root any
	if json.Unmarshal(data, &root) != nil {
		return nil
	}
	return walkRefs(nil, "data", root, 0)
}

func walkRefs(out []foundRef, where string, v any, depth int) []foundRef {
	if len(out) >= maxRefs || depth > 8 {
		return out
	}
	switch v := v.(type) {
	case map[string]any:
		var ref events.Ref
		if v["commitment"] != nil && v["media_type"] != nil {
			if b, err := json.Marshal(v); err == nil && json.Unmarshal(b, &ref) == nil {
				return append(out, foundRef{ref, where})
			}
		}
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = walkRefs(out, where+"."+k, v[k], depth+1)
		}
	case []any:
		for i, e := range v {
			out = walkRefs(out, where+"["+strconv.Itoa(i)+"]", e, depth+1)
		}
	}
	return out
}

// recordBytes downloads a record's bytes: of the envelope, as it was minted; of
// the record, which are the leaf of the tree; or a text that it commits to.
func (c *Console) recordBytes(w http.ResponseWriter, r *http.Request, id auth.Identity) error {
	p, err := paramsOf(r, "n")
	if err != nil {
		return err
	}
	placed, record, err := c.recordAt(r, id)
	if err != nil {
		return err
	}
	name := recordFile(placed.Position())
	switch of := r.PathValue("of"); {
	case of == "payload":
		refs := refsIn(record.Envelope.Data)
		n, err := strconv.Atoi(p["n"])
		if err != nil || n < 0 || n >= len(refs) {
			return parameter("n", "it is no text of this record, which has "+strconv.Itoa(len(refs)))
		}
		text, err := c.payload(r.Context(), record.Envelope.ID, &refs[n].Ref)
		if err != nil {
			return err
		}
		download(w, name+".payload-"+strconv.Itoa(n)+".bin", text)
	case p["n"] != "":
		return parameter("n", "it is for payloads alone")
	case of == "envelope":
		download(w, name+".json", placed.Envelope)
	case of == "record":
		download(w, name+".record", placed.Encoded)
	default:
		return errNoPage
	}
	return nil
}
