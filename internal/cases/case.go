package cases

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// folder is a case that was read.
type folder struct {
	number string
	dir    string
	area   string // of case.md: "stream-openai"; "" where it does not say
	kind   string
	expect *wants
	report *report
}

var (
	numberOf = regexp.MustCompile(`^[0-9]+`)
	areaOf   = regexp.MustCompile(`(?m)^- Area: *(.*?) *$`)
)

// openFolder reads a case. What is wrong with it is in its report.
func openFolder(dir string) *folder {
	f := &folder{number: numberOf.FindString(filepath.Base(dir)), dir: dir, report: &report{}}
	if text, err := os.ReadFile(f.path("case.md")); err == nil {
		if m := areaOf.FindSubmatch(text); m != nil {
			f.area = string(m[1])
		}
	}
	raw, err := os.ReadFile(f.path("expect.json"))
	if err != nil {
		f.report.leave("no expect.json", "")
		return f
	}
	f.expect = parseWants(f.report, "", raw)
	f.expect.take("kind", &f.kind)
	if f.kind == "" {
		f.report.leave("expect.json has no kind", "")
	}
	f.expect.raw("note")
	return f
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, name) }

func (f *folder) has(name string) bool {
	_, err := os.Stat(f.path(name))
	return err == nil
}

// read returns a file of the case. A missing one is a failure.
func (f *folder) read(name string) []byte {
	b, err := os.ReadFile(f.path(name))
	if err != nil {
		f.report.fail("the case's file %s cannot be read: %v", name, err)
	}
	return b
}

// readWants reads an object of the case.
func (f *folder) readWants(name string) *wants {
	return parseWants(f.report, name+": ", f.read(name))
}

// lines returns the lines of a file that are not empty. An input may hold
// empty lines on purpose: then all is set.
func (f *folder) lines(name string) []jsontext.Value {
	var lines []jsontext.Value
	for line := range bytes.Lines(f.read(name)) {
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			lines = append(lines, line)
		}
	}
	return lines
}

// glob returns the names of the case's files that match, sorted.
func (f *folder) glob(pattern string) []string {
	paths, err := filepath.Glob(f.path(pattern))
	if err != nil {
		f.report.fail("pattern %s: %v", pattern, err)
	}
	for i, p := range paths {
		paths[i] = filepath.Base(p)
	}
	slices.Sort(paths)
	return paths
}

// listFolders returns the case folders of a folder: those whose name begins
// with a number.
func listFolders(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list the cases: %w", err)
	}
	var dirs []string
	for _, e := range entries {
		if numberOf.MatchString(e.Name()) && isDir(filepath.Join(dir, e.Name())) {
			dirs = append(dirs, filepath.Join(dir, e.Name()))
		}
	}
	if len(dirs) == 0 {
		return nil, fmt.Errorf("%s holds no case: folders whose names begin with a number", dir)
	}
	return dirs, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// later are the areas whose part this version does not have.
func later(area string) bool {
	return slices.Contains([]string{"mcp", "hook", "subagent", "stream-anthropic", "stream-responses"}, strings.ToLower(area))
}
