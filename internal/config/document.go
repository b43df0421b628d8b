package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

const (
	maxFileBytes = 1 << 20 // of a configuration file
	maxDepth     = 64      // of maps and lists in it
)

// readFile returns the bytes of a file within the bound.
func readFile(name string) ([]byte, error) {
	unreadable := func(err error) error {
		if path, ok := errors.AsType[*os.PathError](err); ok {
			err = path.Err // the name is said already
		}
		return problem(name, fmt.Errorf("cannot be read: %w; name a readable file with --config", err))
	}
	f, err := os.Open(name) //nolint:gosec // the operator names the file
	if err != nil {
		return nil, unreadable(err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxFileBytes+1))
	if err != nil {
		return nil, unreadable(err)
	}
	if len(b) > maxFileBytes {
		return nil, problem(name, fmt.Errorf("is larger than the %d bytes that a configuration may have; make it smaller", maxFileBytes))
	}
	return b, nil
}

// parseFile returns the root map of a file, or ok false where it says nothing.
// All of the tree is sound: no anchors, aliases, tags, duplicate keys.
func parseFile(name string, b []byte) (root value, ok bool, err error) {
	if !utf8.Valid(b) {
		return value{}, false, problem(fmt.Sprintf("%s:%d", name, badLine(b)), errors.New("expected UTF-8; save the file in that encoding"))
	}
	decoder := yaml.NewDecoder(bytes.NewReader(b))
	var doc, second yaml.Node
	switch err := decoder.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return value{}, false, nil
	case err != nil:
		return value{}, false, notYAML(name, err)
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return value{}, false, problem(fmt.Sprintf("%s:%d", name, second.Line), errors.New("expected one document, found a second; remove it and the line ---"))
	case !errors.Is(err, io.EOF):
		return value{}, false, notYAML(name, err)
	}
	node := doc.Content[0]
	root = value{file: name, line: node.Line, node: node}
	if err := sound(root, 0); err != nil {
		return value{}, false, err
	}
	if node.Kind == yaml.ScalarNode && node.ShortTag() == "!!null" {
		return value{}, false, nil
	}
	if node.Kind != yaml.MappingNode {
		return value{}, false, problem(fmt.Sprintf("%s:%d", name, node.Line), fmt.Errorf("expected keys such as addr: 127.0.0.1:8080, found %s", root.found()))
	}
	return root, true, nil
}

// badLine is the line of the first byte that is not UTF-8.
func badLine(b []byte) int {
	line := 1
	for len(b) > 0 {
		r, size := utf8.DecodeRune(b)
		if r == utf8.RuneError && size <= 1 {
			return line
		}
		if r == '\n' {
			line++
		}
		b = b[size:]
	}
	return line
}

// yamlLine is how the parser names a line.
var yamlLine = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

// notYAML puts the parser's own words into our form.
func notYAML(name string, err error) error {
	where, text := name, oneLine(err.Error())
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		text = text[len(m[0]):]
		if m[1] != "" {
			where += ":" + m[1]
		}
	}
	return &Error{Where: where, Problem: "expected YAML: " + text, cause: err}
}

// sound refuses what makes a YAML file mean something else than it seems to.
func sound(v value, depth int) error {
	n := v.node
	switch {
	case n.Kind == yaml.AliasNode, n.Anchor != "":
		return v.errorf("expected a plain value: anchors and aliases are not read; write the value out")
	case n.Style&yaml.TaggedStyle != 0:
		return v.errorf("expected a plain value: the tag %s is not read; remove it", clip(n.Tag))
	case depth > maxDepth:
		return v.errorf("expected at most %d levels of maps and lists", maxDepth)
	case n.Kind == yaml.SequenceNode:
		elements, err := v.list()
		for i := 0; err == nil && i < len(elements); i++ {
			err = sound(elements[i], depth+1)
		}
		return err
	case n.Kind == yaml.MappingNode:
		return soundMap(v, depth)
	}
	return nil
}

// soundMap refuses keys that are not text or come twice.
func soundMap(v value, depth int) error {
	seen := map[string]int{}
	for i := 0; i+1 < len(v.node.Content); i += 2 {
		name := v.node.Content[i]
		at := value{v.file, name.Line, join(v.key, name.Value), name}
		if name.Kind != yaml.ScalarNode || name.Anchor != "" || name.Style&yaml.TaggedStyle != 0 || name.ShortTag() != "!!str" {
			return at.errorf("expected a key of text; put it into quotes if it is meant")
		}
		if first, again := seen[name.Value]; again {
			return at.errorf("expected each key once, it is also on line %d; remove one", first)
		}
		seen[name.Value] = name.Line
		at.node = v.node.Content[i+1]
		if err := sound(at, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// note records the place of v and of everything in it.
func (o origins) note(v value) {
	if v.key != "" {
		o[v.key] = v.place()
	}
	if elements, err := v.list(); err == nil {
		for _, element := range elements {
			o.note(element)
		}
	}
	if entries, err := v.entries(); err == nil {
		for _, entry := range entries {
			o.note(entry)
		}
	}
}
