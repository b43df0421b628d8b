package tools

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/events"
)

// change is what a call makes of one file.
type change struct {
	path  string
	makes bool // also a file that is not there, with its folders
	reads bool // what it becomes depends on what it was
	// apply returns the content afterwards, and what the model is told, from
	// the content before; nil where that is not read, or there is none.
	apply func(before []byte) (after []byte, said string, err error)
}

// changer is a tool whose calls change one file. It implements agent.Changer.
type changer struct {
	*workbench

	spec agent.ToolSpec
	plan func(arguments []byte) (change, error)
}

func (t *changer) Spec() agent.ToolSpec { return t.spec }

// Run changes the file as it is.
func (t *changer) Run(ctx context.Context, arguments []byte) (agent.Output, error) {
	return t.change(ctx, arguments, nil)
}

// Change changes the file if it is the target.
func (t *changer) Change(ctx context.Context, arguments []byte, target events.Target) (agent.Output, error) {
	return t.change(ctx, arguments, &target)
}

func (t *changer) change(ctx context.Context, arguments []byte, target *events.Target) (agent.Output, error) {
	c, err := t.plan(arguments)
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return agent.Output{}, err
	}
	said, err := t.workspace.change(c, target)
	if err != nil {
		return agent.Output{}, err
	}
	return agent.Output{Content: []byte(said)}, nil
}

// Look returns a target as it is now.
func (t *changer) Look(_ context.Context, path string) (events.Target, error) {
	return t.workspace.look(path)
}

// Foresee says what a call would change.
func (t *changer) Foresee(ctx context.Context, arguments []byte, earlier agent.Overlay) (agent.Foreseen, error) {
	c, err := t.plan(arguments)
	if err = errors.Join(err, context.Cause(ctx)); err != nil {
		return agent.Foreseen{}, err
	}
	return t.workspace.foresee(c, earlier)
}

// change makes a change, to the file that the target names where one is given.
func (w *workspace) change(c change, want *events.Target) (said string, err error) {
	w.changing.Lock()
	defer w.changing.Unlock()
	t, err := w.find(c, want)
	if err != nil {
		return "", unlike(want, err)
	}
	defer t.close()
	before, err := t.before(c, want)
	if err != nil {
		return "", unlike(want, err)
	}
	after, said, err := c.apply(before)
	if err != nil {
		return "", err
	}
	return said, t.replace(after)
}

// unlike makes whatever stands against a target that was approved a target that
// changed: it was found to be changeable then.
func unlike(want *events.Target, err error) error {
	if want == nil || errors.Is(err, agent.ErrStale) {
		return err
	}
	return fmt.Errorf("%w (%w)", agent.ErrStale, err)
}

// find opens the folder of a file that is to be changed. Folders are made for a
// file that nobody expects to be there.
func (w *workspace) find(c change, want *events.Target) (*target, error) {
	t, err := w.target(c.path, false)
	if !errors.Is(err, fs.ErrNotExist) {
		return t, err
	}
	if want != nil && want.Digest != "" {
		return nil, fmt.Errorf("%q: %w", c.path, agent.ErrStale)
	}
	if !c.makes {
		return nil, err
	}
	return w.target(c.path, true)
}

// before reads the content that is to be changed, as far as the change or its
// target need that, and holds it against the target.
func (t *target) before(c change, want *events.Target) (content []byte, err error) {
	t.bound = want != nil
	if t.bound || c.reads {
		if content, err = t.read(most(c)); err != nil {
			return nil, err
		}
	}
	switch {
	case t.bound && t.now() != *want:
		return nil, fmt.Errorf("%q: %w", t.shown, agent.ErrStale)
	case t.old == nil && !c.makes:
		return nil, told(t.shown, fs.ErrNotExist)
	}
	return content, nil
}

// most is how much of a file is read for a change.
func most(c change) int64 {
	if c.reads {
		return maxEdit
	}
	return maxTarget
}

// foresee says what a change would do now, over what earlier ones would leave.
func (w *workspace) foresee(c change, earlier agent.Overlay) (agent.Foreseen, error) {
	now, content, err := w.expected(c, earlier)
	if err != nil {
		return agent.Foreseen{}, err
	}
	existed := now.Digest != ""
	if !existed && !c.makes {
		return agent.Foreseen{}, told(c.path, fs.ErrNotExist)
	}
	after, _, err := c.apply(content)
	if err != nil {
		return agent.Foreseen{}, err
	}
	f := agent.Foreseen{Target: now, After: after}
	f.Diff, f.Note = shownChange(now, content, after)
	if folders := w.missing(now.Path); folders != "" {
		f.Note += "\n" + folders
		if f.Diff != nil {
			f.Diff = append([]byte(folders+"\n"), f.Diff...)
		}
	}
	return f, nil
}

// expected is the target of a change and its content once earlier changes are
// made.
func (w *workspace) expected(c change, earlier agent.Overlay) (events.Target, []byte, error) {
	t, err := w.target(c.path, false)
	if errors.Is(err, fs.ErrNotExist) { // its folder is missing
		name, err := w.local(c.path)
		now := over(events.Target{Path: filepath.Clean(name)}, earlier)
		return now, earlier[now.Path], err
	}
	if err != nil {
		return events.Target{}, nil, err
	}
	defer t.close()
	if laid, ok := earlier[t.path]; ok {
		return over(t.now(), earlier), laid, nil
	}
	content, err := t.read(most(c))
	return t.now(), content, err
}

// over is a target after earlier changes.
func over(t events.Target, earlier agent.Overlay) events.Target {
	if content, ok := earlier[t.Path]; ok {
		t.Digest = events.DigestOf(content)
	}
	return t
}

// shownChange is the diff of a change, or none, and the change in a line.
func shownChange(was events.Target, before, after []byte) (diff []byte, note string) {
	name := was.Path
	note = fmt.Sprintf("%s of %s becomes %s.", name, shownSize(before), shownSize(after))
	if was.Digest == "" {
		name, note = "", fmt.Sprintf("%s is a new file of %s.", was.Path, shownSize(after))
	}
	switch {
	case was.Digest != "" && string(before) == string(after):
		return nil, fmt.Sprintf("Nothing changes: %s has this content already, %s.", was.Path, shownSize(after))
	case !isText(before) || !isText(after):
		return nil, note + " It is not text (UTF-8), so there is no diff."
	case len(before)+len(after) > maxCompared:
		return nil, note + " That is too long for a diff."
	case len(after) == 0 && was.Digest == "":
		return nil, fmt.Sprintf("%s is a new file, and empty.", was.Path)
	}
	return unified(name, was.Path, before, after), note
}

// missing says which folders of a file would be made, the deepest first.
func (w *workspace) missing(path string) string {
	var folders []string
	for dir := filepath.Dir(path); dir != "."; dir = filepath.Dir(dir) {
		if _, err := w.root.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			break
		}
		folders = append(folders, diffName("", dir+"/"))
	}
	if len(folders) == 0 {
		return ""
	}
	return "Folders that would be made: " + strings.Join(folders, " ")
}
