package main

import (
	"context"
	"embed"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/models"
)

//go:embed demo/scenario.yaml
var demoFiles embed.FS

// demoWorkspace is what the demo's agent works on.
func demoWorkspace() map[string]string {
	return map[string]string{
		"NOTES.md":            "- refunds above the limit need a second person\n- the nightly export is sealed\n",
		"CHANGELOG.md":        "# Changelog\n\n## Unreleased\n\n## 1.4.0\n\n- Faster search.\n",
		"config/payment.yaml": "# limits, reviewed by finance\nrefunds:\n  limit: 100\n  second-person: true\n",
		"build/app.js":        "console.log('built')\n",
		"build/app.js.map":    "{}\n",
	}
}

// demoQueries are the sessions that the demo begins.
func demoQueries() []string {
	return []string{
		"Please put the release notes into the changelog and announce them.",
		"Clean up the build folder.",
		"Raise the refund limit, finance has agreed.",
	}
}

// demo serves with a scripted model and a workspace of its own, and begins a
// few sessions. What an earlier demo left is there.
func (c command) demo() error {
	dir := ""
	cfg, done, err := c.load("demo", func(fs *flag.FlagSet) {
		fs.StringVar(&dir, "dir", "demo", "`folder` of the demo: its data and its workspace")
	})
	if err != nil || done {
		return err
	}
	if cfg, err = demoConfig(cfg, dir); err != nil {
		return err
	}
	text, err := demoFiles.ReadFile("demo/scenario.yaml")
	if err != nil {
		return err
	}
	script, err := models.ParseScript("demo/scenario.yaml", text)
	if err != nil {
		return err
	}
	s := server{cfg: cfg, environ: c.environ, stdout: c.stdout, stderr: c.stderr, models: []agent.Model{models.NewScripted("demo", script)}}
	s.begin = s.beginDemo
	return s.run(c.ctx)
}

// demoTakes refuses settings that the demo brings along itself: one that is
// accepted and ignored would be worse.
func demoTakes(fs *flag.FlagSet, environ []string) error {
	taken := []string{"dir", "addr", "log-level", "log-format"}
	var err error
	fs.Visit(func(f *flag.Flag) {
		if !slices.Contains(taken, f.Name) {
			err = fmt.Errorf("%w: agentd demo brings its own configuration and takes no --%s; use agentd serve", errUsage, f.Name)
		}
	})
	for _, e := range environ {
		name, _, _ := strings.Cut(e, "=")
		key, ours := strings.CutPrefix(name, "COUNTERSIGN_")
		if ours && !slices.Contains(taken, strings.ReplaceAll(strings.ToLower(key), "_", "-")) {
			err = fmt.Errorf("%w: agentd demo brings its own configuration and takes no %s; unset it, or use agentd serve", errUsage, name)
		}
	}
	return err
}

func demoConfig(cfg config.Config, dir string) (config.Config, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return cfg, err
	}
	cfg.DataDir = filepath.Join(dir, "data")
	cfg.Tools.Workspace = filepath.Join(dir, "workspace")
	cfg.Chat.System = "You look after a small web shop. Work in the folder that you are given."
	cfg.Chat.HITL.RequiredTools = []string{"Write", "Edit", "Bash"}
	cfg.Chat.HITL.RequiredSet = true
	cfg.Chat.HITL.Timeout = time.Hour // somebody reads the page first
	return cfg, nil
}

// demoAsker asks in the demo: not the one who decides.
const demoAsker = "demo-carla"

// beginDemo makes the workspace anew and begins the sessions, unless those of
// an earlier demo still wait.
func (s *server) beginDemo(ctx context.Context) error {
	if open := s.countersign.Gate.Unfinished(); len(open) > 0 {
		_, err := fmt.Fprintf(s.stdout, "%d sessions of the last demo still wait for you.\n", len(open))
		return err
	}
	if err := writeWorkspace(s.cfg.Tools.Workspace); err != nil {
		return fmt.Errorf("make the demo's workspace: %w", err)
	}
	if err := s.meet(ctx, demoAsker, "Carla (demo)"); err != nil {
		return err
	}
	for _, text := range demoQueries() {
		if _, _, err := s.loop.Start(ctx, agent.Query{Text: text, Principal: demoAsker}); err != nil {
			return fmt.Errorf("begin a demo session: %w", err)
		}
	}
	return nil
}

func writeWorkspace(dir string) error {
	for name, text := range demoWorkspace() {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // a workspace is for its user to look at
			return err
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil { //nolint:gosec // as above
			return err
		}
	}
	err := os.Remove(filepath.Join(dir, "ANNOUNCEMENT.md"))
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return err
}
