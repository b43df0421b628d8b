package cases

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"
)

// console is a reviewer's page that follows the console's live stream.
type console struct {
	p        *play
	ctx      context.Context //nolint:containedctx // of one judgement
	live     *http.Response  // nil: cut
	lastID   string          // that the page got last
	oldest   string          // that it got first
	requests map[string]string
	waiting  map[string]bool // by name, as decided here
}

// judgeTimeline plays timeline.json: sentences of a small vocabulary. After
// each reconnect the page's pending approvals must be the server's.
func judgeTimeline(ctx context.Context, o Options, f *folder) error {
	var sentences []string
	if err := json.Unmarshal(f.read("timeline.json"), &sentences); err != nil {
		f.report.leave("timeline.json", "it is no list of sentences")
		return nil
	}
	stubs, turns := usualTurns()
	p, err := openPlay(ctx, o, f, stubs, turns...)
	if err != nil {
		return err
	}
	defer p.close()
	ctx = p.begin(ctx)
	c := &console{p: p, ctx: ctx, requests: map[string]string{}, waiting: map[string]bool{}}
	defer c.disconnect()
	want := f.expect.strings("pending_after_reconnect")
	for _, sentence := range sentences {
		for part := range strings.SplitSeq(sentence, ";") {
			if err := c.play(strings.TrimSpace(part), want); err != nil {
				return err
			}
		}
	}
	return nil
}

var (
	published = regexp.MustCompile(`^approval (\w+) published$`)
	decided   = regexp.MustCompile(`^(\w+) decided elsewhere$`)
)

func (c *console) play(sentence string, want []string) error {
	if m := published.FindStringSubmatch(sentence); m != nil {
		return c.publish(m[1])
	}
	if m := decided.FindStringSubmatch(sentence); m != nil {
		body := fmt.Appendf(nil, `{"requestId":%q,"decision":"decline"}`, c.requests[m[1]])
		delete(c.waiting, m[1])
		_, err := c.p.decide(c.ctx, c.p.runs[0], "", body)
		return err
	}
	switch {
	case strings.HasSuffix(sentence, "connection cut"):
		c.disconnect()
		return nil
	case sentence == "server restarts":
		c.disconnect()
		if err := c.p.stop(syscall.SIGTERM); err != nil {
			return err
		}
		return c.p.start(c.ctx)
	case strings.Contains(sentence, "reconnects") && strings.Contains(sentence, "old"):
		return c.reconnect(c.oldest, want)
	case strings.Contains(sentence, "reconnects"):
		return c.reconnect(c.lastID, want)
	case strings.HasSuffix(sentence, "stream connects"):
		return c.connect("")
	}
	return notUnderstood("the sentence %q", sentence)
}

// publish has a run ask, under a name.
func (c *console) publish(name string) error {
	r := c.p.runs[0]
	if err := c.p.ask(c.ctx, r, name, []byte(`{"query":"go"}`)); err != nil {
		return err
	}
	id, err := awaitRequest(c.ctx, r.streams[name])
	c.requests[name], c.waiting[name] = id, true
	return err
}

func (c *console) disconnect() {
	if c.live != nil {
		_ = c.live.Body.Close() // it is cut
		c.live = nil
	}
}

// connect opens the live stream and reads what it begins with.
func (c *console) connect(lastID string) error {
	req, err := c.p.node.request(c.ctx, http.MethodGet, "/live", reviewerToken, nil)
	if err != nil {
		return err
	}
	if lastID != "" {
		req.Header.Set("Last-Event-ID", lastID)
	}
	if c.live, err = c.p.node.client.Do(req); err != nil { //nolint:bodyclose // disconnect does
		return err
	}
	if c.live.StatusCode != http.StatusOK {
		return fmt.Errorf("/live was answered with %d", c.live.StatusCode)
	}
	first := make(chan sseEvent, 1)
	body := c.live.Body
	go func() { e, _ := newSSEReader(body).next(); first <- e }() // ends with the connection
	select {
	case e := <-first:
		c.lastID = e.id
		if c.oldest == "" {
			c.oldest = e.id
		}
		return nil
	case <-time.After(2 * time.Second):
		return fmt.Errorf("/live with Last-Event-ID %q said nothing for two seconds", lastID)
	}
}

// reconnect connects again, and judges what the page then shows.
func (c *console) reconnect(lastID string, want []string) error {
	if err := c.connect(lastID); err != nil {
		return err
	}
	names := slices.Sorted(maps.Keys(c.waiting))
	c.p.f.report.check("pending_after_reconnect", slices.Equal(names, want), "the case's own steps leave %q, it wants %q", names, want)
	var ids []string
	for _, name := range names {
		ids = append(ids, c.requests[name])
	}
	raw, err := json.Marshal(ids)
	if err != nil {
		return err
	}
	return c.p.judgePending(c.ctx, c.p.runs[0], raw)
}
