package agent

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// resultText is what the model, and the client, are told of a call that has
// ended: its result, preceded by a note where a reviewer changed the
// arguments, and cut visibly where it is too long.
func (l *Loop) resultText(ctx context.Context, c *fold.Call) string {
	r := c.Result
	var text string
	if r.Result != nil {
		b, err := l.opt.Log.Payload(ctx, r.EventID, r.Result)
		if err != nil {
			l.logger.WarnContext(ctx, "a result could not be read", "event", r.EventID, "error", err)
			return "(The result of this call is no longer kept.)"
		}
		text = l.bounded(b, r.Result)
	}
	return l.changed(ctx, c) + text
}

// changed is the note on arguments that a reviewer changed.
func (l *Loop) changed(ctx context.Context, c *fold.Call) string {
	if c.Start == nil || c.Request == nil || c.Request.Revised == "" {
		return ""
	}
	b, err := l.opt.Log.Payload(ctx, c.Request.Carrier, c.Request.Arguments)
	if err != nil {
		return "A reviewer changed the arguments of this call before it ran.\n\n"
	}
	return fmt.Sprintf("A reviewer changed the arguments of this call before it ran, to: %s\n\n", validText(b))
}

// bounded makes a result valid UTF-8 and no longer than the model may see; it
// says what it changed.
func (l *Loop) bounded(b []byte, ref *events.Ref) string {
	text := string(b)
	var notes []string
	if !utf8.Valid(b) {
		text = validText(b)
		notes = append(notes, "bytes that are not UTF-8 were replaced by \uFFFD; the record keeps them")
	}
	whole := int64(len(b))
	if ref.TruncatedFrom != nil {
		whole = ref.TruncatedFrom.Bytes
	}
	if limit := l.opt.MaxResultBytes; len(text) > limit || whole > int64(len(b)) {
		cut := min(len(text), limit)
		for cut > 0 && cut < len(text) && !utf8.RuneStart(text[cut]) {
			cut--
		}
		text = text[:cut]
		notes = append(notes, fmt.Sprintf("cut: the first %d of %d bytes", cut, whole))
	}
	if len(notes) > 0 {
		text += "\n[" + strings.Join(notes, "; ") + "]"
	}
	return text
}

// validText replaces what is not UTF-8, one replacement character a byte run.
func validText(b []byte) string { return string(bytes.ToValidUTF8(b, []byte("\uFFFD"))) }
