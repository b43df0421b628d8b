package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"strings"

	"github.com/countersign-dev/countersign/internal/isolate"
)

// errNotIsolated is doctor's verdict on a machine that cannot isolate; the
// parts have been said.
var errNotIsolated = errors.New("this machine cannot isolate tools; what is missing, and what to do, is listed above")

// doctor prints what this machine can do to shut tools off, part by part.
func (c command) doctor() error {
	fs := flag.NewFlagSet("agentd doctor", flag.ContinueOnError)
	fs.SetOutput(io.Discard)
	asJSON := fs.Bool("json", false, "print JSON")
	if err := fs.Parse(c.args); err != nil {
		return c.notParsed(fs, err)
	}
	if fs.NArg() > 0 {
		return fmt.Errorf("%w: agentd doctor takes no argument %q", errUsage, fs.Arg(0))
	}
	return c.diagnose(isolate.Probe(c.ctx), *asJSON)
}

// diagnose prints a machine. The error makes the exit status 1.
func (c command) diagnose(m isolate.Machine, asJSON bool) error {
	missing := len(m.Missing()) > 0
	if asJSON {
		out := json.NewEncoder(c.stdout)
		out.SetIndent("", "  ")
		if err := out.Encode(diagnosis{Isolation: !missing, Parts: m.Parts}); err != nil {
			return err
		}
	} else if err := c.printParts(m.Parts); err != nil {
		return err
	}
	if missing {
		return errNotIsolated
	}
	if asJSON {
		return nil
	}
	_, err := fmt.Fprintln(c.stdout, "Tools can be isolated on this machine.")
	return err
}

// diagnosis is what doctor --json prints.
type diagnosis struct {
	// Isolation says whether tools can be isolated.
	Isolation bool           `json:"isolation"`
	Parts     []isolate.Part `json:"parts"`
}

func (c command) printParts(parts []isolate.Part) error {
	var text strings.Builder
	for _, p := range parts {
		state := "ok"
		switch {
		case !p.OK && p.Needed:
			state = "missing"
		case !p.OK:
			state = "limited"
		}
		fmt.Fprintf(&text, "%-8s %-16s %s\n", state, p.Name, p.Detail)
		if p.Remedy != "" {
			fmt.Fprintf(&text, "%-8s %-16s do: %s\n", "", "", p.Remedy)
		}
	}
	_, err := io.WriteString(c.stdout, text.String())
	return err
}
