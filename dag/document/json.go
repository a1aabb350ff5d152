package document

import (
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// jsonReader walks a JSON text once. It is written out here because the standard
// decoder takes duplicate keys and repairs lone surrogates, and does not say where a
// value stood.
type jsonReader struct {
	text  []byte
	at    int
	line  int32
	start int // offset of the line's first byte
	// col counts the characters of the line up to the offset seen, so that a long
	// line is counted once and not once per value.
	col, seen int
	nodes     int
	errs      []FieldError // duplicate keys: the walk goes on after them
}

func readJSON(text []byte) (*Node, []FieldError) {
	r := &jsonReader{text: text, line: 1}
	var root Node
	r.space()
	err := r.value(&root, nil, 1)
	if err == nil {
		r.space()
		if r.at < len(text) {
			err = r.fail(r.at, CodeSyntax, "there is more text after the end of the document")
		}
	}
	if err != nil {
		return nil, []FieldError{*err}
	}
	if len(r.errs) > 0 {
		return nil, Sort(r.errs)
	}
	return &root, nil
}

func (r *jsonReader) fail(offset int, code, message string) *FieldError {
	e := textError(r.text, min(offset, len(r.text)), code, message)
	return &e
}

func (r *jsonReader) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '\n':
			r.line++
			r.start, r.seen, r.col = r.at+1, r.at+1, 0
		case ' ', '\t', '\r':
		default:
			return
		}
		r.at++
	}
}

func (r *jsonReader) column() int32 {
	r.col += utf8.RuneCount(r.text[r.seen:r.at])
	r.seen = r.at
	return int32(r.col + 1)
}

func (r *jsonReader) value(n *Node, at *Path, depth int) *FieldError {
	if r.at >= len(r.text) {
		return r.fail(r.at, CodeSyntax, "the text ends where a value should be")
	}
	if r.nodes++; r.nodes > MaxNodes {
		return r.fail(r.at, CodeTooLarge, fmt.Sprintf("more than %d values", MaxNodes))
	}
	n.Line, n.Column = r.line, r.column()
	c := r.text[r.at]
	if (c == '{' || c == '[') && depth > MaxDepth {
		return r.fail(r.at, CodeTooDeep, fmt.Sprintf("nested deeper than %d", MaxDepth))
	}
	switch {
	case c == '{':
		n.Kind = Map
		return r.object(n, at, depth)
	case c == '[':
		n.Kind = List
		return r.array(n, at, depth)
	case c == '"':
		n.Kind = String
		return r.string(&n.Text)
	case c == '-' || c >= '0' && c <= '9':
		n.Kind = Number
		return r.number(&n.Text)
	default:
		return r.word(n)
	}
}

func (r *jsonReader) word(n *Node) *FieldError {
	for _, w := range [...]struct {
		text string
		kind Kind
	}{{"true", Bool}, {"false", Bool}, {"null", Null}} {
		if strings.HasPrefix(string(r.text[r.at:min(r.at+len(w.text), len(r.text))]), w.text) {
			n.Kind, n.Text = w.kind, w.text
			r.at += len(w.text)
			return nil
		}
	}
	c, _ := utf8.DecodeRune(r.text[r.at:])
	return r.fail(r.at, CodeSyntax, fmt.Sprintf("%q cannot begin a value", c))
}

func (r *jsonReader) object(n *Node, at *Path, depth int) *FieldError {
	opened := r.at
	r.at++
	var seen map[string]bool
	for first := true; ; first = false {
		r.space()
		switch {
		case r.at >= len(r.text):
			return r.fail(r.at, CodeSyntax, fmt.Sprintf("the object that begins at byte %d has no end", opened))
		case r.text[r.at] == '}' && first:
			r.at++
			return nil
		case r.text[r.at] != '"':
			return r.fail(r.at, CodeSyntax, "a key in double quotes should be here")
		}
		key := Key{Line: r.line, Column: r.column()}
		keyAt := r.at
		if err := r.string(&key.Name); err != nil {
			return err
		}
		if seen == nil {
			seen = make(map[string]bool, 8)
		}
		below := at.Key(key.Name)
		if seen[key.Name] && len(r.errs) < MaxErrors {
			e := r.fail(keyAt, CodeDuplicateKey, "the key "+Quoted(key.Name)+" stands here twice")
			e.Field, e.Value = below.String(), Shown(key.Name)
			r.errs = append(r.errs, *e)
		}
		seen[key.Name] = true
		r.space()
		if r.at >= len(r.text) || r.text[r.at] != ':' {
			return r.fail(r.at, CodeSyntax, "a colon should follow the key "+Quoted(key.Name))
		}
		r.at++
		r.space()
		n.Keys = append(n.Keys, key)
		n.Items = append(n.Items, Node{})
		if err := r.value(&n.Items[len(n.Items)-1], below, depth+1); err != nil {
			return err
		}
		if done, err := r.next('}', opened); done || err != nil {
			return err
		}
	}
}

func (r *jsonReader) array(n *Node, at *Path, depth int) *FieldError {
	opened := r.at
	r.at++
	r.space()
	if r.at < len(r.text) && r.text[r.at] == ']' {
		r.at++
		return nil
	}
	for {
		r.space()
		n.Items = append(n.Items, Node{})
		if err := r.value(&n.Items[len(n.Items)-1], at.Index(len(n.Items)-1), depth+1); err != nil {
			return err
		}
		if done, err := r.next(']', opened); done || err != nil {
			return err
		}
	}
}

// next reads the comma or the end that must follow a member.
func (r *jsonReader) next(end byte, opened int) (done bool, _ *FieldError) {
	r.space()
	switch {
	case r.at >= len(r.text):
		return false, r.fail(r.at, CodeSyntax, fmt.Sprintf("what begins at byte %d has no end", opened))
	case r.text[r.at] == end:
		r.at++
		return true, nil
	case r.text[r.at] == ',':
		r.at++
		return false, nil
	default:
		return false, r.fail(r.at, CodeSyntax, fmt.Sprintf("a comma or %q should be here", end))
	}
}

// number takes the grammar of RFC 8259 section 6: no plus sign, no leading zero.
func (r *jsonReader) number(into *string) *FieldError {
	from := r.at
	for r.at < len(r.text) && strings.IndexByte("+-.0123456789eE", r.text[r.at]) >= 0 {
		r.at++
	}
	*into = string(r.text[from:r.at])
	if !IsNumber(*into) {
		return r.fail(from, CodeSyntax, Quoted(*into)+" is not a number")
	}
	return nil
}

func (r *jsonReader) string(into *string) *FieldError {
	from := r.at
	r.at++
	plain := r.at
	var b []byte
	for {
		if r.at >= len(r.text) {
			return r.fail(r.at, CodeSyntax, fmt.Sprintf("the string that begins at byte %d has no end", from))
		}
		switch c := r.text[r.at]; {
		case c == '"':
			*into = string(append(b, r.text[plain:r.at]...))
			r.at++
			return nil
		case c < 0x20:
			return r.fail(r.at, CodeSyntax, "a control character inside a string must be written as an escape")
		case c == '\\':
			b = append(b, r.text[plain:r.at]...)
			var err *FieldError
			if b, err = r.escape(b); err != nil {
				return err
			}
			plain = r.at
		default:
			r.at++
		}
	}
}

func (r *jsonReader) escape(b []byte) ([]byte, *FieldError) {
	from := r.at
	if r.at+1 >= len(r.text) {
		return nil, r.fail(r.at, CodeSyntax, "the text ends inside an escape")
	}
	c := r.text[r.at+1]
	r.at += 2
	if i := strings.IndexByte(`"\/bfnrt`, c); i >= 0 {
		return append(b, "\"\\/\b\f\n\r\t"[i]), nil
	}
	if c != 'u' {
		return nil, r.fail(from, CodeSyntax, "not an escape that JSON knows")
	}
	u, ok := r.hex()
	if !ok {
		return nil, r.fail(from, CodeSyntax, `\u wants four hexadecimal digits`)
	}
	switch {
	case u == 0:
		return nil, r.fail(from, CodeEncoding, "a NUL character is not allowed")
	case utf16.IsSurrogate(u):
		low := rune(-1)
		if r.at+1 < len(r.text) && r.text[r.at] == '\\' && r.text[r.at+1] == 'u' {
			r.at += 2
			low, _ = r.hex()
		}
		if u = utf16.DecodeRune(u, low); u == utf8.RuneError {
			return nil, r.fail(from, CodeEncoding, "half of a surrogate pair stands alone")
		}
	}
	return utf8.AppendRune(b, u), nil
}

func (r *jsonReader) hex() (rune, bool) {
	if r.at+4 > len(r.text) {
		return -1, false
	}
	var u rune
	for range 4 {
		c := r.text[r.at]
		switch {
		case c >= '0' && c <= '9':
			u = u<<4 | rune(c-'0')
		case c >= 'a' && c <= 'f':
			u = u<<4 | rune(c-'a'+10)
		case c >= 'A' && c <= 'F':
			u = u<<4 | rune(c-'A'+10)
		default:
			return -1, false
		}
		r.at++
	}
	return u, true
}
