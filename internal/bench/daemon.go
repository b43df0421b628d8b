package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign-dev/countersign/internal/auth"
)

// daemon is an agentd of its own: a process, as users run it.
type daemon struct {
	cmd   *exec.Cmd
	said  *bytes.Buffer // on both outputs; to be read once it has ended
	addr  string
	token string        // of an agent, a reviewer and an auditor
	more  []string      // of others like that: one person may have a share of the streams only
	ready time.Duration // from the start of the process to the first 200 of /readyz
}

// program builds agentd, once.
func (b *bench) program(ctx context.Context) (string, error) {
	if b.o.Agentd == "" {
		path := filepath.Join(b.o.Dir, "agentd")
		out, err := exec.CommandContext(ctx, "go", "build", "-tags", "sqlite_fts5", "-o", path, "./cmd/agentd").CombinedOutput() //nolint:gosec // ours
		if err != nil {
			return "", fmt.Errorf("build agentd (run it from the top of the module): %w: %s", err, out)
		}
		b.o.Agentd = path
	}
	return b.o.Agentd, nil
}

// daemonConfig is what a daemon reads: %s are tokens and a script.
const daemonConfig = `
auth:
  tokens:
%smodels:
  - {name: bench, provider: script, file: %s}
chat: {hitl: {required-tools: [Write], timeout: 24h}}
`

const daemonScript = `closing: done
conversations:
  - turns:
      - text: I write it.
        calls:
          - {name: Write, arguments: '{"path":"limits.yaml","content":"reviewed by finance"}'}
`

// start starts agentd on a folder and waits until it is ready.
func (b *bench) start(ctx context.Context, dir string) (*daemon, error) {
	program, err := b.program(ctx)
	if err != nil {
		return nil, err
	}
	d := &daemon{said: &bytes.Buffer{}}
	if d.addr, err = freeAddr(ctx); err != nil {
		return nil, err
	}
	config, err := d.configure(dir)
	if err != nil {
		return nil, err
	}
	d.cmd = exec.CommandContext(ctx, program, "serve", "--config", config, "--addr", d.addr, "--data-dir", filepath.Join(dir, "data")) //nolint:gosec // ours
	d.cmd.Dir, d.cmd.Stdout, d.cmd.Stderr = dir, d.said, d.said
	began := time.Now()
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	if err := d.await(ctx, "/readyz"); err != nil {
		return nil, errors.Join(err, d.stop())
	}
	d.ready = time.Since(began)
	return d, nil
}

func (d *daemon) configure(dir string) (string, error) {
	var people strings.Builder
	for i := range streamPeople {
		plain, hash := auth.NewToken()
		d.more = append(d.more, plain)
		fmt.Fprintf(&people, "    - {name: bench%d, person: bench%[1]d, sha256: %s, roles: [agent, reviewer, auditor]}\n", i, hash)
	}
	d.token = d.more[0]
	script := filepath.Join(dir, "script.yaml")
	if err := os.WriteFile(script, []byte(daemonScript), 0o600); err != nil {
		return "", err
	}
	config := filepath.Join(dir, "agentd.yaml")
	return config, os.WriteFile(config, fmt.Appendf(nil, daemonConfig, people.String(), script), 0o600)
}

// streamPeople is how many people may read streams: together, all that are
// measured.
const streamPeople = 4

// freeAddr finds an address that nobody listens on.
func freeAddr(ctx context.Context) (string, error) {
	l, err := listen(ctx)
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// startWithin is how long a start may take before it counts as failed.
const startWithin = 10 * time.Minute

// await asks until a path answers with 200.
func (d *daemon) await(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for {
		if err := d.get(ctx, path); err == nil {
			return nil
		}
		select {
		case <-again.C:
		case <-ctx.Done():
			return fmt.Errorf("agentd does not answer %s: %w", path, context.Cause(ctx))
		}
	}
}

// get reads a page.
func (d *daemon) get(ctx context.Context, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+d.addr+path, http.NoBody)
	if err != nil {
		return err
	}
	req.Header.Set("Authorization", "Bearer "+d.token)
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	page, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("GET %s: %s: %.200s", path, resp.Status, page)
	}
	return err
}

// resident is the daemon's memory, in MB.
func (d *daemon) resident() (float64, error) { return resident(d.cmd.Process.Pid) }

// stop ends the process as an operator does.
func (d *daemon) stop() error {
	if err := d.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	if err := d.cmd.Wait(); err != nil {
		return fmt.Errorf("agentd: %w: %s", err, d.said)
	}
	return nil
}
