package cases

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// byteByByte is the size up to which a stream is also served byte by byte.
const byteByByte = 4 << 10

// judgeStream serves the case's streams to the real client, loop and gate, in
// every way that must not matter, and judges what came of them.
func judgeStream(ctx context.Context, o Options, f *folder) error {
	var provider string
	f.expect.take("provider", &provider)
	if provider != "openai-chat" {
		f.report.leave("provider "+provider+" is not in this version", "")
		f.expect = nil
		return nil
	}
	files := f.glob("*.sse")
	if len(files) == 0 {
		f.report.leave("it has no .sse file", "")
	}
	for _, file := range files {
		stream := f.read(file)
		for _, a := range deliveries(f, file, stream) {
			played, err := playStream(ctx, o, stubsFor(f, stream), a)
			if err != nil {
				return err
			}
			judgePlayed(f, file, played)
		}
	}
	if err := judgeLarger(ctx, o, f); err != nil {
		return err
	}
	f.expect.refuse("surfaces", "")
	return judgeStreamPages(ctx, o, f)
}

// judgePlayed judges one delivery of one file by all that expect.json says of
// it.
func judgePlayed(f *folder, file string, p *played) {
	r := f.report
	p.story.checkAlways(r)
	for _, body := range p.requests {
		checkPairing(r, body)
	}
	if w := f.expect.object("assembled"); w != nil {
		p.judge(w)
		w.close()
	}
	p.judge(f.expect)
	p.judgeFile(f, file)
	if w := f.expect.object("audit_raw_arguments"); w != nil {
		var raw string
		if w.take(file, &raw) {
			r.check("audit_raw_arguments", p.holdsRaw(raw), "the log does not hold the arguments of %s as they came", file)
		}
	}
}

// judgeFile judges by the entry of the file in "files".
func (p *played) judgeFile(f *folder, file string) {
	files := f.expect.object("files")
	if files == nil {
		return
	}
	for _, name := range files.names {
		if !slices.Contains(f.glob("*"), name) {
			f.report.fail("expect.json names the file %s, which is not there", name)
		}
	}
	w := files.object(file)
	if w == nil {
		return
	}
	p.judgeAny(w)
	p.judge(w)
	w.close()
}

// judgeAny judges any_of and never.
func (p *played) judgeAny(w *wants) {
	var choices []jsontext.Value
	if w.take("any_of", &choices) {
		var failures []string
		held := false
		for _, c := range choices {
			trial := &report{}
			one := parseWants(trial, w.path+"any_of.", c)
			p.judge(one)
			one.close()
			held = held || len(trial.failures) == 0 && len(trial.left) == 0
			failures = append(failures, trial.failures...)
		}
		w.report.check("any_of", held, "none holds: %q", failures)
	}
	for _, id := range w.strings("never") {
		w.report.check("never", !p.touched(id), "%s was run or offered for approval", id)
	}
}

// writes is writes.json.
type writes struct {
	Offsets []int  `json:"split_at_byte_offsets"`
	Pause   int    `json:"pause_ms_between_writes"`
	Bytes   bool   `json:"byte_by_byte"`
	File    string `json:"file"`
}

// deliveries are the ways in which a stream is served.
func deliveries(f *folder, file string, stream []byte) []answer {
	all := []answer{{body: stream}, {body: stream, cuts: everyByte(stream, 1021)}}
	if len(stream) <= byteByByte {
		all = append(all, answer{body: stream, cuts: everyByte(stream, 1)})
	}
	if !f.has("writes.json") {
		return all
	}
	var ws writes
	w := f.readWants("writes.json")
	w.take("split_at_byte_offsets", &ws.Offsets)
	w.take("pause_ms_between_writes", &ws.Pause)
	w.take("byte_by_byte", &ws.Bytes)
	w.take("file", &ws.File)
	w.close()
	if ws.File == "" || ws.File == file {
		all = append(all, answer{body: stream, cuts: ws.Offsets, pause: time.Duration(ws.Pause) * time.Millisecond})
	}
	return all
}

func everyByte(stream []byte, step int) []int {
	var cuts []int
	for i := step; i < len(stream); i += step {
		cuts = append(cuts, i)
	}
	return cuts
}

var nameInStream = regexp.MustCompile(`"name"\s*:\s*("(?:[^"\\]|\\.)*")`)

// stubsFor makes a tool for each name in a stream, so that nothing stays
// without execution because its tool is missing. tool.json gives one a schema.
func stubsFor(f *folder, stream []byte) []stubSpec {
	schemas := map[string]jsontext.Value{}
	for _, file := range f.glob("tool*.json") {
		w := f.readWants(file)
		var name string
		if w.take("name", &name) {
			schemas[name] = w.raw("inputSchema")
		}
	}
	stubs := namedIn(stream)
	for i := range stubs {
		stubs[i].Schema = string(schemas[stubs[i].Name])
	}
	return stubs
}

// namedIn makes a stub of each name in a stream.
func namedIn(stream []byte) []stubSpec {
	var stubs []stubSpec
	for _, m := range nameInStream.FindAllSubmatch(stream, -1) {
		name, err := jsontext.AppendUnquote(nil, m[1])
		if err != nil || len(name) == 0 || slices.ContainsFunc(stubs, func(s stubSpec) bool { return s.Name == string(name) }) {
			continue
		}
		stubs = append(stubs, stubSpec{Name: string(name), Returns: []byte("done")})
	}
	return stubs
}

// judgeLarger serves the case's stream with more and more content: it comes
// whole, or the turn or its call ends with an error that says so.
func judgeLarger(ctx context.Context, o Options, f *folder) error {
	if !f.has("larger.json") {
		return nil
	}
	var sizes []int
	w := f.readWants("larger.json")
	w.take("also_try_content_bytes", &sizes)
	stream := f.read("stream.sse")
	run := longestRun(stream)
	for _, size := range sizes {
		larger := bytes.Replace(stream, run, bytes.Repeat(run[:1], size), 1)
		p, err := playStream(ctx, o, stubsFor(f, stream), answer{body: larger})
		if err != nil {
			return err
		}
		p.story.checkAlways(f.report)
		whole := len(p.story.ran) > 0
		for _, e := range p.story.ran {
			whole = whole && bytes.Count(e.Arguments, run[:1]) >= size
		}
		what := "larger.json " + strconv.Itoa(size)
		f.report.check(what, whole || len(p.story.ran) == 0 && p.failure() != "", "%d executions, error %q", len(p.story.ran), p.failure())
	}
	return nil
}

// longestRun returns the longest repetition of one byte.
func longestRun(b []byte) []byte {
	var longest []byte
	for i := 0; i < len(b); {
		end := i
		for end < len(b) && b[end] == b[i] {
			end++
		}
		if end-i > len(longest) {
			longest = b[i:end]
		}
		i = end
	}
	return longest
}
