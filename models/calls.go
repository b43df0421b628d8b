package models

import (
	"cmp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/countersign-dev/countersign/agent"
)

// callSet puts the calls of one turn together from their pieces.
//
// The protocol says: a piece carries the index of its call, the first one also
// id and name, and arguments are to be joined. Servers leave out any of these,
// or repeat them, so what a piece belongs to is decided by find and begins. A
// doubt that could put arguments under another call's name is an error.
type callSet struct {
	calls []*openCall // in the order in which they began
}

// openCall is one call while its pieces arrive.
type openCall struct {
	index *int64
	id    string
	name  string
	extra jsontext.Value

	arguments strings.Builder
	pieces    textPieces
	object    objectEnd
	broken    bool // the arguments hold half a character
	renamed   bool // a later piece came under another id
}

// piece is a callPiece with its words read. The arguments stay raw, because
// how to read them depends on what came before.
type piece struct {
	index     *int64
	id        string
	name      string
	arguments jsontext.Value
	extra     jsontext.Value
}

func readPiece(raw callPiece) (piece, error) {
	p := piece{arguments: raw.Function.Arguments, extra: raw.Extra}
	var err error
	if p.index, err = indexOf(raw.Index); err != nil {
		return p, err
	}
	if p.id, err = word("the id of a tool call", raw.ID); err != nil {
		return p, err
	}
	p.name, err = word("the name of a tool call", raw.Function.Name)
	return p, err
}

// blank says that the piece carries no arguments but white space.
func (p piece) blank() bool {
	if absent(p.arguments) {
		return true
	}
	text, err := jsontext.AppendUnquote(nil, p.arguments)
	return err == nil && strings.TrimSpace(string(text)) == ""
}

// add takes in one piece and returns by how many bytes the turn has grown.
func (s *callSet) add(raw callPiece) (int, error) {
	p, err := readPiece(raw)
	if err != nil {
		return 0, err
	}
	call := s.find(p)
	begins := call == nil
	if call != nil {
		if begins, err = call.begins(p); err != nil {
			return 0, err
		}
	}
	if begins {
		if p.id == "" && p.name == "" {
			return 0, orphan(p)
		}
		call = &openCall{}
		s.calls = append(s.calls, call)
	}
	return call.take(p), nil
}

// orphan judges a piece that names no call and continues none.
func orphan(p piece) error {
	if p.blank() {
		return nil
	}
	return invalidStream("arguments came before their tool call: %s", excerpt(p.arguments, 80))
}

// find returns the call that p may continue: the newest with its index, without
// an index the newest with its id, without both the one that began last. A call
// that began without an index takes it from a later piece.
func (s *callSet) find(p piece) *openCall {
	if p.index != nil {
		call := s.newest(func(c *openCall) bool { return c.index != nil && *c.index == *p.index })
		if call != nil {
			return call
		}
	}
	return s.newest(func(c *openCall) bool {
		if p.id != "" {
			return c.id == p.id && (c.index == nil || p.index == nil)
		}
		last := c == s.calls[len(s.calls)-1]
		return last && (p.index == nil || c.index == nil && p.name == "")
	})
}

func (s *callSet) newest(matches func(*openCall) bool) *openCall {
	for _, call := range slices.Backward(s.calls) {
		if matches(call) {
			return call
		}
	}
	return nil
}

// begins reports whether p, found to point at c, is the start of another call all
// the same: servers reuse an index, and give no ids.
func (c *openCall) begins(p piece) (bool, error) {
	stranger := p.id != "" && c.id != "" && p.id != c.id
	switch {
	case p.name == "":
		c.renamed = c.renamed || stranger // some servers mint an id for each piece
		return false, nil
	case stranger:
		return true, nil
	case c.renamed:
		return false, invalidStream("the pieces of call %q have several ids, and one of them names a tool again: which call is meant is not certain", c.id)
	case c.name == "":
		return false, nil
	case c.object.reached:
		return p.name != c.name || !p.blank(), nil // nothing can continue whole arguments
	case c.arguments.Len() == 0:
		return c.otherBeforeArguments(p), nil
	case p.name != c.name:
		return false, invalidStream("call %q is to %q, then to %q, in the middle of its arguments", c.id, c.name, p.name)
	}
	return false, nil
}

// otherBeforeArguments decides about a name that follows a name, before any
// arguments. Where index or id tie the pieces together it is the name again,
// or its next part; otherwise only the same name is.
func (c *openCall) otherBeforeArguments(p piece) bool {
	if p.name == c.name {
		return false
	}
	late := p.id != "" && c.id == ""
	return late || p.id == "" && p.index == nil
}

// take joins p to the call.
func (c *openCall) take(p piece) int {
	grown := 0
	if c.index == nil {
		c.index = p.index
	}
	if c.id == "" {
		c.id = p.id
		grown += len(p.id)
	}
	if p.name != "" && p.name != c.name {
		c.name += p.name
		grown += len(p.name)
	}
	if len(c.extra) == 0 && !absent(p.extra) {
		c.extra = p.extra.Clone()
		grown += len(p.extra)
	}
	return grown + c.takeArguments(p.arguments)
}

// takeArguments joins the arguments. A server that sends them as an object and
// not as a string keeps the text that it wrote.
func (c *openCall) takeArguments(raw jsontext.Value) int {
	if absent(raw) {
		return 0
	}
	text, whole := string(raw), true
	if raw.Kind() == '"' {
		text, whole = c.pieces.add(raw)
	}
	c.broken = c.broken || !whole
	c.arguments.WriteString(text)
	c.object.scan(text)
	return len(text)
}

// check returns why the calls cannot be trusted, or nil.
func (s *callSet) check() error {
	for i, call := range s.calls {
		if call.name == "" {
			return invalidStream("tool call %q has no name", call.id)
		}
		if call.broken || call.pieces.held != "" {
			return invalidStream("the arguments of call %q hold half a character", call.id)
		}
		if slices.ContainsFunc(s.calls[:i], call.repeats) {
			return invalidStream("call %q was sent twice in one place", call.id)
		}
	}
	return nil
}

// repeats reports whether c and d, under one id and index, are the same call word
// for word: sent again, and not asked for twice.
func (c *openCall) repeats(d *openCall) bool {
	place := c.index == d.index || c.index != nil && d.index != nil && *c.index == *d.index
	return place && c.id != "" && c.id == d.id && c.name == d.name &&
		c.arguments.String() == d.arguments.String()
}

// ordered returns the calls in the model's order: by index where that tells
// all calls apart, else as they began.
func (s *callSet) ordered() []*openCall {
	seen := make(map[int64]bool, len(s.calls))
	for _, call := range s.calls {
		if call.index == nil || seen[*call.index] {
			return s.calls
		}
		seen[*call.index] = true
	}
	return slices.SortedStableFunc(slices.Values(s.calls), func(a, b *openCall) int {
		return cmp.Compare(*a.index, *b.index)
	})
}

func (c *openCall) call() agent.Call {
	return agent.Call{ID: c.id, Name: c.name, Arguments: c.arguments.String()}
}

// objectEnd notices, piece by piece, when a text has reached the end of its
// JSON object. It counts brackets outside strings and checks nothing else.
type objectEnd struct {
	depth   int
	quoted  bool
	escaped bool
	reached bool
}

func (o *objectEnd) scan(text string) {
	for i := range len(text) {
		switch c := text[i]; {
		case o.escaped:
			o.escaped = false
		case o.quoted:
			o.escaped = c == '\\'
			o.quoted = c != '"'
		case c == '"':
			o.quoted = true
		case c == '{' || c == '[':
			o.depth++
		case c == '}' || c == ']':
			o.depth--
			o.reached = o.reached || o.depth == 0
		}
	}
}
