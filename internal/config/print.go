package config

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// Document returns the effective configuration without secrets, as JSON: the
// content of its definition event. Equal configurations give equal bytes.
func (c Config) Document() []byte {
	// Names of folders need not be UTF-8; nothing else here can fail.
	b, _ := json.Marshal(c.form(), jsontext.AllowInvalidUTF8(true))
	return b
}

// Print writes the effective configuration as YAML, with secrets masked. It
// loads again as the same configuration, but for the masked tokens, which nobody
// holds then.
func (c Config) Print(w io.Writer) error {
	root, err := yamlNode(jsontext.NewDecoder(bytes.NewReader(c.Document())))
	if err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	root.HeadComment = "The effective configuration. Hashes of tokens are masked: nobody holds a masked token."
	e := yaml.NewEncoder(w)
	e.SetIndent(2)
	if err := e.Encode(root); err != nil {
		return fmt.Errorf("print configuration: %w", err)
	}
	return e.Close()
}

// yamlNode reads the next JSON value as a YAML tree, in its order.
func yamlNode(d *jsontext.Decoder) (*yaml.Node, error) {
	token, err := d.ReadToken()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Kind: yaml.MappingNode}
	switch token.Kind() {
	case jsontext.KindBeginArray:
		node.Kind = yaml.SequenceNode
		return node, yamlContent(d, node)
	case jsontext.KindBeginObject:
		return node, yamlContent(d, node)
	case jsontext.KindString:
		return textNode(token.String()), nil
	case jsontext.KindNumber, jsontext.KindTrue, jsontext.KindFalse, jsontext.KindNull: // written alike
		return &yaml.Node{Kind: yaml.ScalarNode, Value: token.String()}, nil
	case jsontext.KindEndObject, jsontext.KindEndArray, jsontext.KindInvalid:
	}
	return nil, fmt.Errorf("a value was expected, not %s", token)
}

// yamlContent reads the members of an object or list up to its end.
func yamlContent(d *jsontext.Decoder, node *yaml.Node) error {
	for kind := d.PeekKind(); kind != jsontext.KindEndObject && kind != jsontext.KindEndArray; kind = d.PeekKind() {
		child, err := yamlNode(d)
		if err != nil {
			return err
		}
		node.Content = append(node.Content, child)
	}
	if node.Kind == yaml.SequenceNode {
		node.Style = flowIfShort(node)
	}
	_, err := d.ReadToken()
	return err
}

// flowIfShort writes lists of texts on one line.
func flowIfShort(list *yaml.Node) yaml.Style {
	for _, child := range list.Content {
		if child.Kind != yaml.ScalarNode || len(child.Value) > 40 {
			return 0
		}
	}
	return yaml.FlowStyle
}

// textNode writes text so that it is read as text: in double quotes unless it is
// a plain word.
func textNode(s string) *yaml.Node {
	node := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	odd := func(r rune) bool { return r < ' ' || r > '~' }
	if s == "" || strings.ContainsFunc(s, odd) {
		node.Style = yaml.DoubleQuotedStyle
	}
	return node
}
