package document

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxText is the largest text that Read takes, in bytes.
const MaxText = 8 << 20

// MaxDepth is how deep lists and maps may be nested.
const MaxDepth = 64

// MaxNodes is how many values a text may hold: 10,000 tasks with 50 values each, and
// 100,000 needs. It bounds the memory that a hostile text can take.
const MaxNodes = 600_000

// The formats that Read takes.
const (
	YAML = "yaml"
	JSON = "json"
)

// Kind is what a Node holds.
type Kind uint8

// The kinds of node.
const (
	Null Kind = iota
	Bool
	Number
	String
	List
	Map
)

// String returns the kind in words for people: "a list", "a number".
func (k Kind) String() string {
	switch k {
	case Null:
		return "nothing"
	case Bool:
		return "a boolean"
	case Number:
		return "a number"
	case String:
		return "a text"
	case List:
		return "a list"
	case Map:
		return "a map"
	default:
		return "kind " + strconv.Itoa(int(k))
	}
}

// Node is one value of a document. Text holds a scalar: a string's value, a number
// as it was written, "true" or "false". Items are a list's elements or a map's
// values; Keys are a map's keys, one per item. Lines and columns count from 1,
// columns in characters.
type Node struct {
	Kind         Kind
	Line, Column int32
	Text         string
	Keys         []Key
	Items        []Node
}

// Key is a key of a map with its own place.
type Key struct {
	Name         string
	Line, Column int32
}

// Get returns the value of a map's key, nil where n is no map or has no such key.
func (n *Node) Get(name string) *Node {
	if n.Kind != Map {
		return nil
	}
	for i := range n.Keys {
		if n.Keys[i].Name == name {
			return &n.Items[i]
		}
	}
	return nil
}

// Locate returns the line and column of the value at a field path such as
// tasks[3].needs[0], as FieldError has it, or of the nearest value around it that
// exists. The path of another field than n's gives n's own place.
func (n *Node) Locate(field string) (line, column int) {
	for field != "" {
		name, index, rest, ok := cutPath(field)
		if !ok {
			break
		}
		var next *Node
		if index >= 0 {
			if n.Kind == List && index < len(n.Items) {
				next = &n.Items[index]
			}
		} else {
			next = n.Get(name)
		}
		if next == nil {
			break
		}
		n, field = next, rest
	}
	return int(n.Line), int(n.Column)
}

// cutPath takes the first step off a field path: a name, or an index of zero or more.
func cutPath(field string) (name string, index int, rest string, ok bool) {
	field = strings.TrimPrefix(field, ".")
	if quoted, found := strings.CutPrefix(field, "["); found {
		if text, err := strconv.QuotedPrefix(quoted); err == nil {
			name, err = strconv.Unquote(text)
			after, closed := strings.CutPrefix(quoted[len(text):], "]")
			return name, -1, after, closed && err == nil
		}
		digits, after, closed := strings.Cut(quoted, "]")
		index, err := strconv.Atoi(digits)
		return "", index, after, closed && err == nil && index >= 0
	}
	end := strings.IndexAny(field, ".[")
	if end < 0 {
		end = len(field)
	}
	return field[:end], -1, field[end:], end > 0
}

// Path names a place in a document while it is walked. It becomes text only where
// there is an error, because nearly all places have none. The nil Path is the root.
type Path struct {
	up    *Path
	name  string
	index int
}

// Key returns the path of a map's key below p.
func (p *Path) Key(name string) *Path { return &Path{up: p, name: name, index: -1} }

// Index returns the path of a list's element below p.
func (p *Path) Index(i int) *Path { return &Path{up: p, index: i} }

// String returns the path as errors show it: tasks[3].env.HOME, headers["X-Y z"].
// The root is Body.
func (p *Path) String() string {
	if p == nil {
		return Body
	}
	var b strings.Builder
	p.write(&b)
	return b.String()
}

func (p *Path) write(b *strings.Builder) {
	if p.up != nil {
		p.up.write(b)
	}
	switch {
	case p.index >= 0:
		fmt.Fprintf(b, "[%d]", p.index)
	case !plainName(p.name):
		fmt.Fprintf(b, "[%q]", p.name[:prefix(p.name, maxShown)])
	default:
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(p.name)
	}
}

// FieldKey returns the path of the key name below the field path, as Path writes it.
func FieldKey(field, name string) string {
	switch {
	case !plainName(name):
		return field + fmt.Sprintf("[%q]", name[:prefix(name, maxShown)])
	case field == "":
		return name
	default:
		return field + "." + name
	}
}

func plainName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if c != '_' && c != '-' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') {
			return false
		}
	}
	return s != "" && len(s) <= maxShown
}

// Read turns a text into its tree. The format is YAML or JSON. Where it returns
// errors, the tree is nil.
func Read(text []byte, format string) (*Node, []FieldError) {
	if err := checkText(text); err != nil {
		return nil, []FieldError{*err}
	}
	switch format {
	case JSON:
		return readJSON(text)
	case YAML:
		return readYAML(text)
	default:
		return nil, []FieldError{{
			Field: Body, Code: CodeFormat,
			Message: "the format " + Quoted(format) + " is not known: give yaml or json",
		}}
	}
}

// checkText refuses what no format may hold, before a parser sees it.
func checkText(text []byte) *FieldError {
	if len(text) > MaxText {
		return &FieldError{
			Field: Body, Code: CodeTooLarge,
			Message: fmt.Sprintf("the text has %d bytes, at most %d are allowed", len(text), MaxText),
		}
	}
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		err := textError(text, 0, CodeEncoding, "the text begins with a byte order mark: save it as UTF-8 without one")
		return &err
	}
	if at := invalidUTF8(text); at >= 0 {
		err := textError(text, at, CodeEncoding, "not valid UTF-8")
		return &err
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		err := textError(text, at, CodeEncoding, "a NUL character is not allowed")
		return &err
	}
	if len(bytes.TrimSpace(text)) == 0 {
		return &FieldError{Field: Body, Code: CodeSyntax, Message: "the text is empty (byte 0)", Line: 1, Column: 1}
	}
	return nil
}

func invalidUTF8(text []byte) int {
	if utf8.Valid(text) {
		return -1
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return at
		}
		at += size
	}
	return -1
}

// textError is an error at a byte offset of the text.
func textError(text []byte, offset int, code, message string) FieldError {
	line := 1 + bytes.Count(text[:offset], []byte("\n"))
	start := bytes.LastIndexByte(text[:offset], '\n') + 1
	return FieldError{
		Field: Body, Code: code, Message: fmt.Sprintf("%s (byte %d)", message, offset),
		Line: line, Column: 1 + utf8.RuneCount(text[start:offset]),
	}
}
