package projections

import "context"

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

// plain is what of it is searched.
func (t indexed) plain() string {
	text := plain(readable(t.json, t.bytes))
	if t.names == "" {
		return text
	}
	return plain([]byte(t.names)) + "\n" + text
}
