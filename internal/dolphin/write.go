package dolphin

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// mapping is a map of a definition in the order in which it is written. Values are texts,
// whole numbers, truth values, mappings and lists.
type mapping []entry

type entry struct {
	key   string
	value any
}

// list is a list that is written with one element on a line.
type list []any

// set adds a key; a value that says nothing adds none.
func (m *mapping) set(key string, value any) {
	switch v := value.(type) {
	case string:
		if v == "" {
			return
		}
	case bool:
		if !v {
			return
		}
	case mapping:
		if len(v) == 0 {
			return
		}
	case []string:
		if len(v) == 0 {
			return
		}
	case list:
		if len(v) == 0 {
			return
		}
	}
	*m = append(*m, entry{key, value})
}

// get returns a key's value, nil where there is none.
func (m mapping) get(key string) any {
	for _, e := range m {
		if e.key == key {
			return e.value
		}
	}
	return nil
}

// marshal writes a mapping as YAML.
func marshal(m mapping) ([]byte, error) {
	var b bytes.Buffer
	e := yaml.NewEncoder(&b)
	e.SetIndent(2)
	if err := e.Encode(node(m, 0)); err != nil {
		return nil, fmt.Errorf("write the definition: %w", err)
	}
	return b.Bytes(), e.Close()
}

// flowWidth is how long a map of plain values may be to stand on one line.
const flowWidth = 80

func node(value any, depth int) *yaml.Node {
	switch v := value.(type) {
	case string:
		return textNode(v)
	case int64:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.FormatInt(v, 10)}
	case bool:
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(v)}
	case number:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: string(v)}
	case []string:
		n := &yaml.Node{Kind: yaml.SequenceNode, Style: yaml.FlowStyle}
		for _, text := range v {
			n.Content = append(n.Content, textNode(text))
		}
		return n
	case list:
		n := &yaml.Node{Kind: yaml.SequenceNode}
		for _, element := range v {
			n.Content = append(n.Content, node(element, depth+1))
		}
		return n
	case mapping:
		n := &yaml.Node{Kind: yaml.MappingNode}
		for _, e := range v {
			n.Content = append(n.Content, textNode(e.key), node(e.value, depth+1))
		}
		if depth > 1 && fitsOneLine(n) {
			n.Style = yaml.FlowStyle
		}
		return n
	}
	panic(fmt.Sprintf("dolphin: a definition holds a %T", value))
}

// number is a number as it was written.
type number string

// fitsOneLine tells whether a map has only short plain values. A task never does: its name
// and type are easier to find below each other.
func fitsOneLine(n *yaml.Node) bool {
	width := 0
	for i, c := range n.Content {
		if i == 0 && c.Value == keyName {
			return false
		}
		if c.Kind != yaml.ScalarNode && c.Style != yaml.FlowStyle || c.Style == yaml.LiteralStyle {
			return false
		}
		width += len(c.Value) + 2
		for _, part := range c.Content {
			width += len(part.Value) + 2
		}
	}
	return width <= flowWidth
}

// textNode writes a text so that it is read as the same text again: several lines as a
// block, unless a block would change them.
func textNode(text string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text}
	plain := !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && r != '\n' && r != '\t' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r == '\ufeff'
	})
	switch {
	case !plain:
		n.Style = yaml.DoubleQuotedStyle
	case strings.Contains(text, "\n"):
		n.Style = yaml.LiteralStyle
		if strings.TrimLeft(text, " \n\t") == "" || strings.HasPrefix(text, "\n") || strings.HasPrefix(text, " ") || strings.HasPrefix(text, "\t") {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	return n
}
