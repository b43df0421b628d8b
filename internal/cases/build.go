package cases

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// judgeBuild builds the module in each of the ways of commands.txt. A way
// works, or fails at once with a message that names the tag or switch. The
// tests are compiled, not run.
func judgeBuild(ctx context.Context, o Options, f *folder) error {
	if o.Module == "" || !isFile(filepath.Join(o.Module, "go.mod")) {
		f.report.leave("commands.txt", "the module's source is not here")
		f.expect = nil
		return nil
	}
	var want int
	f.expect.take("commands_ok_or_clear_error", &want)
	commands := f.lines("commands.txt")
	same(f.report, "the number of commands", len(commands), want)
	for _, line := range commands {
		env, args := splitCommand(string(line))
		args = ours(args)
		if args == nil {
			f.report.leave(string(line), "it needs a released version")
			continue
		}
		cmd := exec.CommandContext(ctx, args[0], args[1:]...) //nolint:gosec // go, with the case's arguments
		cmd.Dir, cmd.Env = o.Module, append(os.Environ(), env...)
		out, err := cmd.CombinedOutput()
		said := strings.Contains(string(out), "sqlite_fts5") || strings.Contains(string(out), "CGO_ENABLED")
		f.report.check("commands_ok_or_clear_error", err == nil || said, "%s: %v: %s", line, err, shortly(string(out)))
	}
	return nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// splitCommand parts a command line of words into variables and arguments.
func splitCommand(line string) (env, args []string) {
	words := strings.Fields(line)
	for len(words) > 0 && strings.Contains(words[0], "=") {
		env, words = append(env, words[0]), words[1:]
	}
	return env, words
}

// ours makes a command one that can be run here: what only compiles is enough,
// the server is agentd, and what is not released cannot be installed.
func ours(args []string) []string {
	if len(args) < 3 || args[0] != "go" || slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "@") }) {
		return nil
	}
	args = slices.Clone(args)
	switch args[1] {
	case "run":
		args[1] = "build"
		args[2] = strings.Replace(args[2], "cmd/server", "cmd/agentd", 1)
	case "test":
		// Of the package that needs the tag: compiling the others' tests says
		// nothing more.
		return []string{"go", "test", "-run", "^$", "./internal/sqlite"}
	}
	if args[1] == "build" {
		args = slices.Insert(args, 2, "-o", os.DevNull)
	}
	return args
}
