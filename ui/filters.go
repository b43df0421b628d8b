package ui

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/ui/visible"
)

// lookup is a history's filter as an address writes it. It is read and written
// here alone, so that what a page leads to is what it shows.
type lookup struct {
	projections.Filter
	period

	state string // as written: states with commas between them
}

// lookupParams are the parameters of a lookup, in the order in which pages
// speak of them.
func lookupParams() []string {
	return []string{"q", "state", "tool", "agent", "rule", "decider", "asker", "session", "from", "to"}
}

// lookupOf reads a history's filter. now is what times like 24h count from.
func lookupOf(p params, id auth.Identity, now time.Time) (lookup, error) {
	t, err := periodOf(p, now)
	if err != nil {
		return lookup{}, err
	}
	l := lookup{period: t, state: p["state"], Filter: projections.Filter{
		Query: p["q"], Tool: p["tool"], Agent: p["agent"], Rule: p["rule"], Decider: p["decider"], Asker: p["asker"], Session: p["session"],
		From: t.begin, Until: t.end, Reader: reader(id),
	}}
	l.States, err = statesOf(p["state"])
	return l, err
}

// statesOf reads states with commas between them.
func statesOf(text string) ([]projections.CallState, error) {
	if text == "" {
		return nil, nil
	}
	var states []projections.CallState
	for word := range strings.SplitSeq(text, ",") {
		s := projections.CallState(word)
		if !slices.Contains(projections.CallStates(), s) || slices.Contains(states, s) {
			return nil, parameter("state", visible.String(word)+" is none of, or twice among, "+allStates())
		}
		states = append(states, s)
	}
	return states, nil
}

func allStates() string {
	var b strings.Builder
	for i, s := range projections.CallStates() {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(string(s))
	}
	return b.String()
}

// all are the filters that narrow, as they were written.
func (l lookup) all() map[string]string {
	all := map[string]string{
		"q": l.Query, "state": l.state, "tool": l.Tool, "agent": l.Agent, "rule": l.Rule, "decider": l.Decider, "asker": l.Asker,
		"session": l.Session, "from": l.from, "to": l.to,
	}
	maps.DeleteFunc(all, func(_, value string) bool { return value == "" })
	return all
}

// withheld stands in the access log for a text that was looked for.
const withheld = "withheld"

// onRecord is the lookup as the access log names it, without the text that was
// looked for: it could never be erased from the log, and a digest of a short text
// is soon guessed.
func (l lookup) onRecord() map[string]string {
	all := l.fixed().all()
	if l.Query != "" {
		all["q"] = withheld
	}
	return all
}

// thing is what somebody looks at who looks at the lookup: the history, or a
// search in it, whatever it looks for.
func (l lookup) thing() string {
	if l.Query == "" {
		return "history"
	}
	return "history, searched"
}

// fixed is the lookup with times that mean the same at any time: what a page is
// bound to that goes on from another.
func (l lookup) fixed() lookup {
	l.period = l.period.fixed()
	return l
}

// path is where a page of the lookup is; more are parameters besides it.
func (l lookup) path(base string, more ...string) string { return pathOf(base, l.all(), more...) }

// pathOf writes an address with parameters; more are further names and values.
func pathOf(base string, params map[string]string, more ...string) string {
	q := url.Values{}
	for name, value := range params {
		q.Set(name, value)
	}
	for i := 0; i+1 < len(more); i += 2 {
		q.Set(more[i], more[i+1])
	}
	if len(q) == 0 {
		return base
	}
	return base + "?" + q.Encode()
}

// historyPath leads to the calls that one filter leaves.
func historyPath(name, value string) string { return pathOf("/history", nil, name, value) }

// field is a parameter that a form sends along.
type field struct{ Name, Value string }

// fields are the filters besides the search text as hidden parts of a form.
// What a page may not hold as it is, a form cannot send: it is left out.
func (l lookup) fields() []field {
	var out []field
	for _, f := range l.on() {
		if f.Name != "q" && sendable(f.Value) != "" {
			out = append(out, f)
		}
	}
	return out
}

// on are the filters that narrow, in the order in which pages speak of them.
func (l lookup) on() []field {
	return inOrder(l.all(), lookupParams()...)
}

// inOrder are parameters that are there, in an order.
func inOrder(all map[string]string, names ...string) []field {
	var out []field
	for _, name := range names {
		if v := all[name]; v != "" {
			out = append(out, field{name, v})
		}
	}
	return out
}

// filterChip is a filter that is on, and where the list without it is.
type filterChip struct {
	Name   string
	Value  []visible.Span
	Remove string
}

// chipsOf are filters that are on. People are told by name, and times as what
// they mean.
func chipsOf(ctx context.Context, n *names, on []field, t period, base string) []filterChip {
	var out []filterChip
	for i, f := range on {
		text := f.Value
		switch f.Name {
		case "decider", "asker", "person":
			text = n.of(ctx, f.Value)
		case "state", "watch", "action", "outcome":
			text = valueWords(base, f)
		case "from":
			text = clockDate(t.begin) + " UTC"
		case "to":
			text = clockDate(t.end) + " UTC"
		}
		others := map[string]string{}
		for j, o := range on {
			if j != i {
				others[o.Name] = o.Value
			}
		}
		out = append(out, filterChip{Name: filterWord(base, f.Name), Value: visible.Line(text, 80), Remove: pathOf(base, others)})
	}
	return out
}

// valueWords is a filter's value in the words of its list.
func valueWords(base string, f field) string {
	var words []string
	for word := range strings.SplitSeq(f.Value, ",") {
		switch {
		case f.Name == "state" && base == "/sessions":
			word = sessionWord(word)
		case f.Name == "state":
			word = stateWord(projections.CallState(word))
		case f.Name == "action":
			word = actionWord(word)
		case f.Name == "outcome":
			word = outcomeWord(word)
		case f.Name == "watch":
			word = watchWord(word)
		}
		words = append(words, word)
	}
	return strings.Join(words, ", ")
}

// filterWord names a filter of a list for people.
func filterWord(base, name string) string {
	if name == "state" && base == "/sessions" {
		return "State"
	}
	return map[string]string{
		"q": "Text", "state": "Outcome", "tool": "Tool", "agent": "Agent", "rule": "Rule", "decider": "Decided by", "asker": "Asked by",
		"session": "Session", "from": "From", "to": "Before", "person": "Person", "action": "Action", "outcome": "Outcome", "watch": "Watch",
	}[name]
}
