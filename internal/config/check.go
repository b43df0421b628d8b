package config

import (
	"errors"
	"fmt"
	"net"
	"path/filepath"
)

// check refuses values that are fine each and wrong together.
func (c Config) check() error {
	if !loopback(c.Addr) {
		return c.Blame("addr", fmt.Errorf("expected a loopback address such as 127.0.0.1:8080, found %s: "+
			"without auth.users, which is not in this version, agentd listens on loopback only; put a proxy on this machine in front", clip(c.Addr)))
	}
	if err := c.checkHeadFile(); err != nil {
		return err
	}
	if err := c.checkNetwork(); err != nil {
		return err
	}
	return c.checkWorkspace()
}

// checkHeadFile keeps the note of the log's head away from the log: what is put
// back from a copy, or removed, with the log's folder tells nothing. Nor may
// tools reach it.
func (c Config) checkHeadFile() error {
	if c.HeadFile == "" {
		return nil
	}
	file := resolve(c.HeadFile)
	switch {
	case c.Bus == BusMemory:
		return c.Blame("head-file", errors.New("expected bus: embedded with it, found memory: such a log ends with the process; remove head-file"))
	case within(file, resolve(c.DataDir)):
		return c.Blame("head-file", fmt.Errorf("expected a file outside of the data directory, found %s in %s: "+
			"a copy of the directory that is put back would bring it along; choose another folder, best on another disk", clip(c.HeadFile), clip(c.DataDir)))
	case within(file, resolve(c.Tools.Workspace)):
		return c.Blame("head-file", fmt.Errorf("expected a file outside of the workspace, found %s in %s: "+
			"tools must not reach it; choose another folder", clip(c.HeadFile), clip(c.Tools.Workspace)))
	}
	return nil
}

// checkNetwork refuses words about a network that would not hold, and a port of
// agentd's own that nobody can keep tools away from.
func (c Config) checkNetwork() error {
	_, given := c.origins["tools.network"]
	_, port, _ := net.SplitHostPort(c.Addr) // parsed before
	switch out := c.Tools.Network == NetworkHost; {
	case given && c.Tools.Isolation == IsolationNone:
		return c.Blame("tools.network", errors.New("expected isolation: auto with it, found none: "+
			"such tools have the network that agentd has; remove network"))
	case !out && c.Tools.NetworkPorts != nil:
		return c.Blame("tools.network-ports", errors.New("expected network: host with it; without, commands have no network: add it, or remove network-ports"))
	case out && port == "0":
		return c.Blame("addr", errors.New("expected a port, found 0: with tools.network: host, "+
			"agentd's own port must be known, so that tools are kept from it; choose one"))
	}
	return nil
}

// checkWorkspace keeps tools away from what governs them. Links are followed, so
// that another name for the same folder does not help.
func (c Config) checkWorkspace() error {
	workspace, data := resolve(c.Tools.Workspace), resolve(c.DataDir)
	key := "tools.workspace"
	if _, given := c.origins["data-dir"]; given && c.origins[key] == "" {
		key = "data-dir"
	}
	if within(workspace, data) || within(data, workspace) {
		return c.Blame(key, fmt.Errorf("expected the workspace and the data directory apart, found %s and %s; "+
			"tools must not reach journal and tokens: choose another folder", clip(c.Tools.Workspace), clip(c.DataDir)))
	}
	if c.File != "" && within(resolve(c.File), workspace) {
		return c.Blame("tools.workspace", fmt.Errorf("expected a folder without the configuration file, found %s around %s; "+
			"tools must not reach the policy: choose another folder", clip(c.Tools.Workspace), clip(c.File)))
	}
	return nil
}

// within reports whether path is dir or below it.
func within(path, dir string) bool {
	rel, err := filepath.Rel(dir, path)
	return err == nil && filepath.IsLocal(rel)
}

// resolve follows links as far as the path exists.
func resolve(path string) string {
	if target, err := filepath.EvalSymlinks(path); err == nil {
		return target
	}
	parent := filepath.Dir(path)
	if parent == path {
		return path
	}
	return filepath.Join(resolve(parent), filepath.Base(path))
}
