package projections

import (
	"cmp"
	"context"
	"slices"
)

// index adds the texts of the batch to what is searched.
func (b *batch) index(ctx context.Context) error {
	for _, t := range b.found {
		p, ok, err := b.payloads.carried(ctx, b.audit.source, t)
		if err != nil {
			return err
		}
		if ok {
			b.exec("INSERT INTO texts (id, place, kind, json) VALUES (?, ?, ?, ?)", t.id, p.place, int64(t.kind), isJSON(t.ref))
			b.texts = append(b.texts, indexed{id: t.id, names: t.names, bytes: p.bytes, json: isJSON(t.ref)})
		} else if t.names != "" {
			b.texts = append(b.texts, indexed{id: t.id, names: t.names})
		}
	}
	return nil
}

// indexed is a text on its way into the indexes.
type indexed struct {
	id    int64
	names string // of tool and agent, with a call's arguments
	bytes []byte // nil once its grams are known
	json  bool
	grams int // how many bytes of changes.grams are its
}

// plain appends what of it is searched.
func (t indexed) plain(p *plainer, out []byte) []byte {
	if t.names != "" {
		out = append(p.append(out, []byte(t.names)), '\n')
	}
	return p.append(out, readable(t.json, t.bytes))
}

// gram works out the grams of the texts, in the order of their ids: the search
// index begins a new segment at every step back.
func (c *changes) gram(g *gramSet) {
	slices.SortFunc(c.texts, func(a, b indexed) int { return cmp.Compare(a.id, b.id) })
	for i, t := range c.texts {
		begin := len(c.grams)
		c.grams = g.append(c.grams, t)
		c.texts[i] = indexed{id: t.id, grams: len(c.grams) - begin}
	}
}
