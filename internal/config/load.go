package config

import (
	"errors"
	"flag"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// Loader gathers where a configuration comes from. The zero value loads the
// defaults relative to the process's working directory.
type Loader struct {
	// Environ is the environment as os.Environ returns it.
	Environ []string
	// WorkDir is the folder that relative paths of flags and environment, and
	// without a file all, are relative to; "" is the process's own.
	WorkDir string

	file      string
	fileGiven bool
	printOnly bool
	given     map[string]string // key -> text, from flags
}

// Flags defines --config, --print-config and a flag for each single value
// outside chat.hitl, auth and tools. Load judges their values.
func (l *Loader) Flags(fs *flag.FlagSet) {
	l.given = map[string]string{}
	fs.BoolVar(&l.printOnly, "print-config", false, "print the effective configuration, secrets masked, and end")
	fs.Func("config", "read the configuration `file` (YAML)", func(s string) error {
		l.file, l.fileGiven = s, true
		return nil
	})
	for _, s := range settings() {
		fs.Func(s.flag(), s.usage, func(text string) error {
			l.given[s.key] = text
			return nil
		})
	}
}

// PrintOnly reports whether --print-config was given.
func (l *Loader) PrintOnly() bool { return l.printOnly }

// Load returns the effective configuration. Every error is an *Error.
func (l *Loader) Load() (Config, error) {
	work, err := filepath.Abs(l.WorkDir)
	if err != nil {
		return Config{}, problem("working directory", err)
	}
	c, err := l.fromFile(work)
	if err != nil {
		return Config{}, err
	}
	if err := l.overEnviron(&c, work); err != nil {
		return Config{}, err
	}
	if err := l.overFlags(&c, work); err != nil {
		return Config{}, err
	}
	if err := c.check(); err != nil {
		return Config{}, err
	}
	return c, nil
}

// fromFile returns the defaults with the file over them.
func (l *Loader) fromFile(work string) (Config, error) {
	if !l.fileGiven {
		return defaults(work), nil
	}
	if l.file == "" {
		return Config{}, problem("flag -config", errors.New("expected a file, found nothing"))
	}
	path, err := parsePath(l.file, work)
	if err != nil {
		return Config{}, problem("flag -config", err)
	}
	b, err := readFile(path)
	if err != nil {
		return Config{}, err
	}
	return parse(l.file, path, b)
}

// parse returns the defaults with the bytes of a file over them. Name is how the
// user calls the file, path where it is.
func parse(name, path string, b []byte) (Config, error) {
	c := defaults(filepath.Dir(path))
	c.File = path
	root, ok, err := parseFile(name, b)
	if err != nil || !ok {
		return c, err
	}
	c.origins.note(root)
	return c, decoder{c: &c, base: filepath.Dir(path)}.root(root)
}

// overEnviron applies the COUNTERSIGN_ variables and refuses those that mean
// nothing. The first of two with one name counts, as in os.Getenv.
func (l *Loader) overEnviron(c *Config, work string) error {
	known := map[string]setting{}
	for _, s := range settings() {
		known[s.env()] = s
	}
	seen := map[string]bool{}
	for _, entry := range l.Environ {
		name, text, _ := strings.Cut(entry, "=")
		if !strings.HasPrefix(name, envPrefix) || seen[name] {
			continue
		}
		seen[name] = true
		s, ok := known[name]
		if !ok {
			return strangeVariable(name)
		}
		if err := s.apply(c, "environment "+name, text, work); err != nil {
			return err
		}
	}
	return nil
}

// strangeVariable says why a COUNTERSIGN_ variable is refused.
func strangeVariable(name string) error {
	below := func(key string) bool {
		return name == envName(key) || strings.HasPrefix(name, envName(key)+"_")
	}
	where := "environment " + name
	for _, key := range []string{"chat.hitl", "auth", "tools"} {
		if below(key) {
			return problem(where, errors.New("expected nothing: "+key+" cannot come from the environment; unset it and use the file that --config names"))
		}
	}
	if slices.ContainsFunc(notBuilt(), below) {
		return problem(where, ErrNotInVersion)
	}
	return problem(where, errors.New("expected the name of a setting, this is none that the environment can give; unset it or correct the name"))
}

// overFlags applies the flags that were given.
func (l *Loader) overFlags(c *Config, work string) error {
	for _, s := range settings() {
		if text, ok := l.given[s.key]; ok {
			if err := s.apply(c, "flag -"+s.flag(), text, work); err != nil {
				return err
			}
		}
	}
	return nil
}

// apply sets the value and remembers where it came from.
func (s setting) apply(c *Config, where, text, base string) error {
	if !utf8.ValidString(text) {
		return problem(where, fmt.Errorf("expected UTF-8 text, found %s", clip(text)))
	}
	if err := s.set(c, text, base); err != nil {
		return problem(where, err)
	}
	c.origins[s.key] = where
	return nil
}
