package expression

import (
	"math"
	"strings"
)

// functions are what is called by a name, methods what is called after a dot: their
// first operand is what stands before it.
var functions = map[string]operator{
	"int":    {numeral, isAny, isNumber, toInt},
	"float":  {numeral, isAny, isNumber, toFloat},
	"string": {isBool | numeral, isAny, isText, template},
	"len":    {hasLength, isAny, isNumber, size},
	"lower":  {isText, isAny, isText, changed("lower", strings.ToLower)},
	"upper":  {isText, isAny, isText, changed("upper", strings.ToUpper)},
	"trim":   {isText, isAny, isText, changed("trim", strings.TrimSpace)},
}

var methods = map[string]struct {
	operator
	arguments int
}{
	"includes":    {operator{isText | isList, isAny, isBool, contains}, 1},
	"contains":    {operator{isText | isList, isAny, isBool, contains}, 1},
	"startsWith":  {operator{isText, isText, isBool, ends("startsWith", strings.HasPrefix)}, 1},
	"endsWith":    {operator{isText, isText, isBool, ends("endsWith", strings.HasSuffix)}, 1},
	"equals":      {operator{isAny, isAny, isBool, equals}, 1},
	"toLowerCase": {operator{isText, isAny, isText, changed("toLowerCase", strings.ToLower)}, 0},
	"toUpperCase": {operator{isText, isAny, isText, changed("toUpperCase", strings.ToUpper)}, 0},
	"trim":        {operator{isText, isAny, isText, changed("trim", strings.TrimSpace)}, 0},
}

// hasLength are the kinds with a length.
const hasLength = isText | isList | isMap

// lengthOf is value.length.
var lengthOf = operator{hasLength, isAny, isNumber, size}

// toInt drops what stands behind the point.
func toInt(c *call) (any, *Error) {
	n, ok := number(c.in[0])
	if !ok {
		return c.fail("int wants a number, not %s", shown(c.in[0]))
	}
	if whole, ok := n.(int64); ok {
		return whole, nil
	}
	// The first float64 that is no int64 any more is 1<<63.
	f := math.Trunc(float(n))
	if f < -(1<<63) || f >= 1<<63 {
		return c.fail("%s is too large for a whole number", shown(n))
	}
	return int64(f), nil
}

func toFloat(c *call) (any, *Error) {
	n, ok := number(c.in[0])
	if !ok {
		return c.fail("float wants a number, not %s", shown(c.in[0]))
	}
	return float(n), nil
}

func size(c *call) (any, *Error) {
	v := c.in[0]
	if kindOf(v)&hasLength == 0 {
		return c.fail("the length is that of a text, a list or a map, not of %s", shown(v))
	}
	if text, ok := v.(string); ok {
		if err := c.spend(len(text)/textsPerStep, c.at); err != nil {
			return nil, err
		}
	}
	return int64(length(v)), nil
}

// changed is a text with another writing.
func changed(name string, change func(string) string) func(c *call) (any, *Error) {
	return func(c *call) (any, *Error) {
		text, ok := c.in[0].(string)
		if !ok {
			return c.fail("%s wants a text, not %s", name, shown(c.in[0]))
		}
		// Some letters take more bytes in the other case, at most three for one.
		if len(text) > MaxResult {
			return c.fail("%s takes at most %d bytes of text", name, MaxResult)
		}
		if err := c.spend(len(text)/4, c.at); err != nil {
			return nil, err
		}
		return c.text(change(text))
	}
}
