package events_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/events/eventstest"
)

// Take each member of each type away, at every depth, and set it to null: the
// decoder refuses what the schema requires, and every null, also where the zero
// would have passed (an index, a count, a truth, an empty list, a time).
func TestRequiredMembersAreRequired(t *testing.T) {
	for _, typ := range events.AllTypes() {
		t.Run(string(typ), func(t *testing.T) {
			b, err := json.Marshal(eventstest.Sample(typ).Data)
			require.NoError(t, err)
			var doc map[string]any
			require.NoError(t, json.Unmarshal(b, &doc))
			root := readSchema(t, typ)
			p := presence{t: t, typ: typ, doc: doc, root: root}
			p.object(root, doc, "")
			require.NotZero(t, p.tried)
		})
	}
}

type presence struct {
	t     *testing.T
	typ   events.Type
	doc   map[string]any
	root  node
	tried int
}

func (p *presence) object(n node, object map[string]any, path string) {
	required := map[string]bool{}
	for _, name := range n.Required {
		required[name] = true
	}
	for name, value := range object {
		at := path + "/" + name
		delete(object, name)
		if required[name] {
			require.ErrorIs(p.t, p.decode(), events.ErrMalformed, "without %s", at)
			require.ErrorContains(p.t, p.decode(), fmt.Sprintf("%q is missing", name), "without %s", at)
		}
		object[name] = nil
		require.ErrorIs(p.t, p.decode(), events.ErrMalformed, "with null for %s", at)
		object[name] = value
		p.tried++
		p.value(n.Properties[name], value, at)
	}
	require.NoError(p.t, p.decode())
}

func (p *presence) value(n node, value any, path string) {
	if n.Ref != "" {
		n = p.root.Defs[n.Ref[len("#/$defs/"):]]
	}
	switch value := value.(type) {
	case map[string]any:
		p.object(n, value, path)
	case []any:
		was := value[0]
		value[0] = nil
		require.ErrorIs(p.t, p.decode(), events.ErrMalformed, "with null in %s", path)
		value[0] = was
		p.value(*n.Items, was, path+"/0")
	}
}

func (p *presence) decode() error {
	b, err := json.Marshal(p.doc)
	require.NoError(p.t, err)
	_, err = events.DecodeData(p.typ, 1, b)
	return err
}
