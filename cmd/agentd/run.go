package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/countersign-dev/countersign"
	"github.com/countersign-dev/countersign/internal/config"
)

// The exit codes.
const (
	exitOK     = 0 // ended as asked
	exitFailed = 1 // failed at run time
	exitUsage  = 2 // wrong usage or configuration
)

const usage = `agentd runs agents behind Countersign's gate.

  agentd [serve]            loop, gate, log, API and console on --addr
  agentd demo               the same with a scripted model and a few sessions to decide
  agentd sign-in            print a new one-time sign-in link of the running agentd
  agentd token create --name N --roles R[,R]   print a new token once, and what to configure
  agentd rebuild            make views.db anew from the log, beside the running agentd or without one
  agentd policy reload      have the running agentd read the policy of its file again
  agentd policy status      print which policy holds, and what waits for an administrator
  agentd recover [--accept-rollback]   say what a log that was put back leaves open; or end that, and go on from it
  agentd generate --events N   fill a new journal with events, to measure with
  agentd doctor             print whether this machine can shut tools off, and what is missing
  agentd version            print the version

Flags of serve, demo and sign-in (agentd serve --help lists them all):
  --config FILE   YAML, see docs/configuration.md; without one the defaults run the product
  --addr, --data-dir, --print-config
`

// command is one subcommand.
type command struct {
	ctx            context.Context //nolint:containedctx // of one invocation
	args           []string
	environ        []string
	stdout, stderr io.Writer
}

// run is main with its world as arguments. It returns the exit code, and says
// every error in one line on stderr.
func run(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	c := command{ctx: ctx, args: args, environ: environ, stdout: stdout, stderr: stderr}
	err := c.dispatch(name)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	fmt.Fprintf(stderr, "agentd: %s\n", strings.ReplaceAll(err.Error(), "\n", "; "))
	var wrong *config.Error
	if errors.As(err, &wrong) || errors.Is(err, errUsage) {
		return exitUsage
	}
	return exitFailed
}

var errUsage = errors.New("wrong usage")

func (c command) dispatch(name string) error {
	switch name {
	case "serve":
		return c.serve()
	case "demo":
		return c.demo()
	case "sign-in":
		return c.signIn()
	case "token":
		return c.token()
	case "rebuild":
		return c.rebuild()
	case "policy":
		return c.policy()
	case "recover":
		return c.recover()
	case "generate":
		return c.generate()
	case "doctor":
		return c.doctor()
	case "version":
		_, err := fmt.Fprintln(c.stdout, "agentd", countersign.Version())
		return err
	case "help":
		_, err := io.WriteString(c.stdout, usage)
		return err
	default:
		return fmt.Errorf("%w: there is no command %q; agentd help lists them", errUsage, name)
	}
}

// notParsed says what is wrong with the flags, or lists them where that was
// asked for.
func (c command) notParsed(fs *flag.FlagSet, err error) error {
	if errors.Is(err, flag.ErrHelp) {
		fs.SetOutput(c.stdout)
		fs.PrintDefaults()
		return err
	}
	return fmt.Errorf("%w: %w; %s --help lists the flags", errUsage, err, fs.Name())
}

// load reads the configuration from flags, environment and file. done says
// that it was only to be printed.
func (c command) load(name string, more func(*flag.FlagSet)) (cfg config.Config, done bool, err error) {
	work, err := os.Getwd()
	if err != nil {
		return cfg, false, err
	}
	l := &config.Loader{Environ: c.environ, WorkDir: work}
	fs := flag.NewFlagSet("agentd "+name, flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	l.Flags(fs)
	if more != nil {
		more(fs)
	}
	if err := fs.Parse(c.args); err != nil {
		return cfg, false, c.notParsed(fs, err)
	}
	if fs.NArg() > 0 {
		return cfg, false, fmt.Errorf("%w: agentd %s takes no argument %q", errUsage, name, fs.Arg(0))
	}
	if name == "demo" {
		if err := demoTakes(fs, c.environ); err != nil {
			return cfg, false, err
		}
	}
	cfg, err = l.Load()
	if err != nil || !l.PrintOnly() {
		return cfg, false, err
	}
	if _, err := policyOf(cfg); err != nil { // serve would refuse it
		return cfg, false, err
	}
	return cfg, true, cfg.Print(c.stdout)
}
