package ui_test

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// nginxConfig proxies as a plain site of Debian's does, with its buffering.
const nginxConfig = `daemon off; master_process off; pid %[1]s/pid; error_log %[1]s/errors;
events {}
http {
	access_log off; client_body_temp_path %[1]s/b; proxy_temp_path %[1]s/p; fastcgi_temp_path %[1]s/f; uwsgi_temp_path %[1]s/u; scgi_temp_path %[1]s/s;
	gzip on;
	server {
		listen %[2]s;
		location / { proxy_pass %[3]s; proxy_set_header Host $http_host; }
	}
}
`

// throughNginx serves the world through nginx, on loopback.
func (w *world) throughNginx(t *testing.T) (url string) {
	t.Helper()
	path, err := exec.LookPath("nginx")
	if err != nil {
		path, err = exec.LookPath("/usr/sbin/nginx")
	}
	if err != nil && os.Getenv("REQUIRE_ALL") == "" {
		t.Skip("SKIPPED: there is no nginx on this machine; REQUIRE_ALL=1 makes this a failure")
	}
	require.NoError(t, err)
	dir := t.TempDir()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	addr := l.Addr().String()
	require.NoError(t, l.Close())
	config := filepath.Join(dir, "conf")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, nginxConfig, dir, addr, w.server.URL), 0o600))
	ctx, stop := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, path, "-p", dir, "-c", config, "-e", filepath.Join(dir, "errors"))
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		stop()
		_ = cmd.Wait() // killed
	})
	require.Eventually(t, func() bool {
		conn, err := net.DialTimeout("tcp", addr, time.Second)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 5*time.Second, 20*time.Millisecond)
	return "http://" + addr
}

func TestS4ThroughNginxTheFirstBytesComeAtOnce(t *testing.T) {
	w := newWorld(t, nil)
	w.ask("a", "Write", `{}`)
	direct := w.server.URL
	through := w.throughNginx(t)
	w.server.URL = through
	defer func() { w.server.URL = direct }()
	ben := w.as("ben")
	require.Less(t, w.firstByte(t, ben, through+"/live"), 100*time.Millisecond)
	head, frames := ben.listen(t.Context(), "", map[string]string{"Accept-Encoding": "gzip"})
	require.Empty(t, head.Get("Content-Encoding"))
	next(t, frames)
	began := time.Now()
	w.ask("b", "Write", `{}`)
	got := upTo(t, frames, w.end())
	require.Less(t, time.Since(began), time.Second)
	require.Contains(t, got[len(got)-1].data, `"pending":2`)
}
