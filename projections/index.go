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
	bytes []byte
	json  bool
}

// plain appends what of it is searched.
func (t indexed) plain(p *plainer, out []byte) []byte {
	if t.names != "" {
		out = append(p.append(out, []byte(t.names)), '\n')
	}
	return p.append(out, readable(t.json, t.bytes))
}

// gram adds the texts to segments, and forgets them.
func (c *changes) gram(x *indexer) {
	slices.SortFunc(c.texts, func(a, b indexed) int { return cmp.Compare(a.id, b.id) })
	for _, t := range c.texts {
		x.add(t, c.row)
	}
	c.texts = nil
}
