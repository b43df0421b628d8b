package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/agent"
	"github.com/countersign-dev/countersign/gate"
	"github.com/countersign-dev/countersign/internal/auth"
	"github.com/countersign-dev/countersign/internal/config"
	"github.com/countersign-dev/countersign/models"
	"github.com/countersign-dev/countersign/policy"
	"github.com/countersign-dev/countersign/projections"
	"github.com/countersign-dev/countersign/tools"
)

func (s *server) newLogger() *slog.Logger {
	o := &slog.HandlerOptions{Level: s.cfg.Log.Level}
	if s.cfg.Log.Format == config.FormatJSON {
		return slog.New(slog.NewJSONHandler(s.stderr, o))
	}
	return slog.New(slog.NewTextHandler(s.stderr, o))
}

// open opens the parts from the log upwards. What it has opened, close closes.
func (s *server) open(ctx context.Context) error {
	if err := s.openFolder(); err != nil {
		return err
	}
	pol, err := policyOf(s.cfg)
	if err != nil {
		return err
	}
	hidden := s.hidden()
	if err := s.openSandbox(ctx, hidden); err != nil {
		return err
	}
	all, err := s.tools(hidden)
	if err != nil {
		return err
	}
	known, err := gateTools(all)
	if err != nil {
		return err
	}
	s.warnUnmatched(pol, known)
	if err := s.openModels(); err != nil {
		return err
	}
	s.names = newNames()
	if err := s.openMetrics(); err != nil {
		return err
	}
	if err := s.openPolicyFile(); err != nil {
		return err
	}
	s.countersign, err = countersign.Open(ctx, s.cfg.DataDir, countersign.Options{
		Policy: pol, Tools: known, Memory: s.cfg.Bus == config.BusMemory, Isolation: s.isolation, Names: s.names.of,
		HeadFile: s.cfg.HeadFile, Metrics: s.registry, Logger: s.logger,
	})
	if err != nil {
		return err
	}
	if err := s.openAuth(ctx); err != nil {
		return err
	}
	if err := s.openLoop(all); err != nil {
		return err
	}
	s.views, err = projections.Open(ctx, projections.Options{
		Path: s.file("views.db"), Source: s.countersign.Log, Room: s.countersign.Room, Gate: s.countersign.Gate, Logger: s.logger,
	})
	if err != nil {
		return err
	}
	if err := s.exportTotals(); err != nil {
		return err
	}
	if err := s.bind(); err != nil {
		return err
	}
	s.handler, err = s.newHandler()
	return err
}

// file is a file of the data directory, or "" where the bus keeps nothing.
func (s *server) file(name string) string {
	if s.cfg.Bus == config.BusMemory {
		return ""
	}
	return filepath.Join(s.cfg.DataDir, name)
}

// policyOf compiles the configured policy; an error names file, line and key.
func policyOf(cfg config.Config) (*policy.Policy, error) {
	h := cfg.Chat.HITL
	p, err := policy.Compile(policy.Config{
		RequiredTools: h.RequiredTools, AllowedTools: h.AllowedTools, DeniedTools: h.DeniedTools, RequiredSet: h.RequiredSet,
		Timeout: h.Timeout, StartWithin: cfg.StartWithin,
	})
	if wrong, ok := errors.AsType[*policy.ConfigError](err); ok {
		key := "chat.hitl." + wrong.Key
		if wrong.Index >= 0 {
			key += fmt.Sprintf("[%d]", wrong.Index)
		}
		return nil, cfg.Blame(key, err)
	}
	return p, err
}

// hidden are the files and folders of this process that no tool may reach.
func (s *server) hidden() []string {
	hidden := []string{s.cfg.DataDir, s.folder}
	for _, file := range []string{s.cfg.File, s.cfg.HeadFile} {
		if file != "" {
			hidden = append(hidden, file)
		}
	}
	return append(hidden, written(s.stdout, s.stderr)...)
}

// written are the files into which a process writes: what agentd says may hold
// what lets somebody in.
func written(outputs ...io.Writer) (paths []string) {
	for _, o := range outputs {
		f, ok := o.(*os.File)
		if !ok {
			continue
		}
		info, err := f.Stat()
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if path, err := os.Readlink(fmt.Sprintf("/proc/self/fd/%d", f.Fd())); err == nil {
			paths = append(paths, path)
		}
	}
	return paths
}

func (s *server) tools(hidden []string) ([]agent.Tool, error) {
	custom := make([]tools.Custom, 0, len(s.cfg.Tools.Custom))
	for _, t := range s.cfg.Tools.Custom {
		custom = append(custom, tools.Custom{
			Name: t.Name, Description: t.Description, Schema: t.Schema, Command: t.Command, Timeout: t.Timeout, ReturnDirect: t.ReturnDirect,
		})
	}
	all, err := tools.New(tools.Options{
		Workspace: s.cfg.Tools.Workspace, Protected: hidden, Builtin: s.cfg.Tools.Builtin, Custom: custom, Environ: s.environ,
		Sandbox: s.sandbox, Hindrance: s.hindrance,
	})
	if errors.Is(err, tools.ErrOptions) {
		return nil, s.cfg.Blame("tools", err)
	}
	return all, err
}

// gateTools is what the gate must know of the loop's tools.
func gateTools(all []agent.Tool) ([]gate.Tool, error) {
	known := make([]gate.Tool, 0, len(all))
	for _, t := range all {
		spec := t.Spec()
		definition, err := tools.Definition(t)
		if err != nil {
			return nil, fmt.Errorf("tool %q: %w", spec.Name, err)
		}
		known = append(known, agent.GateTool(t, definition))
	}
	return known, nil
}

// warnUnmatched says which entries of the policy name no tool: an entry that
// protects nothing must not be silent.
func (s *server) warnUnmatched(p *policy.Policy, known []gate.Tool) {
	calls := make([]policy.Call, 0, len(known))
	for _, t := range known {
		calls = append(calls, policy.Call{Tool: t.Name, Source: string(t.Source), Server: t.Server})
	}
	for _, entry := range p.Unmatched(calls) {
		s.logger.Warn("an entry of the policy matches no tool", "entry", entry)
	}
}

func (s *server) openAuth(ctx context.Context) error {
	s.site = auth.Site{PublicURL: s.cfg.PublicURL}
	tokens := make([]auth.Token, 0, len(s.cfg.Auth.Tokens))
	for _, t := range s.cfg.Auth.Tokens {
		tokens = append(tokens, auth.Token(t))
	}
	var err error
	s.auth, err = auth.Open(ctx, auth.Options{Path: s.file("auth.db"), Tokens: tokens, LocalAdmin: true, Site: s.site, Logger: s.logger})
	if err != nil {
		return err
	}
	people, err := s.auth.People(ctx)
	for _, p := range people {
		s.names.set(p.ID, p.Name)
	}
	return err
}

// openModels makes the models, before anything of the data directory is
// touched.
func (s *server) openModels() (err error) {
	if s.models == nil {
		s.models, err = s.configuredModels()
	}
	return err
}

func (s *server) openLoop(all []agent.Tool) error {
	var err error
	s.loop, err = agent.NewLoop(agent.Options{
		Gate: s.countersign.Gate, Log: s.countersign.Log, Models: s.models, Tools: all, System: s.cfg.Chat.System, Boot: s.countersign.Boot,
		MaxRounds: s.cfg.Chat.MaxRounds, MaxToolCalls: s.cfg.Chat.MaxToolCalls, MaxResultBytes: s.cfg.Chat.MaxResultBytes, Metrics: s.registry,
		Logger: s.logger,
	})
	return err
}

// noModel answers where the configuration names none, so that everything else
// can be looked at.
const noModel = `
closing: No model is configured. Add one under models in the configuration of agentd.
conversations:
  - turns: [text: No model is configured. Add one under models in the configuration of agentd.]
`

func (s *server) configuredModels() ([]agent.Model, error) {
	if len(s.cfg.Models) == 0 {
		s.logger.Warn("no model is configured: conversations are answered with a note; add one under models")
		script, err := models.ParseScript("built in", []byte(noModel))
		return []agent.Model{models.NewScripted("none", script)}, err
	}
	all := make([]agent.Model, 0, len(s.cfg.Models))
	for i, m := range s.cfg.Models {
		one, err := s.model(m)
		if err != nil {
			return nil, s.cfg.Blame(fmt.Sprintf("models[%d]", i), err)
		}
		all = append(all, one)
	}
	return all, nil
}

func (s *server) model(m config.Model) (agent.Model, error) {
	if m.Provider == config.ProviderScript {
		text, err := os.ReadFile(m.File)
		if err != nil {
			return nil, fmt.Errorf("expected the file of a script: %w; correct the path or write it", err)
		}
		script, err := models.ParseScript(m.File, text)
		if err != nil {
			return nil, err
		}
		return models.NewScripted(m.Name, script), nil
	}
	key := ""
	if m.APIKeyEnv != "" {
		if key = getenv(s.environ, m.APIKeyEnv); key == "" {
			s.logger.Warn("a model's API key is not in the environment; its provider will refuse", "model", m.Name, "variable", m.APIKeyEnv)
		}
	}
	return models.NewOpenAI(models.OpenAIOptions{
		Name: m.Name, BaseURL: m.BaseURL, Model: m.Model, APIKey: key, HTTPClient: &http.Client{}, Logger: s.logger,
	})
}

func getenv(environ []string, name string) string {
	for _, e := range environ {
		if v, ok := strings.CutPrefix(e, name+"="); ok {
			return v
		}
	}
	return ""
}

// bind takes the address and the control socket.
func (s *server) bind() error {
	var lc net.ListenConfig
	var err error
	if s.listener, err = lc.Listen(context.Background(), "tcp", s.cfg.Addr); err != nil {
		return fmt.Errorf("listen on %s: %w; choose another with --addr", s.cfg.Addr, err)
	}
	return s.bindControl()
}

// bindControl makes the socket over which agentd's own commands come in. Only
// its owner can open it. The folder is locked or was made for this process, so
// an old socket is nobody's.
func (s *server) bindControl() error {
	if err := ignoreMissing(os.Remove(s.controlPath())); err != nil {
		return err
	}
	var lc net.ListenConfig
	var err error
	if s.control, err = lc.Listen(context.Background(), "unix", s.controlPath()); err != nil {
		return fmt.Errorf("the control socket: %w", err)
	}
	return os.Chmod(s.controlPath(), 0o600)
}
