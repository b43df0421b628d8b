package config

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func (d decoder) tools(v value) error {
	t := &d.c.Tools
	return v.read(fields{
		"workspace": into(&t.Workspace, d.path),
		"isolation": into(&t.Isolation, func(s string) (string, error) {
			return parseOneOf(s, IsolationAuto, IsolationNone)
		}),
		"network": into(&t.Network, func(s string) (string, error) {
			return parseOneOf(s, NetworkNone, NetworkHost)
		}),
		"network-ports": func(v value) error { return readPorts(v, &t.NetworkPorts) },
		"builtin": intoList(&t.Builtin, func(s string) (string, error) {
			return parseOneOf(s, builtinTools()...)
		}),
		"custom": d.custom,
		"mcp":    refuse,
	})
}

// maxPorts bounds what every start says of the network.
const maxPorts = 32

// readPorts reads a list of TCP ports. An empty one would say host and mean none.
func readPorts(v value, ports *[]uint16) error {
	elements, err := v.list()
	if err != nil {
		return err
	}
	if len(elements) == 0 || len(elements) > maxPorts {
		return v.errorf("expected 1 to %d TCP ports, found %d; remove the key for 53, 80 and 443", maxPorts, len(elements))
	}
	for _, element := range elements {
		digits, err := element.number()
		if err != nil {
			return err
		}
		port, err := parseWhole(digits, 1, math.MaxUint16)
		if err != nil {
			return element.wrap(err)
		}
		if slices.Contains(*ports, uint16(port)) { //nolint:gosec // within the bounds above
			return element.errorf("expected each port once, found %d again", port)
		}
		*ports = append(*ports, uint16(port)) //nolint:gosec // within the bounds above
	}
	return nil
}

func (d decoder) custom(v value) error {
	elements, err := v.list()
	if err != nil {
		return err
	}
	for _, element := range elements {
		t, err := d.customTool(element)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(d.c.Tools.Custom, func(o CustomTool) bool { return strings.EqualFold(o.Name, t.Name) }) {
			return element.errorf("expected each name once, whatever its case, found %s again; name this tool otherwise", clip(t.Name))
		}
		d.c.Tools.Custom = append(d.c.Tools.Custom, t)
	}
	return nil
}

func (d decoder) customTool(v value) (CustomTool, error) {
	t := CustomTool{Timeout: time.Minute}
	err := v.read(fields{
		"name":          into(&t.Name, parseToolName),
		"description":   into(&t.Description, parseText),
		"schema":        func(v value) (err error) { t.Schema, err = readSchema(v); return err },
		"command":       func(v value) error { return d.command(v, &t.Command) },
		"timeout":       intoDuration(&t.Timeout, time.Millisecond, 24*time.Hour),
		"return-direct": func(v value) (err error) { t.ReturnDirect, err = v.truth(); return err },
	})
	if err != nil {
		return CustomTool{}, err
	}
	return t, v.need("name", "description", "schema", "command")
}

// parseToolName accepts what every provider accepts and nobody mistakes for
// another kind of tool: server__tool is how tools of MCP servers are named.
func parseToolName(s string) (string, error) {
	if s == "" || len(s) > 64 || !isWord(s) || strings.Contains(s, "__") {
		return "", fmt.Errorf("expected 1 to 64 letters, digits, _ and -, without __, found %s", clip(s))
	}
	for _, taken := range append(builtinTools(), "Task") {
		if strings.EqualFold(s, taken) {
			return "", fmt.Errorf("expected a name unlike the built-in %s, found %s; name the tool otherwise", taken, clip(s))
		}
	}
	return s, nil
}

// parseText accepts anything but nothing.
func parseText(s string) (string, error) {
	if strings.TrimSpace(s) == "" {
		return "", errors.New("expected text, found nothing")
	}
	return s, nil
}

// command reads a program with its arguments. A program named by a path is
// relative to the file; a bare name is looked up in PATH when it runs.
func (d decoder) command(v value, target *[]string) error {
	elements, err := v.list()
	if err != nil {
		return err
	}
	if len(elements) == 0 {
		return v.errorf("expected a program and its arguments, found nothing")
	}
	command := make([]string, len(elements))
	for i, element := range elements {
		if err := parsed(element, &command[i], parseArgument); err != nil {
			return err
		}
	}
	if _, err := parseText(command[0]); err != nil {
		return elements[0].errorf("expected a program, found nothing")
	}
	if strings.ContainsRune(command[0], '/') && !filepath.IsAbs(command[0]) {
		command[0] = filepath.Join(d.base, command[0])
	}
	*target = command
	return nil
}

func parseArgument(s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", fmt.Errorf("expected an argument without NUL, found %s", clip(s))
	}
	return s, nil
}
