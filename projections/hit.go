package projections

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
)

// excerptBytes is how much of a text stands before and behind what was found.
const excerptBytes = 80

// hitTool is the text of a Hit in the names of tool and agent.
const hitTool = "tool"

// hit holds a call against its texts, and returns where they have the terms: nil
// where not all of them stand in it, or not any more.
func (s *search) hit(ctx context.Context, c looked, texts []textRow) (*Hit, error) {
	var best *spot
	r := &callTexts{search: s, row: c.row, texts: texts, read: map[int64]*readText{}}
	for i, t := range s.terms {
		var ids []int64
		if c.texts != nil {
			ids = c.texts[i]
		}
		h, err := r.find(ctx, t, ids)
		if h == nil || err != nil {
			return nil, err
		}
		if best == nil || best.text.name == hitTool && h.text.name != hitTool {
			best = h
		}
	}
	return best.hit(), nil
}

// textsOf returns which texts the calls have that the filter admits, by row.
func (s *search) textsOf(ctx context.Context, calls []looked) (map[int64][]textRow, error) {
	if len(s.terms) == 0 {
		return nil, nil //nolint:nilnil // none is needed
	}
	var rows []int64
	for _, c := range calls {
		if c.ok {
			rows = append(rows, c.row)
		}
	}
	all, err := list(ctx, s.v.db, func(scan func(...any) error) (t textRow, err error) {
		return t, scan(&t.id, &t.place, &t.kind, &t.json)
	}, `SELECT t.id, t.place, t.kind, t.json FROM json_each(?) j
		CROSS JOIN texts t ON t.id BETWEEN j.value * ? AND j.value * ? + ? ORDER BY t.id`,
		idsOf(rows), textsOfCall, textsOfCall, textsOfCall-1)
	texts := map[int64][]textRow{}
	for _, t := range all {
		texts[t.id/textsOfCall] = append(texts[t.id/textsOfCall], t)
	}
	return texts, err
}

// callTexts reads the texts of a call, each once.
type callTexts struct {
	search *search
	row    int64
	texts  []textRow
	read   map[int64]*readText
	names  *readText
}

// textRow is a text as the views have it.
type textRow struct {
	id, place int64
	kind      textKind
	json      bool
}

// readText is a text as the journal has it.
type readText struct {
	name  string // as Hit.Text
	bytes []byte // readable
	plain []byte
}

// find returns where a term first stands: in the texts of these ids, nil means
// all, and else in the names.
func (r *callTexts) find(ctx context.Context, t term, ids []int64) (*spot, error) {
	for _, row := range r.texts {
		if ids != nil && !slices.Contains(ids, row.id) {
			continue
		}
		text, err := r.text(ctx, row)
		if err != nil {
			return nil, err
		}
		if h := text.find(t); h != nil {
			return h, nil
		}
	}
	if ids != nil && !slices.Contains(ids, idOfText(r.row, 0)) {
		return nil, nil //nolint:nilnil // none is an answer
	}
	if err := r.name(ctx); err != nil {
		return nil, err
	}
	return r.names.find(t), nil
}

// text reads a text; it is empty where it was erased.
func (r *callTexts) text(ctx context.Context, row textRow) (*readText, error) {
	if t := r.read[row.id]; t != nil {
		return t, nil
	}
	b, err := r.search.v.payloadAt(ctx, row.place)
	if err != nil {
		return nil, err
	}
	r.search.texts, r.search.bytes = r.search.texts+1, r.search.bytes+len(b)
	b = readable(row.json, b)
	r.read[row.id] = &readText{row.kind.String(), b, plain(b)}
	return r.read[row.id], nil
}

// name reads the names of the call's tool and agent.
func (r *callTexts) name(ctx context.Context) error {
	if r.names != nil {
		return nil
	}
	calls, err := r.search.v.callsOf(ctx, []int64{r.row})
	if err != nil || len(calls) == 0 {
		return err
	}
	names := []byte(namesOf(&calls[0].ToolCall))
	r.names = &readText{hitTool, names, plain(names)}
	return nil
}

// spot is where a term stands in a text.
type spot struct {
	text       *readText
	start, end int // in its plain form
}

func (t *readText) find(sought term) *spot {
	if t == nil {
		return nil
	}
	at, ok := sought.find(t.plain)
	if !ok {
		return nil
	}
	return &spot{t, at, at + len(sought.text)}
}

func (s *spot) hit() *Hit {
	start, end := originalSpan(s.text.bytes, s.start, s.end)
	return excerpt(s.text.name, s.text.bytes, start, end)
}

// excerpt cuts what stands around a span.
func excerpt(name string, b []byte, start, end int) *Hit {
	from, to := max(0, start-excerptBytes), min(len(b), end+excerptBytes)
	for from > 0 && from < start && !utf8.RuneStart(b[from]) {
		from++
	}
	for to < len(b) && to > end && !utf8.RuneStart(b[to]) {
		to--
	}
	return &Hit{Text: name, Excerpt: b[from:to:to], Start: start - from, End: end - from}
}

// payloadAt reads the payload at a place of the journal; nil where it was
// erased.
func (v *Views) payloadAt(ctx context.Context, place int64) (found []byte, err error) {
	row := place / payloadPlaces
	err = v.opt.Source.Payloads(ctx, row, row, func(row int64, ordinal int, _ string, b []byte) bool {
		if row*payloadPlaces+int64(ordinal) == place {
			found = b
		}
		return found == nil
	})
	if err != nil {
		return nil, fmt.Errorf("read a text of row %d: %w", row, err)
	}
	return found, nil
}

// isJSON reports whether the escapes of a text are those of JSON.
func isJSON(ref *events.Ref) bool { return ref.MediaType == events.MediaJSON }
