package cases

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/tools"
)

// shownCall is a call as approval.json has it.
type shownCall struct {
	ID        string `json:"toolCallId"`
	Tool      string `json:"toolName"`
	Arguments string `json:"arguments"`
}

// exhibit is a call as the console shows it: while it waits, if it does, and
// when it has been approved with a comment and has ended.
type exhibit struct {
	call    shownCall
	files   []string // of all calls of the case
	request *page    // the page of the request while it waited; nil: nobody was asked
	pages   []page
	story   *story
	raw     []byte // the stream of the client
	log     []byte // what the node wrote into its own log
	exports [][]byte
}

// show has a model ask for a call, and reads the console.
func show(ctx context.Context, o Options, f *folder, turn []byte, stubs []stubSpec, comment string) (*exhibit, error) {
	spec := houseSpec{Policy: policy.Config{Timeout: time.Minute}, Heartbeat: time.Second, Stubs: stubs}
	p, err := newPlay(ctx, o, f, scenario{spec: spec, turns: []answer{{body: turn}}})
	if err != nil {
		return nil, err
	}
	defer p.close()
	e := &exhibit{}
	if err := e.wait(ctx, p, comment); err != nil {
		return nil, err
	}
	if err := p.settle(ctx, p.runs[0]); err != nil {
		return nil, err
	}
	e.raw = p.runs[0].first.raw
	after, err := p.crawl(ctx)
	if err != nil {
		return nil, err
	}
	e.pages = append(e.pages, after...)
	for _, format := range []string{"csv", "ndjson"} {
		export, err := p.node.export(ctx, "/history/export", format)
		if err != nil {
			return nil, err
		}
		e.exports = append(e.exports, export)
	}
	if e.story, err = p.node.tell(ctx); err != nil {
		return nil, err
	}
	e.story.checkAlways(f.report)
	err = p.stop(15)
	e.log = p.node.errs.Bytes()
	return e, err
}

// wait reads the console while the call waits, and approves it.
func (e *exhibit) wait(ctx context.Context, p *play, comment string) error {
	ctx = p.begin(ctx)
	r := p.runs[0]
	if err := p.ask(ctx, r, "s", []byte(`{"query":"go"}`)); err != nil {
		return err
	}
	for {
		event, err := r.first.await(ctx, func(e agent.Event) bool { return e.Type == agent.EventApproval || last(e) })
		if err != nil || event.Type != agent.EventApproval {
			return err
		}
		if e.pages, err = p.crawl(ctx); err != nil {
			return err
		}
		one, err := p.get(ctx, "/requests/"+event.RequestID, reviewerToken)
		if err != nil {
			return err
		}
		e.request, e.pages = &one, append(e.pages, one)
		if err := e.checkDownload(ctx, p, event); err != nil {
			return err
		}
		body, err := json.Marshal(map[string]string{"requestId": event.RequestID, "decision": "approve", "comment": comment})
		if err != nil {
			return err
		}
		if _, err := p.decide(ctx, r, "", body); err != nil {
			return err
		}
	}
}

// checkDownload judges that a reviewer can have the arguments as they are.
func (e *exhibit) checkDownload(ctx context.Context, p *play, event agent.Event) error {
	res, err := p.node.do(ctx, http.MethodGet, "/requests/"+event.RequestID+"/download", reviewerToken, nil)
	if err != nil {
		return err
	}
	ok := res.status == http.StatusOK && string(res.body) == event.Arguments
	p.f.report.check("the raw arguments", ok, "the download (status %d) has %d bytes, want %d", res.status, len(res.body), len(event.Arguments))
	return nil
}

// stubLike is a stub with the schema of the built-in tool of that name, so that
// what does not fit it is judged as it would be.
func stubLike(name string, returns []byte) (stubSpec, error) {
	stub := stubSpec{Name: name, Returns: returns}
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return stub, err
	}
	defer os.RemoveAll(dir)
	builtin, err := tools.New(tools.Options{Workspace: filepath.Join(dir, "workspace"), Builtin: []string{"Read", "Write", "Edit", "Bash"}})
	if err != nil {
		return stub, err
	}
	for _, t := range builtin {
		if t.Spec().Name == name {
			stub.Schema = string(t.Spec().Schema)
		}
	}
	return stub, nil
}

// approvals reads the case's calls: approval*.json, call.json.
func approvals(f *folder) map[string]shownCall {
	calls := map[string]shownCall{}
	for _, pattern := range []string{"approval*.json", "call.json"} {
		for _, file := range f.glob(pattern) {
			var c shownCall
			w := f.readWants(file)
			w.take("toolCallId", &c.ID)
			w.take("toolName", &c.Tool)
			w.take("arguments", &c.Arguments)
			w.close()
			calls[file] = c
		}
	}
	return calls
}

// showApproval shows one call of the case, with the case's result and comment.
func showApproval(ctx context.Context, o Options, f *folder, c shownCall) (*exhibit, error) {
	var result []byte
	comment := ""
	for _, file := range f.glob("result.*") {
		result = f.read(file)
	}
	if f.has("comment.txt") {
		comment = string(f.read("comment.txt"))
	}
	stub, err := stubLike(c.Tool, result)
	if err != nil {
		return nil, err
	}
	turn := callsTurn("", []scriptedCall{{ID: c.ID, Name: c.Tool, Arguments: c.Arguments}})
	e, err := show(ctx, o, f, turn, []stubSpec{stub}, comment)
	if err != nil {
		return nil, fmt.Errorf("show %s: %w", c.Tool, err)
	}
	e.call = c
	return e, nil
}

// errNothingToShow: the case has no call.
var errNothingToShow = errors.New("it has no call to show")

// holdsBytes reports whether what a terminal would act on stands in a text: a
// control character, or a byte that is none of UTF-8.
func holdsBytes(text []byte, hexByte byte) bool {
	if hexByte < 0x80 {
		return bytes.IndexByte(text, hexByte) >= 0
	}
	return strings.ContainsRune(string(text), rune(hexByte)) || strings.ContainsRune(strings.ToValidUTF8(string(text), "\uFFFD"), rune(hexByte))
}
