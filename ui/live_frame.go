package ui

import (
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/projections"
)

// A data frame is
//
//	id: PLACE
//	data: {"seq":N,"kind":…,"type":…,"session":…,"batch":…,"index":…,"request":…,"waits":…,"pending":…}
//
// seq is how many records lie up to here; kind and type say what the record
// moved; session, batch, index and request what by name, where there are such;
// waits whether the request still waits for people; pending, in frames of kind
// request, state and reset, how many requests wait that this reader may see, as
// of now. There are no texts in it: ids are JSON strings, in which no line can
// end, so nothing in an id makes a frame.
//
// The kinds are those of projections.NoticeKind, "state" where a stream begins,
// and "reset" (which is also the name of its event) where what the browser
// missed cannot be told: it then loads what it shows.

// frame is a record's message, encoded once for all readers, but for its end.
type frame struct {
	at       events.Position
	row      int64
	audience *projections.Audience // as in projections.Notice
	auditors bool                  // for them alone
	counts   bool                  // the number of waiting requests may have moved
	bytes    []byte                // up to the closing brace, which is not in it
}

// newFrame encodes a notice. at is the place behind it.
func newFrame(n *projections.Notice, at cursor) frame {
	b := append(make([]byte, 0, 256), "id: "...)
	b = append(append(b, at.String()...), "\ndata: "...)
	b = begin(b, at.records(), string(n.Kind))
	b = member(b, "type", string(n.Type))
	b = member(b, "session", n.Session)
	if n.Key.BatchID != "" {
		b = member(b, "batch", n.Key.BatchID)
		b = strconv.AppendInt(append(b, `,"index":`...), int64(n.Key.Index), 10)
	}
	if n.Request != "" {
		b = member(b, "request", n.Request)
		b = strconv.AppendBool(append(b, `,"waits":`...), n.Waits)
	}
	return frame{
		at: n.At, row: n.Row, audience: n.Audience, auditors: n.Kind == projections.NoticeAccess, counts: n.Request != "", bytes: slices.Clip(b),
	}
}

// seenBy reports whether a reader may know of it.
func (f *frame) seenBy(r projections.Reader) bool {
	switch {
	case f.auditors:
		return r.All
	case f.audience == nil:
		return true
	}
	return r.Sees(f.audience)
}

func begin(b []byte, seq uint64, kind string) []byte {
	b = strconv.AppendUint(append(b, `{"seq":`...), seq, 10)
	return member(b, "kind", kind)
}

// member adds a string, and nothing where it is empty.
func member(b []byte, name, value string) []byte {
	if value == "" {
		return b
	}
	b = append(append(append(b, `,"`...), name...), `":`...)
	if quoted, err := jsontext.AppendQuote(b, value); err == nil {
		return quoted
	}
	return append(b, `""`...) // not UTF-8: no event has such an id
}

// end closes a frame, with the number of waiting requests where it is not -1.
func end(b []byte, pending int) []byte {
	if pending >= 0 {
		b = strconv.AppendInt(append(b, `,"pending":`...), int64(pending), 10)
	}
	return append(b, "}\n\n"...)
}

// stateFrame says where a stream begins, or begins anew.
func stateFrame(at cursor, pending int, reset bool) []byte {
	b, kind := []byte(nil), "state"
	if reset {
		b, kind = append(b, "event: reset\n"...), "reset"
	}
	b = append(append(append(b, "id: "...), at.String()...), "\ndata: "...)
	return end(begin(b, at.records(), kind), pending)
}
