package expression

import (
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag/document"
)

// textsPerStep is how many bytes of text are compared or copied for one step: a step is
// about ten nanoseconds.
const textsPerStep = 32

// maxDepth is how deep lists and maps that are compared may lie in each other.
const maxDepth = 32

// same tells whether two values are equal. A number and a text are, where the text
// writes that number; a boolean and a text, where it writes that boolean. Two texts
// are equal where their bytes are.
func (c *call) same(a, b any, depth int) (bool, *Error) {
	a, aIs := normal(a)
	b, bIs := normal(b)
	if !aIs || !bIs {
		return false, failf(c.at, "a value inside of a list or map is none that an expression can use")
	}
	if err := c.spend(1, c.at); err != nil {
		return false, err
	}
	s, aText := a.(string)
	t, bText := b.(string)
	if aText && bText {
		return s == t, c.spend(min(len(s), len(t))/textsPerStep, c.at)
	}
	kinds := kindOf(a) | kindOf(b)
	switch {
	case kinds == isNil:
		return true, nil
	case kinds&^isText == isNumber:
		m, aIs := number(a)
		n, bIs := number(b)
		return aIs && bIs && compareNumbers(m, n) == 0, nil
	case kinds&^isText == isBool:
		p, aIs := boolean(a)
		q, bIs := boolean(b)
		return aIs && bIs && p == q, nil
	case depth == maxDepth:
		return false, failf(c.at, "what is compared lies more than %d lists or maps deep", maxDepth)
	case kinds == isList:
		return c.sameList(a, b, depth)
	case kinds == isMap:
		return c.sameMap(a, b, depth)
	}
	return false, nil
}

func (c *call) sameList(a, b any, depth int) (bool, *Error) {
	if length(a) != length(b) {
		return false, nil
	}
	for i := range length(a) {
		if same, err := c.same(element(a, i), element(b, i), depth+1); !same {
			return false, err
		}
	}
	return true, nil
}

// sameMap goes by sorted keys, so that an error is the same each time.
func (c *call) sameMap(a, b any, depth int) (bool, *Error) {
	if length(a) != length(b) {
		return false, nil
	}
	if err := c.spend(length(a), c.at); err != nil {
		return false, err
	}
	for _, key := range keys(a) {
		other, err := member(c.at, b, key)
		if err != nil && err.missing {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		own, err := member(c.at, a, key)
		if err != nil {
			return false, err
		}
		if same, err := c.same(own, other, depth+1); !same {
			return false, err
		}
	}
	return true, nil
}

// length is how many characters a text has, elements a list, and keys a map.
func length(v any) int {
	switch v := v.(type) {
	case string:
		return utf8.RuneCountInString(v)
	case []any:
		return len(v)
	case []string:
		return len(v)
	case map[string]any:
		return len(v)
	case map[string]string:
		return len(v)
	}
	return 0
}

func element(list any, i int) any {
	if texts, ok := list.([]string); ok {
		return texts[i]
	}
	values, _ := list.([]any)
	return values[i]
}

// text puts texts together.
func (c *call) text(parts ...string) (any, *Error) {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if size > MaxResult {
		return c.fail("the text becomes longer than %d bytes", MaxResult)
	}
	if err := c.spend(size/textsPerStep, c.at); err != nil {
		return nil, err
	}
	return strings.Join(parts, ""), nil
}

// template puts the values of "a${b}c" together.
func template(c *call) (any, *Error) {
	parts := make([]string, len(c.in))
	for i, v := range c.in {
		var ok bool
		if parts[i], ok = written(v); !ok {
			return c.fail("%s can't be put into a text", shown(v))
		}
	}
	return c.text(parts...)
}

// within is value in list, or key in map.
func within(c *call) (any, *Error) {
	value, in := c.in[0], c.in[1]
	if kindOf(in) == isMap {
		key, ok := value.(string)
		if !ok {
			return c.fail("in wants a key before a map, not %s", shown(value))
		}
		_, err := member(c.at, in, key)
		return err == nil || !err.missing, nil
	}
	if kindOf(in) == isList {
		return c.listed(in, value)
	}
	return c.fail("in wants a list or a map after it, not %s; for a part of a text write text contains part", shown(in))
}

func (c *call) listed(list, value any) (any, *Error) {
	for i := range length(list) {
		same, err := c.same(element(list, i), value, 0)
		if err != nil {
			return nil, err
		}
		if same {
			return true, nil
		}
	}
	return false, nil
}

// contains is text contains part, or list contains value.
func contains(c *call) (any, *Error) {
	if kindOf(c.in[0]) == isList {
		return c.listed(c.in[0], c.in[1])
	}
	text, part, err := c.texts("contains")
	if err != nil {
		return nil, err
	}
	if err := c.spend(len(text)/textsPerStep, c.at); err != nil {
		return nil, err
	}
	return strings.Contains(text, part), nil
}

func ends(name string, holds func(text, part string) bool) func(c *call) (any, *Error) {
	return func(c *call) (any, *Error) {
		text, part, err := c.texts(name)
		if err != nil {
			return nil, err
		}
		return holds(text, part), c.spend(len(part)/textsPerStep, c.at)
	}
}

// texts are the two texts that an operator wants.
func (c *call) texts(name string) (string, string, *Error) {
	s, first := c.in[0].(string)
	t, second := c.in[1].(string)
	if !first || !second {
		return "", "", failf(c.at, "%s wants two texts, not %s and %s", name, shown(c.in[0]), shown(c.in[1]))
	}
	return s, t, nil
}

// index is value[key]: an element of a list, counted from 0, or a member of a map.
func index(c *call) (any, *Error) {
	of, key := c.in[0], c.in[1]
	if kindOf(of) == isMap {
		name, ok := key.(string)
		if !ok {
			return c.fail("a map's key is a text, not %s", shown(key))
		}
		return member(c.at, of, name)
	}
	if kindOf(of) == isList {
		n, _ := number(key)
		i, ok := n.(int64)
		if !ok {
			return c.fail("a list's place is a whole number, not %s", shown(key))
		}
		if i < 0 || i >= int64(length(of)) {
			return nil, &Error{Offset: c.at, Message: "the list has no element " + shown(i), missing: true}
		}
		v, ok := normal(element(of, int(i)))
		if !ok {
			return c.fail("the element is none that an expression can use")
		}
		return v, nil
	}
	return c.fail("%s has no members: %s is not one", shown(of), document.Shown(shown(key)))
}

func keys(m any) []string {
	if texts, ok := m.(map[string]string); ok {
		return slices.Sorted(maps.Keys(texts))
	}
	values, _ := m.(map[string]any)
	return slices.Sorted(maps.Keys(values))
}
