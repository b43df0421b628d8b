package cases

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"

	"github.com/countersign-dev/countersign/policy"
)

const (
	// namesPerTurn is how many calls a turn of the load asks for.
	namesPerTurn = 200
	// scrapeMax is what a scrape may have after any load.
	scrapeMax = 1 << 20
)

// nameLoad is names.bin, and what names-generate.json says to make up.
type nameLoad struct {
	lines         [][]byte // names as bytes, of UTF-8 or not
	tools, agents int
}

// judgeMetrics has a model call tools by any names, and judges what Prometheus
// reads of the process afterwards.
func judgeMetrics(ctx context.Context, o Options, f *folder) error {
	load := readNames(f)
	model := load.model()
	defer model.Close()
	spec := houseSpec{
		Policy: policy.Config{RequiredSet: true}, Stubs: []stubSpec{{Name: "Bash", Returns: []byte("done")}, {Name: "Read", Returns: []byte("done")}},
		Provider: model.URL + "/v1",
	}
	node, err := startProcess(ctx, o, nodeSpec{House: spec, Tokens: standardTokens()})
	if err != nil {
		return err
	}
	defer node.close()
	if err := load.play(ctx, f, node); err != nil {
		return err
	}
	scraped, err := node.do(ctx, http.MethodGet, "/metrics", "", nil)
	if err != nil {
		return err
	}
	judgeScrape(f, scraped)
	return load.judgeEnd(ctx, f, node)
}

func readNames(f *folder) nameLoad {
	var load nameLoad
	load.lines = bytes.Split(bytes.TrimSuffix(f.read("names.bin"), []byte("\n")), []byte("\n"))
	if f.has("names-generate.json") {
		w := f.readWants("names-generate.json")
		w.take("distinct_tool_names", &load.tools)
		w.take("distinct_agents", &load.agents)
		w.close()
	}
	return load
}

// turns is how many questions it takes to have all names called: one for each
// line, so that a name which spoils its turn spoils no other, and further ones.
func (l nameLoad) turns() int { return len(l.lines) + (l.tools+namesPerTurn-1)/namesPerTurn }

// model is a provider whose turn calls the names that the question numbers.
func (l nameLoad) model() *httptest.Server {
	return httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		messages := messagesOf(body)
		last := chatMessage{}
		if len(messages) > 0 {
			last = messages[len(messages)-1]
		}
		turn := textTurn("That is all.")
		if last.Role == "user" {
			n, _ := strconv.Atoi(regexp.MustCompile(`[0-9]+$`).FindString(last.text())) // as play asks
			turn = l.turn(n)
		}
		w.Write(turn) //nolint:gosec // who has gone away gets nothing
	}))
}

// turn is the stream of a turn. A name is spliced in as its bytes are: an
// encoder would mend them.
func (l nameLoad) turn(n int) []byte {
	const place = "NAME-OF-THE-CASE"
	if n < len(l.lines) {
		stream := callsTurn("", []scriptedCall{{ID: "c1", Name: place, Arguments: "{}"}})
		return bytes.ReplaceAll(stream, []byte(place), inJSON(l.lines[n]))
	}
	var calls []scriptedCall
	first := (n - len(l.lines)) * namesPerTurn
	for i := first; i < min(first+namesPerTurn, l.tools); i++ {
		calls = append(calls, scriptedCall{ID: madeUp("call", i), Name: madeUp("tool", i), Arguments: "{}"})
	}
	return callsTurn("", calls)
}

// inJSON escapes what would end the string or the line, and nothing else.
func inJSON(name []byte) []byte {
	var b []byte
	for _, c := range name {
		switch {
		case c == '"' || c == '\\':
			b = append(b, '\\', c)
		case c < 0x20:
			b = fmt.Appendf(b, `\u%04x`, c)
		default:
			b = append(b, c)
		}
	}
	return b
}

// play asks all questions, one conversation each, and has the agents ask.
func (l nameLoad) play(ctx context.Context, f *folder, node *process) error {
	for n := range l.turns() {
		res, err := node.do(ctx, http.MethodPost, "/chat/stream", agentToken, fmt.Appendf(nil, `{"query":"%squery %d"}`, made, n))
		if err != nil {
			return err
		}
		if res.status != http.StatusOK {
			return fmt.Errorf("question %d was answered with %d", n, res.status)
		}
	}
	if l.agents > 0 {
		asked, err := node.question(askAgents + strconv.Itoa(l.agents))
		if err != nil {
			return err
		}
		same(f.report, "calls of the agents", asked, l.agents)
	}
	_, err := node.question(askViews)
	return err
}

// judgeScrape judges a scrape as a parser of Prometheus reads it.
func judgeScrape(f *folder, scraped httpAnswer) {
	r := f.report
	same(r, "status of /metrics", scraped.status, http.StatusOK)
	r.check("size of /metrics", len(scraped.body) < scrapeMax, "it has %d bytes", len(scraped.body))
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(bytes.NewReader(scraped.body))
	r.check("it parses", err == nil && len(families) > 0, "%d families: %v", len(families), err)
	most, series, totals := 0, 0, false
	for name, family := range families {
		totals = totals || name == "countersign_tool_calls_total"
		for _, m := range family.GetMetric() {
			if judgeLabels(r, name, m) {
				series += seriesOf(m)
			}
		}
	}
	r.check("calls are counted", totals, "countersign_tool_calls_total is not there")
	if f.expect.take("series_max", &most) {
		r.check("series_max", series <= most, "%d series have the label tool, more than %d", series, most)
	}
}

// judgeLabels judges that no label was made by a model or a client, and reports
// whether one is of a tool.
func judgeLabels(r *report, name string, m *dto.Metric) (tool bool) {
	for _, l := range m.GetLabel() {
		clean := !strings.Contains(l.GetValue(), made) && len(l.GetValue()) <= 256
		if l.GetName() == "tool" {
			tool, clean = true, clean && slices.Contains([]string{"Bash", "Read", "_other"}, l.GetValue())
		}
		r.check("labels are ours", clean, "%s{%s=%s}", name, l.GetName(), shortly(l.GetValue()))
	}
	return tool
}

// seriesOf is how many series Prometheus makes of a metric.
func seriesOf(m *dto.Metric) int {
	if h := m.GetHistogram(); h != nil {
		return len(h.GetBucket()) + 2
	}
	return 1
}

// judgeEnd judges that the calls were recorded, and that the process ends as it
// should: one that panics does not.
func (l nameLoad) judgeEnd(ctx context.Context, f *folder, node *process) error {
	var panics bool
	if f.expect.take("panic", &panics) {
		err := node.signal(syscall.SIGTERM)
		said := bytes.Contains(node.errs.Bytes(), []byte("panic"))
		f.report.check("panic", (err != nil || said) == panics, "%v: %s", err, lastLine(node.errs.String()))
	}
	s, err := node.tell(ctx)
	if err != nil {
		return err
	}
	called := 0
	for _, c := range s.calls() {
		if strings.Contains(c.Tool, made) {
			called++
		}
	}
	same(f.report, "calls of tools by names made up", called, l.tools)
	return nil
}
