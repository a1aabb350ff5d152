package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// yamlNumber is what a plain scalar looks like that its author meant as a number. It
// is wider than what a number field takes, so that 007 and .nan are told apart from
// text and refused by name.
var yamlNumber = regexp.MustCompile(`^[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?$|^[-+]?\.(inf|Inf|INF)$|^\.(nan|NaN|NAN)$`)

// yamlLine finds the line in a message of the YAML library.
var yamlLine = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?`)

// yamlBreaks are the characters that end a line in YAML 1.1, as the library takes them.
const yamlBreaks = "\r\n\u0085\u2028\u2029"

func readYAML(text []byte) (*Node, []FieldError) {
	// The library builds its whole tree before it can be counted. Every value but the
	// first follows one of these characters, so their number bounds it beforehand.
	if marks := countMarks(text); marks > MaxNodes {
		return nil, []FieldError{{
			Field: Body, Code: CodeTooLarge,
			Message: fmt.Sprintf("the text has more than %d lines and separators, too many values to be a definition", MaxNodes),
		}}
	}
	if at := directive(text); at >= 0 {
		return nil, []FieldError{textError(text, at, CodeYAMLFeature, "directives (%YAML, %TAG) are not allowed: leave the line out")}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	doc, err := decodeYAML(decoder)
	if err != nil {
		if errors.Is(err, io.EOF) {
			return nil, []FieldError{{Field: Body, Code: CodeSyntax, Message: "the text is empty (only comments)", Line: 1, Column: 1}}
		}
		return nil, []FieldError{yamlSyntax(err)}
	}
	if second, err := decodeYAML(decoder); err == nil {
		return nil, []FieldError{{
			Field: Body, Code: CodeYAMLFeature, Message: "more than one document in one text (---): save each on its own",
			Line: second.Line, Column: second.Column,
		}}
	} else if !errors.Is(err, io.EOF) {
		return nil, []FieldError{yamlSyntax(err)}
	}
	r := &yamlReader{}
	var root Node
	if len(doc.Content) != 1 {
		return nil, []FieldError{{Field: Body, Code: CodeSyntax, Message: "the text is empty", Line: 1, Column: 1}}
	}
	r.node(doc.Content[0], &root, nil, 1)
	if len(r.errs) > 0 {
		return nil, Sort(r.errs)
	}
	return &root, nil
}

// decodeYAML turns the library's own panics into errors: it raises some for texts
// that its scanner accepts and its parser does not expect.
func decodeYAML(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("yaml: the text is not readable as YAML: %v", p)
		}
	}()
	doc = new(yaml.Node)
	if err := d.Decode(doc); err != nil {
		return nil, err
	}
	return doc, nil
}

func countMarks(text []byte) int {
	n := 0
	for _, c := range text {
		switch c {
		case '\n', ',', '[', '{', ':', '-', '?':
			n++
		}
	}
	// Colons and dashes are separators only before a space or a line's end, of which
	// some are not ASCII; other ones are parts of scripts, times and paths.
	for i := 1; i < len(text); i++ {
		if (text[i-1] == ':' || text[i-1] == '-' || text[i-1] == '?') && text[i] > ' ' && text[i] < utf8.RuneSelf {
			n--
		}
	}
	return n
}

// directive returns the offset of the first directive, or -1. Directives stand before
// a document only. The library compares each with all before it, so that many of them
// would keep it busy for hours.
func directive(text []byte) int {
	between := true // documents
	for at := 0; at < len(text); {
		line := text[at:]
		if end := bytes.IndexAny(line, yamlBreaks); end >= 0 {
			_, size := utf8.DecodeRune(line[end:])
			line = line[:end+size]
		}
		switch trimmed := bytes.TrimSpace(line); {
		case bytes.HasPrefix(line, []byte("...")):
			between = true
		case !between || len(trimmed) == 0 || trimmed[0] == '#':
		case line[0] == '%':
			return at
		default:
			between = false
		}
		at += len(line)
	}
	return -1
}

func yamlSyntax(err error) FieldError {
	text := err.Error()
	line := 1
	if m := yamlLine.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			line = n
		}
		text = text[len(m[0]):]
	}
	code := CodeSyntax
	switch {
	case strings.HasPrefix(text, "unknown anchor"):
		code = CodeYAMLFeature
		text += "; aliases are not allowed anyway, write the value out"
	case strings.HasPrefix(text, "mapping values are not allowed"):
		text += `; a text with a colon and a space in it must stand in quotes, or below "key: |"`
	case strings.Contains(text, "cannot start any token"):
		text += "; indent with spaces, and put a text that begins with this character in quotes"
	}
	return FieldError{Field: Body, Code: code, Message: "not readable as YAML: " + text, Line: line, Column: 1}
}

// yamlReader turns the library's tree into ours and refuses what YAML has beyond JSON.
type yamlReader struct {
	nodes int
	errs  []FieldError
}

func (r *yamlReader) fail(y *yaml.Node, path *Path, code, message string) {
	if len(r.errs) >= MaxErrors {
		return
	}
	r.errs = append(r.errs, FieldError{
		Field: path.String(), Code: code, Message: message, Value: Shown(y.Value), Line: y.Line, Column: y.Column,
	})
}

func (r *yamlReader) node(y *yaml.Node, n *Node, path *Path, depth int) {
	if r.nodes++; r.nodes > MaxNodes {
		if r.nodes == MaxNodes+1 {
			r.fail(y, nil, CodeTooLarge, fmt.Sprintf("more than %d values", MaxNodes))
		}
		return
	}
	n.Line, n.Column = int32(y.Line), int32(y.Column)
	switch {
	case y.Kind == yaml.AliasNode:
		r.fail(y, path, CodeYAMLFeature, "aliases (*name) are not allowed: write the value out")
		return
	case y.Anchor != "":
		r.fail(y, path, CodeYAMLFeature, "anchors (&name) are not allowed: write the value out where it is used")
		return
	case y.Style&yaml.TaggedStyle != 0:
		r.fail(y, path, CodeYAMLFeature, "tags ("+Shown(y.Tag)+") are not allowed: put a text in quotes, leave other values as they are")
		return
	case y.Kind != yaml.ScalarNode && depth > MaxDepth:
		r.fail(y, path, CodeTooDeep, fmt.Sprintf("nested deeper than %d", MaxDepth))
		return
	}
	switch y.Kind {
	case yaml.MappingNode:
		n.Kind = Map
		r.mapping(y, n, path, depth)
	case yaml.SequenceNode:
		n.Kind = List
		n.Items = make([]Node, len(y.Content))
		for i, item := range y.Content {
			r.node(item, &n.Items[i], path.Index(i), depth+1)
		}
	default:
		r.scalar(y, n, path)
	}
}

func (r *yamlReader) mapping(y *yaml.Node, n *Node, path *Path, depth int) {
	count := len(y.Content) / 2
	n.Keys, n.Items = make([]Key, 0, count), make([]Node, 0, count)
	seen := make(map[string]bool, count)
	for i := 0; i+1 < len(y.Content); i += 2 {
		key, value := y.Content[i], y.Content[i+1]
		switch {
		case key.Kind == yaml.AliasNode || key.Anchor != "" || key.Style&yaml.TaggedStyle != 0:
			r.fail(key, path, CodeYAMLFeature, "anchors, aliases and tags are not allowed on a key")
			continue
		case key.Kind != yaml.ScalarNode:
			r.fail(key, path, CodeYAMLFeature, "a key must be a plain text, not "+kindOf(key).String())
			continue
		case key.Value == "<<" && plain(key):
			r.fail(key, path, CodeYAMLFeature, "merge keys (<<) are not allowed: write the values out")
			continue
		case strings.IndexByte(key.Value, 0) >= 0:
			r.fail(key, path, CodeEncoding, "a NUL character is not allowed")
			continue
		}
		at := path.Key(key.Value)
		if seen[key.Value] {
			r.fail(key, at, CodeDuplicateKey, "the key "+Quoted(key.Value)+" stands here twice")
			continue
		}
		seen[key.Value] = true
		n.Keys = append(n.Keys, Key{Name: key.Value, Line: int32(key.Line), Column: int32(key.Column)})
		n.Items = append(n.Items, Node{})
		r.node(value, &n.Items[len(n.Items)-1], at, depth+1)
	}
}

func (r *yamlReader) scalar(y *yaml.Node, n *Node, path *Path) {
	n.Kind, n.Text = String, y.Value
	if strings.IndexByte(y.Value, 0) >= 0 {
		r.fail(y, path, CodeEncoding, "a NUL character is not allowed")
		return
	}
	if !plain(y) {
		return
	}
	switch y.Value {
	case "", "~", "null", "Null", "NULL":
		n.Kind = Null
	case "true", "True", "TRUE":
		n.Kind, n.Text = Bool, "true"
	case "false", "False", "FALSE":
		n.Kind, n.Text = Bool, "false"
	default:
		if strings.IndexByte("+-.0123456789", y.Value[0]) >= 0 && yamlNumber.MatchString(y.Value) {
			n.Kind = Number
		}
	}
}

func plain(y *yaml.Node) bool {
	return y.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
}

func kindOf(y *yaml.Node) Kind {
	switch y.Kind {
	case yaml.MappingNode:
		return Map
	case yaml.SequenceNode:
		return List
	default:
		return String
	}
}
