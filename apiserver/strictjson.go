package apiserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// maxJSONDepth is how deep a body may nest; ours need 4.
const maxJSONDepth = 64

// checkJSON reads a body once, before it is decoded, and refuses what encoding/json
// lets pass: duplicate keys, trailing data, depth, invalid UTF-8, lone surrogates, and
// numbers that no float64 holds. It returns every such field, or the first place where
// the text is not JSON at all.
func checkJSON(body []byte) *Problem {
	if bytes.HasPrefix(body, []byte("\xef\xbb\xbf")) {
		return notJSON(0, "starts with a byte order mark")
	}
	c := jsonCheck{text: body}
	c.space()
	if c.at == len(body) {
		return problem(http.StatusBadRequest, "the body is empty", dag.FieldError{Field: "body", Code: document.CodeRequired, Message: "the body is empty"})
	}
	if c.value(0) {
		c.space()
		if c.at < len(c.text) {
			return notJSON(c.at, "has data after its end")
		}
	}
	if c.fatal != nil {
		return c.fatal
	}
	if len(c.wrong) > 0 {
		return problem(http.StatusBadRequest, c.wrong[0].Field+": "+c.wrong[0].Message, c.wrong...)
	}
	return nil
}

func notJSON(at int, what string) *Problem {
	return wrongField(http.StatusBadRequest, "body", document.CodeSyntax, "", "the body is not valid JSON: it %s at byte %d", what, at)
}

// jsonCheck walks a JSON text. Each method returns false once fatal is set.
type jsonCheck struct {
	text  []byte
	at    int
	path  []byte
	keys  [][]byte // of the objects that are open, innermost last
	wrong []dag.FieldError
	fatal *Problem
}

func (c *jsonCheck) fail(what string) bool {
	c.fatal = notJSON(c.at, what)
	return false
}

func (c *jsonCheck) note(code, message string) {
	if len(c.wrong) < maxErrors {
		field := string(c.path)
		if field == "" {
			field = "body"
		}
		c.wrong = append(c.wrong, dag.FieldError{Field: shown(field), Code: code, Message: message})
	}
}

func (c *jsonCheck) space() {
	for c.at < len(c.text) {
		switch c.text[c.at] {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return
		}
	}
}

func (c *jsonCheck) value(depth int) bool {
	if c.at == len(c.text) {
		return c.fail("ends early")
	}
	switch b := c.text[c.at]; {
	case b == '{' || b == '[':
		if depth == maxJSONDepth {
			c.fatal = wrongField(http.StatusBadRequest, "body", document.CodeTooDeep, "", "the body nests deeper than %d levels", maxJSONDepth)
			return false
		}
		if b == '{' {
			return c.object(depth + 1)
		}
		return c.array(depth + 1)
	case b == '"':
		_, ok := c.readString()
		return ok
	case b == '-' || b >= '0' && b <= '9':
		return c.number()
	case b == 't':
		return c.word("true")
	case b == 'f':
		return c.word("false")
	case b == 'n':
		return c.word("null")
	default:
		return c.fail("has an unexpected character")
	}
}

func (c *jsonCheck) word(w string) bool {
	if !bytes.HasPrefix(c.text[c.at:], []byte(w)) {
		return c.fail("has an unexpected word")
	}
	c.at += len(w)
	return true
}

func (c *jsonCheck) object(depth int) bool {
	first := len(c.keys)
	var seen map[string]bool // only for objects with many keys
	for c.at++; ; c.at++ {
		c.space()
		if c.at < len(c.text) && c.text[c.at] == '}' && len(c.keys) == first {
			break
		}
		if c.at == len(c.text) {
			return c.fail("ends early")
		}
		if c.text[c.at] != '"' {
			return c.fail("lacks a key")
		}
		pathLen := len(c.path)
		key, ok := c.readString()
		if !ok {
			return false
		}
		if pathLen > 0 {
			c.path = append(c.path, '.')
		}
		c.path = append(c.path, key...)
		seen = c.see(key, first, seen)
		c.space()
		if c.at == len(c.text) || c.text[c.at] != ':' {
			return c.fail("lacks a colon")
		}
		c.at++
		c.space()
		if !c.value(depth) {
			return false
		}
		c.path = c.path[:pathLen]
		c.space()
		if c.at == len(c.text) {
			return c.fail("ends early")
		}
		if c.text[c.at] == '}' {
			break
		}
		if c.text[c.at] != ',' {
			return c.fail("lacks a comma")
		}
	}
	c.at++
	c.keys = c.keys[:first]
	return true
}

// see remembers a key of the innermost object and notes it when it was there before.
// Up to 16 keys are compared one by one, which needs no map for any body of ours.
func (c *jsonCheck) see(key []byte, first int, seen map[string]bool) map[string]bool {
	const few = 16
	twice := false
	if seen == nil && len(c.keys)-first >= few {
		seen = make(map[string]bool, 2*few)
		for _, k := range c.keys[first:] {
			seen[string(k)] = true
		}
	}
	if seen != nil {
		twice = seen[string(key)]
		seen[string(key)] = true
	} else {
		for _, k := range c.keys[first:] {
			twice = twice || bytes.Equal(k, key)
		}
	}
	c.keys = append(c.keys, key)
	if twice {
		c.note(document.CodeDuplicateKey, "is given twice")
	}
	return seen
}

func (c *jsonCheck) array(depth int) bool {
	c.at++
	c.space()
	if c.at < len(c.text) && c.text[c.at] == ']' {
		c.at++
		return true
	}
	for i := 0; ; i++ {
		pathLen := len(c.path)
		c.path = append(c.path, '[')
		c.path = strconv.AppendInt(c.path, int64(i), 10)
		c.path = append(c.path, ']')
		c.space()
		if !c.value(depth) {
			return false
		}
		c.path = c.path[:pathLen]
		c.space()
		if c.at == len(c.text) {
			return c.fail("ends early")
		}
		b := c.text[c.at]
		if b != ',' && b != ']' {
			return c.fail("lacks a comma")
		}
		c.at++
		if b == ']' {
			return true
		}
	}
}

// readString reads a string and returns what it means.
func (c *jsonCheck) readString() ([]byte, bool) {
	start, plain := c.at, true
	for c.at++; ; c.at++ {
		if c.at >= len(c.text) {
			return nil, c.fail("ends inside a string")
		}
		b := c.text[c.at]
		if b == '"' {
			break
		}
		if b < 0x20 {
			return nil, c.fail("has a control character in a string")
		}
		if b == '\\' {
			plain = false
			if !c.escape() {
				return nil, false
			}
		}
	}
	c.at++
	raw := c.text[start+1 : c.at-1]
	if !utf8.Valid(raw) {
		c.note(document.CodeEncoding, "is not valid UTF-8")
	}
	if plain {
		return raw, true
	}
	var s string
	if err := json.Unmarshal(c.text[start:c.at], &s); err != nil {
		return nil, c.fail("has a bad string")
	}
	return []byte(s), true
}

// escape stands on a backslash and leaves on the escape's last byte.
func (c *jsonCheck) escape() bool {
	if c.at+1 >= len(c.text) {
		return c.fail("ends inside a string")
	}
	c.at++
	switch c.text[c.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return true
	case 'u':
	default:
		return c.fail("has an unknown escape")
	}
	hi, ok := c.hex4(c.at + 1)
	if !ok {
		return c.fail("has a bad \\u escape")
	}
	c.at += 4
	switch {
	case hi == 0:
		c.note(document.CodeEncoding, "holds a NUL character")
	case hi >= 0xd800 && hi < 0xdc00:
		if c.at+2 < len(c.text) && c.text[c.at+1] == '\\' && c.text[c.at+2] == 'u' {
			if lo, ok := c.hex4(c.at + 3); ok && lo >= 0xdc00 && lo < 0xe000 {
				c.at += 6
				return true
			}
		}
		c.note(document.CodeEncoding, "holds half of a surrogate pair")
	case hi >= 0xdc00 && hi < 0xe000:
		c.note(document.CodeEncoding, "holds half of a surrogate pair")
	}
	return true
}

func (c *jsonCheck) hex4(at int) (uint64, bool) {
	if at+4 > len(c.text) {
		return 0, false
	}
	for _, b := range c.text[at : at+4] {
		if (b < '0' || b > '9') && (b < 'a' || b > 'f') && (b < 'A' || b > 'F') {
			return 0, false
		}
	}
	n, err := strconv.ParseUint(string(c.text[at:at+4]), 16, 32)
	return n, err == nil
}

func (c *jsonCheck) number() bool {
	start := c.at
	for c.at < len(c.text) {
		b := c.text[c.at]
		if (b < '0' || b > '9') && b != '-' && b != '+' && b != '.' && b != 'e' && b != 'E' {
			break
		}
		c.at++
	}
	raw := c.text[start:c.at]
	if !json.Valid(raw) {
		c.at = start
		return c.fail("has a bad number")
	}
	if _, err := strconv.ParseFloat(string(raw), 64); err != nil {
		c.note(document.CodeOutOfRange, fmt.Sprintf("the number %s is out of range", shown(string(raw))))
	}
	return true
}
