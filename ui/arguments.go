package ui

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/ui/visible"
)

// The budgets of a page, in bytes of HTML. Together they stay far below 500 KB.
const (
	laidBudget   = 96 << 10 // arguments laid out
	foldBudget   = 24 << 10 // a text that is laid out longer than this is folded
	rawBudget    = 96 << 10 // the raw text that can be unfolded
	headBudget   = 24 << 10 // the beginning of what is cut
	tailBudget   = 8 << 10  // and its end
	theirsBudget = 12 << 10 // a text of model or agent
	valueBudget  = 16 << 10 // one argument as the tool reads it
	changeBudget = 48 << 10 // arguments that can be changed in a text field, or compared
	maxValues    = 4
)

// textView is a payload on a page.
type textView struct {
	Missing  string // why there is nothing to show, "" where there is
	Text     visible.Text
	SHA256   string
	Media    string
	Whole    int64  // bytes before it was cut for the record; 0: it was not
	All      string // where the whole text can be read
	Download string
}

// argumentsView are exact arguments on a page.
type argumentsView struct {
	textView

	Laid    *visible.Text // laid out; nil where it cannot be
	WhyNot  string        // why it is not laid out
	Invalid string        // why it is no valid call, "" where it is
	Notes   []visible.Note
	Values  []valueView
	Hidden  visible.Report
	Empty   string // what the model sent, where that was no arguments and Text is what the tool gets
	// Replaces compares the text that an edit takes away with the one that it
	// puts there; nil where the arguments are no edit, or are long.
	Replaces *replacesView
}

// valueView is one argument with line feeds, as the tool reads it.
type valueView struct {
	Name string
	Text visible.Text
}

// arguments prepares a text of arguments for a page: as the tool gets them.
func arguments(text []byte, all, download string) argumentsView {
	sent := text
	text = asRun(text)
	v := argumentsView{textView: shownText(text, rawBudget), Empty: emptyWords(sent)}
	v.Media = events.MediaJSON
	if v.Empty == "" { // else they hold something else than what is shown
		v.All, v.Download = all, download
	}
	v.Hidden = v.Text.Report
	laid, err := visible.JSON(text, laidBudget)
	if err != nil {
		v.WhyNot = whyNotLaid(err)
	} else {
		v.Laid = &laid
		v.Hidden = laid.Report
	}
	args, err := events.DecodeArguments(text)
	if err != nil {
		v.Invalid = invalidWords(text, err)
		v.Notes = visible.HostNotes(text)
		return v
	}
	v.Notes = visible.HostNotes([]byte(strings.Join(stringsIn(args.Value), "\n")))
	each, _ := members(text)
	if v.Replaces = replacesOf(each); v.Replaces != nil {
		v.Values = multiline(each, v.Replaces.Old, v.Replaces.New)
		return v
	}
	v.Values = multiline(each)
	return v
}

// asRun is what a tool gets for a text of arguments: the text, or {} where the
// model sent none.
func asRun(text []byte) []byte {
	if args, err := events.DecodeArguments(text); err == nil {
		return args.Text
	}
	return text
}

// emptyWords says what the model sent where that was no arguments; "" where it
// was some.
func emptyWords(sent []byte) string {
	switch trimmed := bytes.TrimSpace(sent); {
	case bytes.Equal(asRun(sent), sent):
		return ""
	case len(sent) == 0:
		return "an empty text"
	case len(trimmed) == 0:
		return bytesOf(len(sent)) + " of white space"
	default:
		return visible.String(string(trimmed))
	}
}

func whyNotLaid(err error) string {
	switch {
	case errors.Is(err, visible.ErrNotJSON):
		return visible.ErrNotJSON.Error()
	case errors.Is(err, visible.ErrTooDeep):
		return visible.ErrTooDeep.Error()
	default:
		return visible.ErrTooLarge.Error()
	}
}

// shownText makes a text visible, whole or as head and tail.
func shownText(b []byte, budget int) textView {
	t := visible.Show(b, budget, 0)
	if !t.Whole() {
		t = visible.Show(b, min(headBudget, budget), tailBudget)
	}
	return textView{Text: t, SHA256: string(events.DigestOf(b))}
}

// stringsIn returns all strings in decoded arguments, names too.
func stringsIn(v any) []string {
	switch v := v.(type) {
	case string:
		return []string{v}
	case []any:
		var out []string
		for _, e := range v {
			out = append(out, stringsIn(e)...)
		}
		return out
	case map[string]any:
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(append(out, k), stringsIn(v[k])...)
		}
		return out
	default:
		return nil
	}
}

// multiline picks the arguments that are hard to read as a JSON string: those
// with line feeds, in the model's order, but those that are compared.
func multiline(all []argument, compared ...string) []valueView {
	var out []valueView
	for _, m := range all {
		s, ok := m.text()
		if !ok || !strings.Contains(s, "\n") || len(out) == maxValues || slices.Contains(compared, m.Name) {
			continue
		}
		out = append(out, valueView{Name: plainName(m.Name), Text: visible.Show([]byte(s), valueBudget, tailBudget)})
	}
	return out
}

// text fetches a payload and makes it visible; what is gone says why.
func (c *Console) text(ctx context.Context, carrier string, ref *events.Ref, budget int) textView {
	if ref == nil {
		return textView{Missing: "There is none."}
	}
	b, err := c.views.Text(ctx, carrier, ref)
	if err != nil {
		return textView{Missing: missing(err)}
	}
	v := shownText(b, budget)
	v.Media = cmp.Or(ref.MediaType, events.MediaBin)
	if ref.TruncatedFrom != nil {
		v.Whole = ref.TruncatedFrom.Bytes
	}
	return v
}

// payload fetches a text without which there is no page.
func (c *Console) payload(ctx context.Context, carrier string, ref *events.Ref) ([]byte, error) {
	b, err := c.views.Text(ctx, carrier, ref)
	if errors.Is(err, events.ErrNoPayload) {
		err = errErased
	}
	return b, err
}

// missing says why a part of a page has no text.
func missing(err error) string {
	if errors.Is(err, events.ErrNoPayload) {
		return "This text was erased from the record, or never was in it."
	}
	return "This text could not be read now."
}

// summaryOf fetches a call's current arguments for a list.
func (c *Console) summaryOf(ctx context.Context, carrier string, ref *events.Ref) []visible.Span {
	if ref == nil {
		return nil
	}
	b, err := c.views.Text(ctx, carrier, ref)
	if err != nil {
		return visible.Line(missing(err), 100)
	}
	return summaryLine(b, summaryRoom)
}
