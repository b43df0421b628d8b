package cases

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/countersign-dev/countersign/agent"
)

// promptly is how soon a request for approval must be readable behind a proxy.
const promptly = 2 * time.Second

// judgeProxy puts the case's nginx in front of the node, and judges that what
// asks for approval comes through at once.
func (p *play) judgeProxy(ctx context.Context) error {
	if _, err := exec.LookPath("nginx"); err != nil {
		p.f.report.leave("nginx.conf", "nginx is not installed")
		return nil
	}
	addr, stop, err := p.startNginx(ctx)
	if err != nil {
		return err
	}
	defer stop()
	timed, cancel := context.WithTimeout(ctx, promptly)
	defer cancel()
	err = p.readThrough(timed, addr)
	p.f.report.check("through nginx within 2 s", err == nil, "%v", err)
	p.f.report.leave("through nginx for 120 s", "it is not waited for")
	return nil
}

var (
	nginxListen = regexp.MustCompile(`listen\s+[^;]+;`)
	nginxPass   = regexp.MustCompile(`proxy_pass\s+http://[^/;]+`)
)

// startNginx starts the case's configuration with a port and folders of its
// own.
func (p *play) startNginx(ctx context.Context) (addr string, stop func(), err error) {
	addr, err = freeAddr(ctx)
	if err != nil {
		return "", nil, err
	}
	dir, err := os.MkdirTemp("", "countersign-nginx-")
	if err != nil {
		return "", nil, err
	}
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(p.nginxConf(dir, addr)), 0o600); err != nil {
		return "", nil, err
	}
	cmd := exec.Command("nginx", "-p", dir, "-c", file, "-e", filepath.Join(dir, "error.log"), //nolint:gosec,noctx // stopped below
		"-g", "daemon off; pid "+filepath.Join(dir, "pid")+";")
	if err := cmd.Start(); err != nil {
		return "", nil, err
	}
	return addr, func() {
		_ = cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
		_ = cmd.Wait()                          // how it ends is not judged
		_ = os.RemoveAll(dir)                   // it is in the folder for such things
	}, nil
}

// nginxConf is the case's configuration, in front of the node.
func (p *play) nginxConf(dir, addr string) string {
	conf := nginxListen.ReplaceAllString(string(p.f.read("nginx.conf")), "listen "+addr+";")
	conf = nginxPass.ReplaceAllString(conf, fmt.Sprintf("proxy_pass http://%v", p.node.addr.Load()))
	var folders strings.Builder
	folders.WriteString("http { access_log off;")
	for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&folders, " %s_temp_path %s;", name, filepath.Join(dir, name))
	}
	return strings.Replace(conf, "http {", folders.String(), 1)
}

// freeAddr is an address where nobody listens.
func freeAddr(ctx context.Context) (string, error) {
	var lc net.ListenConfig
	l, err := lc.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// readThrough asks through the proxy until the request for approval is there.
func (p *play) readThrough(ctx context.Context, addr string) error {
	raw := parseRaw(p.f.rawRequests())[0]
	for {
		req, err := http.NewRequestWithContext(ctx, raw.method, "http://"+addr+raw.path, strings.NewReader(string(raw.body)))
		if err != nil {
			return err
		}
		req.Header = raw.header.Clone()
		req.Header.Set("Authorization", "Bearer "+agentToken)
		res, err := p.node.client.Do(req)
		if err == nil {
			defer res.Body.Close()
			return untilApproval(res)
		}
		if !waited(ctx.Done(), again) { // nginx is still starting
			return errors.Join(err, context.Cause(ctx))
		}
	}
}

// untilApproval reads a stream, whatever the proxy packed it into, up to the
// request for approval.
func untilApproval(res *http.Response) error {
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("the proxy answered with %d", res.StatusCode)
	}
	var body io.Reader = res.Body
	if res.Header.Get("Content-Encoding") == "gzip" {
		unpacked, err := gzip.NewReader(res.Body)
		if err != nil {
			return err
		}
		body = unpacked
	}
	r := newSSEReader(body)
	for {
		e, err := r.next()
		if err != nil {
			return fmt.Errorf("the request for approval did not come: %w", err)
		}
		var event agent.Event
		if json.Unmarshal([]byte(e.data), &event) == nil && event.Type == agent.EventApproval {
			return nil
		}
	}
}
