package cases

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/bus"
	"github.com/countersign-dev/countersign/internal/journal"
)

// errNoNode: the runner was not given a program to start.
var errNoNode = errors.New("no program was given that serves as a node")

// process is a node that the runner has started, and starts again.
type process struct {
	self []string
	spec nodeSpec

	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	errs   *bytes.Buffer
	addr   atomic.Value // string: where it serves
	client *http.Client
}

// startProcess starts a node in a new folder. Close it.
func startProcess(ctx context.Context, o Options, spec nodeSpec) (*process, error) {
	if len(o.Self) == 0 {
		return nil, errNoNode
	}
	dir, err := os.MkdirTemp("", "countersign-case-")
	if err != nil {
		return nil, err
	}
	spec.House.Dir = dir
	p := &process{self: o.Self, spec: spec, client: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}}
	if err := p.start(ctx); err != nil {
		return nil, errors.Join(err, p.close())
	}
	return p, nil
}

// start starts the process, and returns when it serves.
func (p *process) start(ctx context.Context) error {
	spec, err := json.Marshal(p.spec)
	if err != nil {
		return err
	}
	p.cmd = exec.Command(p.self[0], p.self[1:]...) //nolint:gosec,noctx // ourselves; it is stopped by stop alone
	if p.spec.Zone != "" {
		p.cmd.Env = append(os.Environ(), "TZ="+p.spec.Zone)
	}
	p.errs = &bytes.Buffer{}
	p.cmd.Stderr = p.errs
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		return err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	p.out = bufio.NewReader(out)
	if err := p.cmd.Start(); err != nil {
		return fmt.Errorf("start a node: %w", err)
	}
	if _, err := p.in.Write(append(spec, '\n')); err != nil {
		return p.startFailed(err)
	}
	line := make(chan string, 1)
	go func() { s, _ := p.out.ReadString('\n'); line <- strings.TrimSpace(s) }()
	select {
	case addr := <-line:
		if addr == "" {
			return p.startFailed(errors.New("it ended"))
		}
		p.addr.Store(addr)
		return nil
	case <-ctx.Done():
		return p.startFailed(context.Cause(ctx))
	}
}

func (p *process) startFailed(err error) error {
	stopErr := p.signal(syscall.SIGKILL)
	return fmt.Errorf("start a node: %w: %s", errors.Join(err, stopErr), lastLine(p.errs.String()))
}

// signal sends a signal that ends the process, and waits for that.
func (p *process) signal(s syscall.Signal) error {
	if p.cmd == nil || p.cmd.Process == nil {
		return nil
	}
	p.client.CloseIdleConnections() // a server waits for those that were never used
	if err := p.cmd.Process.Signal(s); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	kill := time.AfterFunc(15*time.Second, func() { _ = p.cmd.Process.Kill() })
	defer kill.Stop()
	err := p.cmd.Wait()
	p.cmd = nil
	if s == syscall.SIGKILL {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the node did not end well: %w: %s", err, lastLine(p.errs.String()))
	}
	return nil
}

// lastLine is where a program says why it ends.
func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// running reports whether the process has not been stopped.
func (p *process) running() bool { return p.cmd != nil }

// question puts one of the questions of [Node].
func (p *process) question(what string) (int, error) {
	p.client.CloseIdleConnections()
	if _, err := io.WriteString(p.in, what+"\n"); err != nil {
		return 0, err
	}
	line, err := p.out.ReadString('\n')
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(line))
}

// close ends the process and removes its folder.
func (p *process) close() error {
	return errors.Join(p.signal(syscall.SIGKILL), os.RemoveAll(p.spec.House.Dir))
}

// request makes a request to the process.
func (p *process) request(ctx context.Context, method, path, token string, body []byte) (*http.Request, error) {
	req, err := http.NewRequestWithContext(ctx, method, fmt.Sprintf("http://%v%s", p.addr.Load(), path), bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if token != "" {
		req.Header.Set("Authorization", "Bearer "+token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, nil
}

// httpAnswer is an answer that was read to its end, or whose head was.
type httpAnswer struct {
	status int
	header http.Header
	body   []byte
}

// do makes a request and reads the whole answer.
func (p *process) do(ctx context.Context, method, path, token string, body []byte) (httpAnswer, error) {
	req, err := p.request(ctx, method, path, token, body)
	if err != nil {
		return httpAnswer{}, err
	}
	return p.exchange(req)
}

func (p *process) exchange(req *http.Request) (httpAnswer, error) {
	res, err := p.client.Do(req)
	if err != nil {
		return httpAnswer{}, err
	}
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	return httpAnswer{res.StatusCode, res.Header, b}, err
}

// export exports a list of the console, as its form does.
func (p *process) export(ctx context.Context, path, format string) ([]byte, error) {
	req, err := p.request(ctx, http.MethodPost, path, auditorToken, []byte("format="+format))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := p.exchange(req)
	if err == nil && res.status != http.StatusOK {
		err = fmt.Errorf("%s as %s was answered with %d", path, format, res.status)
	}
	return res.body, err
}

// tell reads the log beside the process, as a read-only command does.
func (p *process) tell(ctx context.Context) (*story, error) {
	j, err := journal.Open(ctx, journal.Options{Path: filepath.Join(p.spec.House.Dir, "data", "journal.db"), ReadOnly: true})
	if err != nil {
		return nil, err
	}
	s, err := tellStory(ctx, bus.NewProducer(bus.ProducerOptions{Journal: j, Source: "cases"}), p.spec.House.notes())
	return s, errors.Join(err, j.Close())
}

// The tokens of every node.
const (
	agentToken    = "token-of-the-case-s-program"
	reviewerToken = "token-of-the-case-s-reviewer"
	auditorToken  = "token-of-the-case-s-auditor"
)

func standardTokens() []auth.Token {
	return []auth.Token{
		tokenOf(agentToken, "", auth.RoleAgent),
		tokenOf(reviewerToken, "reviewer", auth.RoleReviewer),
		tokenOf(auditorToken, "auditor", auth.RoleAuditor),
	}
}

// tokenOf is the configuration of a token.
func tokenOf(text, person, role string) auth.Token {
	sum := sha256.Sum256([]byte(text))
	return auth.Token{Name: text, Person: person, SHA256: hex.EncodeToString(sum[:]), Roles: []string{role}}
}
