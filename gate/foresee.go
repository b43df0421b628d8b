package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/countersign-dev/countersign/events"
	"github.com/countersign-dev/countersign/fold"
)

// An approval of "write this to that file" means something else where the file
// is not what the reviewer took it for. So for a tool whose calls change one
// file the request says which file, what it holds (its digest), and what would
// become of it (the diff); the start is bound to the first as it is to the
// arguments. The file is looked at three times: when the request is made, just
// before the start is recorded, and by the tool while it writes.

// Changer is what the gate asks of a tool whose calls change one file.
type Changer interface {
	// Foresee says what a call would change as things are now, over what
	// earlier calls of the same turn would leave; it changes nothing. An error
	// is why the tool would refuse, in words for the model.
	Foresee(ctx context.Context, arguments []byte, earlier Overlay) (Foreseen, error)
	// Look returns a target as it is now, by its path.
	Look(ctx context.Context, path string) (events.Target, error)
	// Change runs a call against a target, once. Where it differs nothing is
	// written, and the output is Stale.
	Change(ctx context.Context, arguments []byte, target events.Target) Output
}

// Overlay is what files hold once earlier calls of a turn have run, by the path
// of the target. All tools name a file alike.
type Overlay map[string][]byte

// Foreseen is what a call would change.
type Foreseen struct {
	// Target is the file before: the SHA-256 of its content, "" where there is
	// none.
	Target events.Target
	// Diff is the whole change, as unified diff; nil where there is none to
	// show (the content is no text, is long, or stays as it is).
	Diff []byte
	// Note says the change in a line: sizes and digests. It stands for a diff
	// that is not there, or is too long to be recorded.
	Note  string
	After []byte // the whole content afterwards
}

// The bounds of previews in bytes: of one request, of all of a turn; and of what
// is kept of the files of a turn while it is proposed.
const (
	MaxPreview  = 512 << 10
	maxPreviews = 8 << 20
	maxOverlay  = 64 << 20
)

// MediaDiff is the media type of a preview that is a unified diff. One that is
// MediaText says why there is none.
const MediaDiff = "text/x-diff; charset=utf-8"

// foresight is what the calls of one turn would change, in the model's order.
type foresight struct {
	gate    *Gate
	overlay Overlay
	kept    int // bytes in overlay
	room    int // bytes that the turn's previews may still have
}

func (g *Gate) foresight() *foresight {
	return &foresight{gate: g, overlay: Overlay{}, room: maxPreviews}
}

// foresee asks a tool what a call would change, and lays that over for the next.
func (f *foresight) foresee(ctx context.Context, t *judgedTool, arguments []byte) (seen Foreseen, err error) {
	defer func() {
		if p := recover(); p != nil {
			f.gate.logger.ErrorContext(ctx, "a tool panicked when asked what it would change", "tool", t.Name, "panic", fmt.Sprint(p))
			err = errUnforeseen
		}
	}()
	args, err := events.DecodeArguments(arguments)
	if err != nil {
		return Foreseen{}, err
	}
	if seen, err = t.Changes.Foresee(ctx, args.Text, maps.Clone(f.overlay)); err != nil {
		return Foreseen{}, err
	}
	if len(seen.Target.Path) > events.MaxNameBytes {
		return Foreseen{}, fmt.Errorf("%w: the path has %d bytes, at most %d can be recorded", errUnforeseen, len(seen.Target.Path), events.MaxNameBytes)
	}
	f.lay(seen)
	return seen, nil
}

var errUnforeseen = errors.New("what it would change could not be foreseen")

// lay keeps what a call leaves. A file for which there is no room is not laid
// over: a later call that changes it too is then foreseen as if this one did not
// run, and ends stale.
func (f *foresight) lay(seen Foreseen) {
	path := seen.Target.Path
	f.kept += len(seen.After) - len(f.overlay[path])
	f.overlay[path] = seen.After
	if f.kept > maxOverlay {
		f.kept -= len(seen.After)
		delete(f.overlay, path)
	}
}

// preview is what a request shows of a change: the diff, or why there is none.
func (f *foresight) preview(seen Foreseen) (events.Payload, *events.Ref) {
	text, media := seen.Diff, MediaDiff
	switch size := len(seen.Diff); {
	case size == 0:
		text, media = []byte(seen.Note), events.MediaText
	case size > MaxPreview || size > f.room:
		text, media = fmt.Appendf(nil, "%s\nThe diff has %d bytes, more than is kept with a request.", seen.Note, size), events.MediaText
	}
	f.room -= len(text)
	p := events.NewPayload(text)
	return p, p.Ref(media)
}

// unforeseen is the judgement of a call that its tool would refuse.
func unforeseen(t *judgedTool, err error) judgement {
	return refuse(t, ruleTarget, unfitPrefix+clipTo(err.Error(), maxWhy)+".")
}

// before lays over what the calls of a turn before one would leave that have not
// run: those that wait or may start, under their current text. What cannot be
// read or foreseen is left out.
func (g *Gate) before(ctx context.Context, session string, key events.CallKey) *foresight {
	f := g.foresight()
	for _, p := range g.unstartedBefore(ctx, session, key) {
		text, err := g.log.Payload(ctx, p.carrier, p.ref)
		if err == nil {
			_, err = f.foresee(ctx, g.tools[p.call.Tool], text)
		}
		if err != nil {
			g.logger.DebugContext(ctx, "an earlier call of the turn is left out of what is foreseen", "call", p.call.String(), "error", err)
		}
	}
	return f
}

// unstartedBefore returns the calls before one of its turn that may still change
// a file, in the model's order.
func (g *Gate) unstartedBefore(ctx context.Context, session string, key events.CallKey) (plans []plan) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s, err := g.load(ctx, session)
	if err != nil {
		return nil
	}
	defer g.unload(s)
	for k, c := range s.Calls {
		if k.BatchID != key.BatchID || k.Index >= key.Index || !c.Open() || c.Start != nil || !g.changes(c.Tool) {
			continue
		}
		switch q := c.Request; {
		case q != nil && (q.State == fold.Pending || permitted(c)):
			plans = append(plans, plan{call: *c, ref: carried(q), carrier: q.Carrier})
		case q == nil && permitted(c):
			plans = append(plans, plan{call: *c, ref: c.Arguments, carrier: c.EventID})
		}
	}
	slices.SortFunc(plans, func(a, b plan) int { return cmp.Compare(a.call.Index, b.call.Index) })
	return plans
}

// changes reports whether the calls of a tool change one file.
func (g *Gate) changes(tool string) bool {
	t := g.tools[tool]
	return t != nil && t.Changes != nil
}

// targetMoved says what is other about the target of an approved call than what was
// shown, as an objection; none where it is the same.
func (g *Gate) targetMoved(ctx context.Context, p plan) (o objection) {
	switch changes := g.changes(p.call.Tool); {
	case p.vote == nil || !changes && p.target == nil:
		return objection{}
	case p.target == nil:
		return stale("its request does not say what it would change")
	case !changes:
		return stale("the tool %s does not say what it changes any more", p.call.Tool)
	}
	defer func() {
		if r := recover(); r != nil {
			g.logger.ErrorContext(ctx, "a tool panicked when asked for its target", "tool", p.call.Tool, "panic", fmt.Sprint(r))
			o = stale("%q could not be looked at", p.target.Path)
		}
	}()
	now, err := g.tools[p.call.Tool].Changes.Look(ctx, p.target.Path)
	switch {
	case ctx.Err() != nil:
		return objection{}
	case err != nil:
		return stale("the file is not what was shown: %s", clipTo(err.Error(), maxWhy))
	case now.Digest == p.target.Digest:
		return objection{}
	}
	return stale("%s since the change was shown for approval. Read it and ask again", HowMoved(*p.target, now))
}

// HowMoved says in words how a target differs from what it was.
func HowMoved(was, now events.Target) string {
	switch {
	case was.Digest == "":
		return fmt.Sprintf("the file %q did not exist and was made", was.Path)
	case now.Digest == "":
		return fmt.Sprintf("the file %q was removed", was.Path)
	}
	return fmt.Sprintf("the content of %q is not the one that the change was made for (it was changed, or an earlier change of the turn did not run)", was.Path)
}
