package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/countersign-dev/countersign/api"
)

// signIn asks the running agentd for a new one-time link and prints it. The
// way is its control socket, which only the owner of the data directory can
// open.
func (c command) signIn() error {
	cfg, done, err := c.load("sign-in", nil)
	if err != nil || done {
		return err
	}
	link, err := askForLink(c.ctx, filepath.Join(cfg.DataDir, socketName))
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(c.stdout, link)
	return err
}

func askForLink(ctx context.Context, socket string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://agentd/sign-in-link", http.NoBody)
	if err != nil {
		return "", err
	}
	resp, err := overSocket(socket).Do(req)
	if nobodyListens(err) {
		return "", fmt.Errorf("no agentd runs on %s; start it, or name its folder with --data-dir", filepath.Dir(socket))
	}
	if err != nil {
		return "", fmt.Errorf("ask the running agentd: %w", err)
	}
	defer resp.Body.Close()
	var answer api.Link
	body, err := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if err == nil && resp.StatusCode == http.StatusOK {
		err = json.Unmarshal(body, &answer)
	}
	if err != nil || answer.URL == "" {
		return "", fmt.Errorf("the running agentd answered %s: %s", resp.Status, oneLine(string(body)))
	}
	return answer.URL, nil
}

// overSocket is a client that asks a running agentd over its control socket.
func overSocket(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			var d net.Dialer
			return d.DialContext(ctx, "unix", socket)
		},
	}}
}

// nobodyListens reports whether a request failed because no agentd runs.
func nobodyListens(err error) bool {
	return errors.Is(err, syscall.ENOENT) || errors.Is(err, syscall.ECONNREFUSED)
}

// oneLine keeps what is printed to a terminal on one line and free of control
// characters.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r >= 0x7f && r < 0xa0 {
			return ' '
		}
		return r
	}, s)
}
