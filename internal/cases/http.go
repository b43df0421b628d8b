package cases

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"maps"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/agent"
)

// judgeHTTP judges the streams on their way: headers, what is in the values
// that they carry, and reconnecting.
func judgeHTTP(ctx context.Context, o Options, f *folder) error {
	switch {
	case f.has("values.json"):
		return judgeInjection(ctx, o, f)
	case f.has("timeline.json"):
		return judgeTimeline(ctx, o, f)
	case f.has("request.http"), f.has("requests.http"):
		return judgeHeaders(ctx, o, f)
	}
	return nil
}

// openPlay starts a node for a case without a scenario of its own.
func openPlay(ctx context.Context, o Options, f *folder, stubs []stubSpec, turns ...answer) (*play, error) {
	s := scenario{spec: houseSpec{Policy: protectAll(), Heartbeat: time.Second}, turns: turns}
	s.spec.Policy.Timeout = time.Minute
	s.spec.Stubs = stubs
	return newPlay(ctx, o, f, s)
}

// usualTurns ask for one protected call.
func usualTurns() ([]stubSpec, []answer) {
	turn := callsTurn("", []scriptedCall{{ID: "c1", Name: "Bash", Arguments: `{"command":"id"}`}})
	return []stubSpec{{Name: "Bash", Returns: []byte("done")}}, []answer{{body: turn}, {body: textTurn("done")}}
}

// judgeHeaders makes the case's requests, and judges the heads of the answers.
func judgeHeaders(ctx context.Context, o Options, f *folder) error {
	stubs, turns := usualTurns()
	p, err := openPlay(ctx, o, f, stubs, turns...)
	if err != nil {
		return err
	}
	defer p.close()
	headers := f.expect.object("headers")
	encoding := f.expect.has("content_encoding")
	for _, raw := range parseRaw(append(f.rawRequests(), '\n')) {
		res, err := p.head(ctx, raw)
		if err != nil {
			return err
		}
		if headers != nil {
			for _, name := range headers.names {
				judgeHeader(f.report, raw.path, name, res.header.Get(name), headers.raw(name))
			}
		}
		if encoding {
			judgeHeader(f.report, raw.path, "Content-Encoding", res.header.Get("Content-Encoding"), f.expect.raw("content_encoding"))
		}
	}
	if f.has("nginx.conf") {
		return p.judgeProxy(ctx)
	}
	return nil
}

// rawRequests is the case's .http file, with a separator before the first.
func (f *folder) rawRequests() []byte {
	var all []byte
	for _, name := range f.glob("*.http") {
		text := f.read(name)
		if !bytes.HasPrefix(text, []byte("###")) {
			all = append(all, "###\n"...)
		}
		all = append(append(all, text...), '\n')
	}
	return all
}

// head makes a raw request, as a program where it names nobody, and returns
// the head of the answer.
func (p *play) head(ctx context.Context, raw rawRequest) (httpAnswer, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := p.node.request(ctx, raw.method, raw.path, agentToken, raw.body)
	if err != nil {
		return httpAnswer{}, err
	}
	maps.Copy(req.Header, raw.header)
	res, err := p.node.client.Transport.RoundTrip(req)
	if err != nil {
		return httpAnswer{}, err
	}
	return httpAnswer{status: res.StatusCode, header: res.Header}, res.Body.Close()
}

// values is values.json: text that must not become part of the framing.
type values struct {
	Result      string `json:"result"`
	Tool        string `json:"tool_name"`
	Token       string `json:"token"`
	LastEventID string `json:"last_event_id"`
}

// judgeInjection sends the values through a run, and judges what a compliant
// client sees.
func judgeInjection(ctx context.Context, o Options, f *folder) error {
	var v values
	w := f.readWants("values.json")
	w.take("result", &v.Result)
	w.take("tool_name", &v.Tool)
	w.take("token", &v.Token)
	w.take("last_event_id", &v.LastEventID)
	w.refuse("subagent_name", "subagents are not in this version")
	w.close()
	calls := []scriptedCall{{ID: "c1", Name: v.Tool, Arguments: "{}"}, {ID: "c2", Name: "Read", Arguments: "{}"}}
	stubs := []stubSpec{{Name: "Read", Returns: []byte(v.Result)}}
	p, err := openPlay(ctx, o, f, stubs, answer{body: callsTurn(v.Token, calls)}, answer{body: textTurn("done")})
	if err != nil {
		return err
	}
	defer p.close()
	ctx = p.begin(ctx)
	r := p.runs[0]
	if err := p.ask(ctx, r, "s", []byte(`{"query":"go"}`)); err != nil {
		return err
	}
	if err := p.settle(ctx, r); err != nil {
		return err
	}
	resumed, err := p.resumeRaw(ctx, r.first.conversation, v.LastEventID)
	if err != nil {
		return err
	}
	judgeFrames(f, v, r.first, resumed)
	return nil
}

// judgeFrames judges that the client saw what was said, and nothing else.
func judgeFrames(f *folder, v values, s *stream, resumed []byte) {
	var equal bool
	f.expect.take("parsed_events_equal_published", &equal)
	said := map[string]bool{}
	for _, e := range s.events() {
		f.report.check("every data is an event", e.Type != "unreadable", "%q", e.Data)
		said[e.Type+e.Data] = true
		for _, c := range e.ToolCalls {
			said["name"+c.Name] = true
		}
		for _, result := range e.ToolResults {
			said["result"+result.Result] = true
		}
	}
	for what, text := range map[string]string{"token": "token" + v.Token, "tool name": "name" + v.Tool, "result": "result" + v.Result} {
		f.report.check("parsed_events_equal_published", said[text] == equal, "the %s did not come as it was", what)
	}
	raw := append(append([]byte{}, s.raw...), resumed...)
	f.report.check("no CR in the stream", !bytes.ContainsRune(bytes.ReplaceAll(s.raw, []byte("\r\n"), nil), '\r'), "there is one")
	for _, text := range f.expect.strings("must_not_parse") {
		f.report.check("must_not_parse", !forged(raw, text), "a client would see %q", text)
	}
}

// forged reports whether a client would take text of the stream for an event's
// kind, id, type or request.
func forged(raw []byte, text string) bool {
	r := newSSEReader(bytes.NewReader(raw))
	for {
		e, err := r.next()
		if err != nil {
			return false
		}
		var event agent.Event
		bad := json.Unmarshal([]byte(e.data), &event) != nil
		if e.kind != "" || strings.Contains(e.id, text) || event.RequestID == text || bad && strings.Contains(e.data, text) {
			return true
		}
	}
}

// resumeRaw resumes a conversation with a Last-Event-ID that no client could
// send, by writing it into the connection. It returns the answer.
func (p *play) resumeRaw(ctx context.Context, conversation, id string) ([]byte, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", fmt.Sprint(p.node.addr.Load()))
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(2 * time.Second)); err != nil {
		return nil, err
	}
	_, err = fmt.Fprintf(conn, "GET /chat/stream/%s HTTP/1.1\r\nHost: %v\r\nAuthorization: Bearer %s\r\nConnection: close\r\nLast-Event-ID: %s\r\n\r\n",
		conversation, p.node.addr.Load(), agentToken, id)
	if err != nil {
		return nil, err
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return nil, fmt.Errorf("resume with a broken Last-Event-ID: %w", err)
	}
	defer res.Body.Close()
	var b bytes.Buffer
	_, _ = b.ReadFrom(res.Body) // what follows the first answer ends the connection
	return b.Bytes(), nil
}
