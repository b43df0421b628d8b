package cases

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/policy"
)

// bodies are the lines of the case's file of approval bodies, where its steps
// are sentences: then each line is posted once, to a fresh run. An empty line
// is an empty body.
func (p *play) bodies() [][]byte {
	for _, step := range p.s.steps {
		if step.Kind() == '{' {
			return nil
		}
	}
	for _, name := range p.f.glob("*.jsonl") {
		b := p.f.read(name)
		if bytes.Contains(b, []byte("requestId")) {
			return bytes.Split(bytes.TrimSuffix(b, []byte("\n")), []byte("\n"))
		}
	}
	return nil
}

// maxLines bounds the runs that are under way at once.
const maxLines = 32

// postLines posts each line to a run of its own, all at once: each run waits
// for its own time-out.
func (p *play) postLines(ctx context.Context) error {
	lines := p.bodies()
	ctx = p.begin(ctx)
	for range lines[1:] {
		p.begin(ctx)
	}
	for i, r := range p.runs {
		r.line = i + 1
	}
	var group errgroup.Group
	group.SetLimit(maxLines)
	for i, r := range p.runs {
		group.Go(func() error {
			if err := p.askProtected(ctx, r); err != nil {
				return fmt.Errorf("line %d: %w", r.line, err)
			}
			if _, err := p.decide(ctx, r, "", r.fill(lines[i])); err != nil {
				return fmt.Errorf("line %d: %w", r.line, err)
			}
			return p.settle(ctx, r)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, r := range p.runs {
		p.f.report.check("no 5xx", r.replies[0].status < 500, "line %d was answered with %d", r.line, r.replies[0].status)
	}
	return nil
}

// askProtected begins a run, and waits for its request: $r.
func (p *play) askProtected(ctx context.Context, r *run) error {
	if err := p.ask(ctx, r, "s", []byte(`{"query":"go"}`)); err != nil {
		return err
	}
	id, err := awaitRequest(ctx, r.first)
	r.vars["r"] = id
	return err
}

// rawRequest is a request of a .http file.
type rawRequest struct {
	method, path string
	header       http.Header
	body         []byte
}

// parseRaw reads requests that ### separates: a request line, headers, an
// empty line, the body.
func parseRaw(text []byte) []rawRequest {
	var all []rawRequest
	for part := range strings.SplitSeq("\n"+strings.ReplaceAll(string(text), "\r\n", "\n"), "\n###") {
		_, rest, _ := strings.Cut(part, "\n") // the rest of the separator's line
		head, body, _ := strings.Cut(strings.TrimLeft(rest, "\n"), "\n\n")
		lines := strings.Split(head, "\n")
		method, path, ok := strings.Cut(lines[0], " ")
		if !ok {
			continue
		}
		path, _, _ = strings.Cut(path, " ") // the version of HTTP
		r := rawRequest{method: method, path: path, header: http.Header{}, body: []byte(strings.TrimSpace(body))}
		for _, line := range lines[1:] {
			name, value, _ := strings.Cut(line, ":")
			r.header.Add(textproto.TrimString(name), textproto.TrimString(value))
		}
		all = append(all, r)
	}
	return all
}

// tokensOf makes the tokens that a .http file names, with the role that a
// token's own words say.
func tokensOf(f *folder) []auth.Token {
	var tokens []auth.Token
	for _, r := range parseRaw(f.read("requests.http")) {
		text, ok := strings.CutPrefix(r.header.Get("Authorization"), "Bearer ")
		if !ok || slices.ContainsFunc(tokens, func(t auth.Token) bool { return t.Name == text }) {
			continue
		}
		switch {
		case strings.Contains(text, "unknown"), strings.Contains(text, "invalid"), strings.Contains(text, "expired"):
		case strings.Contains(text, "viewer-"), strings.Contains(text, "auditor"):
			tokens = append(tokens, tokenOf(text, "", auth.RoleAuditor))
		case strings.Contains(text, "agent"):
			tokens = append(tokens, tokenOf(text, "", auth.RoleAgent))
		case strings.Contains(text, "reviewer"), strings.Contains(text, "admin"):
			tokens = append(tokens, tokenOf(text, text, auth.RoleReviewer))
		}
	}
	return tokens
}

// postRaw makes the requests of requests.http, with $r of one run that waits.
func (p *play) postRaw(ctx context.Context) error {
	ctx = p.begin(ctx)
	r := p.runs[0]
	if err := p.askProtected(ctx, r); err != nil {
		return err
	}
	for _, raw := range parseRaw(p.f.read("requests.http")) {
		req, err := p.node.request(ctx, raw.method, raw.path, "", r.fill(raw.body))
		if err != nil {
			return err
		}
		req.Header = raw.header
		res, err := p.node.exchange(req)
		if err != nil {
			return err
		}
		r.statuses = append(r.statuses, res.status)
	}
	return p.settle(ctx, r)
}

// judgeConfigs loads each configuration of configs.json as agentd does: it is
// refused with a reason, or what it says, or the default, holds.
func judgeConfigs(f *folder) {
	var configs []map[string]string
	w := parseWants(f.report, "", append(append([]byte(`{"configs":`), f.read("configs.json")...), '}'))
	w.take("configs", &configs)
	for _, c := range configs {
		err := loadConfig(c)
		f.report.check("configs.json", err == nil, "%v: %v", c, err)
	}
}

// loadConfig returns what is wrong with how a configuration was taken.
func loadConfig(c map[string]string) error {
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var text strings.Builder
	text.WriteString("chat:\n  hitl:\n    required-tools: [Bash]\n")
	for key, value := range c {
		fmt.Fprintf(&text, "    %s: %q\n", strings.ReplaceAll(key, "_", "-"), value)
	}
	file := filepath.Join(dir, "agentd.yaml")
	if err := os.WriteFile(file, []byte(text.String()), 0o600); err != nil {
		return err
	}
	cfg, refused := loadFile(dir, file)
	if refused != nil {
		if !strings.Contains(refused.Error(), "timeout") {
			return fmt.Errorf("it is refused, but not for its timeout: %w", refused)
		}
		return nil
	}
	p, err := policy.Compile(policy.Config{RequiredSet: true, RequiredTools: []string{"Bash"}, Timeout: cfg.Chat.HITL.Timeout})
	if err != nil {
		return nil // refused at start by the policy
	}
	got := p.Judge(policy.Call{Tool: "Bash", Source: policy.SourceBuiltin}).Timeout.String()
	if got != "3m0s" && got != c["timeout"] {
		return fmt.Errorf("it is taken, and a request waits %s", got)
	}
	return nil
}

func loadFile(dir, file string) (config.Config, error) {
	l := &config.Loader{WorkDir: dir}
	flags := flag.NewFlagSet("agentd", flag.ContinueOnError)
	l.Flags(flags)
	if err := flags.Parse([]string{"--config", file}); err != nil {
		return config.Config{}, err
	}
	return l.Load()
}
