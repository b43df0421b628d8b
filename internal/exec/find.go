package exec

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Find returns the absolute path of a program: the name itself where it is
// absolute, or the first match in the PATH of env. A relative path is refused,
// here and in PATH: what it means would depend on where agentd stands.
func Find(name string, env []string) (string, error) {
	if filepath.IsAbs(name) {
		return name, executable(name)
	}
	if name == "" || strings.ContainsRune(name, filepath.Separator) {
		return "", fmt.Errorf("%w: program %q: give an absolute path, or a bare name to look up in PATH", ErrBadCommand, name)
	}
	for _, dir := range filepath.SplitList(lookUp(env, "PATH")) {
		path := filepath.Join(dir, name)
		if filepath.IsAbs(dir) && executable(path) == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("%w: program %q is not in PATH", ErrBadCommand, name)
}

func executable(path string) error {
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrBadCommand, err)
	}
	if !info.Mode().IsRegular() || info.Mode().Perm()&0o111 == 0 {
		return fmt.Errorf("%w: %s is not an executable file", ErrBadCommand, path)
	}
	return nil
}

func lookUp(env []string, name string) (value string) {
	for _, variable := range env {
		if v, found := strings.CutPrefix(variable, name+"="); found {
			value = v // the last one counts, as in the command itself
		}
	}
	return value
}
