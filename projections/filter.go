package projections

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/events"
)

// Filter narrows a history. What is empty does not narrow.
type Filter struct {
	Tool, Agent, Session, Rule string // exact

	States  []CallState // any of
	Decider string      // person whose decision ended the request
	Asker   string      // principal whose session it is

	From, Until time.Time // log time of the call: From <= t < Until; zero: open
	// Query is what stands in the calls' texts: data, never syntax. White space
	// separates terms, all of which must stand in a call's arguments, result,
	// comments, or the names of its tool and agent; a run's query counts with its
	// first call, a model's message with the first call of its turn, or where it
	// asked for none, with the call before. Upper and lower case are the same. A
	// term of one or two letters or digits is found as a whole word, any other
	// anywhere. ErrSearch where it is longer than MaxQueryBytes or has more than
	// MaxQueryTerms.
	Query  string
	Reader Reader // whose history it is
}

// listName binds a cursor to the filter.
func (f Filter) listName() string {
	return fmt.Sprintf("calls %q %q %q %q %q %q %q %d %d %q %q", f.Tool, f.Agent, f.Session, f.Rule, f.States, f.Decider, f.Asker,
		micro(f.From), micro(f.Until), f.Query, f.Reader.listName())
}

// micro is a time as the log keeps it; 0 where it is open. Within a microsecond
// it is the next one: what lies before it is the same.
func micro(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	n := t.UnixMicro()
	if t.Nanosecond()%1000 != 0 {
		n++
	}
	return n
}

// way is a column by which calls are found in the order of their places: index
// begins with it.
type way struct {
	index, column string
	values        []string // any of; none: all calls
}

// ways are those that a filter leaves.
func (f Filter) ways() []way {
	var all []way
	add := func(index, column string, values ...string) {
		if len(values) > 0 && values[0] != "" {
			all = append(all, way{index, column, values})
		}
	}
	add("calls_session", "session", f.Session)
	add("calls_decider", "decider", f.Decider)
	add("calls_asker", "asker", f.Asker)
	add("calls_tool", "tool", f.Tool)
	add("calls_rule", "rule", f.Rule)
	add("calls_agent", "agent", f.Agent)
	states := make([]string, 0, len(f.States))
	for _, s := range f.States {
		states = append(states, string(s))
	}
	add("calls_state", "state", states...)
	if !f.Reader.All && !f.Reader.Reviewer {
		add("calls_asker", "asker", f.Reader.Person) // all that they may see
	}
	return all
}

// condition returns what the way asks of a call.
func (w way) condition() (string, []any) {
	args := make([]any, 0, len(w.values))
	for _, v := range w.values {
		args = append(args, v)
	}
	switch len(w.values) {
	case 0:
		return "TRUE", nil
	case 1:
		return "c." + w.column + " = ?", args
	}
	return "c." + w.column + " IN (?" + strings.Repeat(", ?", len(args)-1) + ")", args
}

// span returns the condition of the filter's times.
func (f Filter) span() (string, []any) {
	var c condition
	c.within("c.log_time", f.From, f.Until)
	return c.text.String(), c.args
}

// where returns all conditions of a filter but those of its text.
func (f Filter) where() (string, []any) {
	text, args := "TRUE", []any(nil)
	for _, w := range f.ways() {
		c, more := w.condition()
		text, args = text+" AND "+c, append(args, more...)
	}
	span, more := f.span()
	text, args = text+span, append(args, more...)
	visible, more := f.Reader.where("c.session")
	return text + visible, append(args, more...)
}

// countEnough is as far as the calls of a way are counted: beyond, it is no
// longer a short way.
const countEnough = 2000

// shortest returns the way with the fewest calls, and how many they are, counted
// up to countEnough.
func (v *Views) shortest(ctx context.Context, f Filter) (best way, fewest int, err error) {
	best, fewest = way{index: "calls_place"}, countEnough
	for _, w := range f.ways() {
		n, err := v.count(ctx, f, w)
		if err != nil {
			return best, 0, err
		}
		if n < fewest || len(best.values) == 0 {
			best, fewest = w, n
		}
	}
	return best, fewest, nil
}

func (v *Views) count(ctx context.Context, f Filter, w way) (int, error) {
	condition, args := w.condition()
	span, more := f.span()
	if w.column == "decider" {
		span += " AND c.decider <> ''" // or the index could not be used
	}
	return first(ctx, v.db, one[int],
		"SELECT count(*) FROM (SELECT 1 FROM calls c INDEXED BY "+w.index+" WHERE "+condition+span+" LIMIT ?)",
		append(append(args, more...), countEnough)...)
}

// reached reports whether a place is one at all.
func reached(p events.Position) bool { return p != (events.Position{}) }
