package dolphin

import (
	"bytes"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// object is one JSON object of an export. It knows which of its fields were asked for, so
// that those which nobody asked for can be reported.
type object struct {
	at     string // its path in the export
	fields map[string]json.RawMessage
	asked  map[string]bool
	notes  *notes
}

// newObject reads an object; anything else is an empty one, and reported. A text that holds
// an object counts as one: some versions write taskParams so.
func newObject(at string, raw json.RawMessage, n *notes) *object {
	o := &object{at: at, asked: map[string]bool{}, notes: n}
	if text, ok := unquote(raw); ok {
		raw = json.RawMessage(text)
	}
	if empty(raw) {
		return o
	}
	if json.Unmarshal(raw, &o.fields) != nil {
		n.add(codeWrongType, at, "want an object, not "+shownRaw(raw))
	}
	return o
}

// path is where a field of the object stands.
func (o *object) path(key string) string { return document.FieldKey(o.at, key) }

func (o *object) raw(key string) json.RawMessage {
	o.asked[key] = true
	if raw := o.fields[key]; !bytes.Equal(raw, []byte("null")) {
		return raw
	}
	return nil
}

// text returns a field's text; numbers and truth values come as they are written.
func (o *object) text(key string) string {
	raw := o.raw(key)
	if raw == nil {
		return ""
	}
	if text, ok := unquote(raw); ok {
		return text
	}
	if raw[0] == '{' || raw[0] == '[' {
		o.notes.add(codeWrongType, o.path(key), "want a text, not "+shownRaw(raw))
		return ""
	}
	return string(raw)
}

// number returns a field's whole number, which may stand in a text; absent is otherwise.
func (o *object) number(key string, absent int64) int64 {
	text := strings.TrimSpace(o.text(key))
	if text == "" {
		return absent
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		o.notes.add(codeWrongType, o.path(key), "want a whole number, not "+shown(text))
		return absent
	}
	return n
}

// flag tells whether a field says yes.
func (o *object) flag(key string) bool {
	switch strings.ToLower(o.text(key)) {
	case "true", "yes", "1", "open":
		return true
	}
	return false
}

// word returns a field's word if it is one of those known, else what absent says.
func (o *object) word(key, absent string, known ...string) string {
	word := o.text(key)
	switch {
	case word == "":
		return absent
	case slices.Contains(known, word):
		return word
	}
	o.notes.add(codeUnknownWord, o.path(key), shown(word)+" is none of "+strings.Join(known, ", "))
	return absent
}

// object returns a field that is an object, an empty one where it is absent.
func (o *object) object(key string) *object { return newObject(o.path(key), o.raw(key), o.notes) }

// maxList is how many elements of a list are read: more than a person writes, and a bound on
// what a hostile export costs.
const maxList = dag.MaxParams

// list returns the elements of a field that is a list, or a text that holds one.
func (o *object) list(key string) []json.RawMessage {
	list := o.long(key)
	if len(list) > maxList {
		o.notes.add(codeListCut, o.path(key), strconv.Itoa(len(list)))
		list = list[:maxList]
	}
	return list
}

// long is list without its bound, for lists that have one of their own.
func (o *object) long(key string) []json.RawMessage {
	raw := o.raw(key)
	if text, ok := unquote(raw); ok {
		raw = json.RawMessage(text)
	}
	if empty(raw) {
		return nil
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		o.notes.add(codeWrongType, o.path(key), "want a list, not "+shownRaw(raw))
	}
	return list
}

// objects returns the objects of a list.
func (o *object) objects(key string) []*object { return o.each(key, o.list(key)) }

func (o *object) each(key string, list []json.RawMessage) []*object {
	out := make([]*object, len(list))
	for i, raw := range list {
		out[i] = newObject(o.path(key)+index(i), raw, o.notes)
	}
	return out
}

// codes returns a list of codes; a single one is a list of one.
func (o *object) codes(key string) []int64 {
	raw := o.raw(key)
	if empty(raw) {
		return nil
	}
	list := []json.RawMessage{raw}
	if raw[0] == '[' {
		list = o.list(key)
	}
	var out []int64
	for i, raw := range list {
		text, ok := unquote(raw)
		if !ok {
			text = string(raw)
		}
		if text == "" || text == "null" {
			continue
		}
		code, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			o.notes.add(codeWrongType, o.path(key)+index(i), "want a code, not "+shownRaw(raw))
			continue
		}
		out = append(out, code)
	}
	return out
}

// drop marks fields that say nothing about the workflow.
func (o *object) drop(keys ...string) {
	for _, key := range keys {
		o.asked[key] = true
	}
}

// rest reports the fields that nobody asked for and that hold something.
func (o *object) rest(code string) {
	for _, key := range slices.Sorted(maps.Keys(o.fields)) {
		if !o.asked[key] && !empty(o.fields[key]) {
			o.notes.add(code, o.path(key), "it holds "+shownRaw(o.fields[key]))
		}
	}
}

func index(i int) string { return "[" + strconv.Itoa(i) + "]" }

// unquote returns the text of a JSON string.
func unquote(raw json.RawMessage) (string, bool) {
	if len(raw) == 0 || raw[0] != '"' {
		return "", false
	}
	var text string
	if json.Unmarshal(raw, &text) != nil {
		return "", false
	}
	return text, true
}

// maxEmptyDepth is deeper than what forms write; deeper values count as something.
const maxEmptyDepth = 4

// empty tells whether a value holds nothing: null, "", [], {}, and objects of such. The form
// of a task writes many of them.
func empty(raw json.RawMessage) bool { return emptyTo(raw, maxEmptyDepth) }

func emptyTo(raw json.RawMessage, depth int) bool {
	if raw = bytes.TrimSpace(raw); len(raw) == 0 {
		return true
	}
	switch raw[0] {
	case 'n':
		return true
	case '"':
		return len(raw) == len(`""`)
	case '[', '{':
	default:
		return false
	}
	if depth == 0 {
		return false
	}
	var list []json.RawMessage
	var fields map[string]json.RawMessage
	if raw[0] == '[' && json.Unmarshal(raw, &list) != nil || raw[0] == '{' && json.Unmarshal(raw, &fields) != nil {
		return false
	}
	for _, part := range fields {
		list = append(list, part)
	}
	return !slices.ContainsFunc(list, func(part json.RawMessage) bool { return !emptyTo(part, depth-1) })
}
