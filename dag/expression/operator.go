package expression

import (
	"cmp"
	"math"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// operator says what an operator takes and gives. Operands that can't be of the kinds
// it takes are refused where the text is read.
type operator struct {
	left, right kind
	gives       kind
	do          func(c *call) (any, *Error)
}

// A text may stand where a number or a boolean is wanted: the value of a parameter is
// one, and may say a number.
const (
	numeral = isNumber | isText
	truth   = isBool | isText
)

var binary = map[string]operator{
	"==":         {isAny, isAny, isBool, equals},
	"!=":         {isAny, isAny, isBool, differs},
	"<":          {numeral, numeral, isBool, ordered("<", func(o int) bool { return o < 0 })},
	"<=":         {numeral, numeral, isBool, ordered("<=", func(o int) bool { return o <= 0 })},
	">":          {numeral, numeral, isBool, ordered(">", func(o int) bool { return o > 0 })},
	">=":         {numeral, numeral, isBool, ordered(">=", func(o int) bool { return o >= 0 })},
	"+":          {numeral, numeral, numeral, add},
	"-":          {numeral, numeral, isNumber, arithmetic("-")},
	"*":          {numeral, numeral, isNumber, arithmetic("*")},
	"/":          {numeral, numeral, isNumber, arithmetic("/")},
	"%":          {numeral, numeral, isNumber, arithmetic("%")},
	"**":         {numeral, numeral, isNumber, arithmetic("**")},
	"in":         {isAny, isList | isMap, isBool, within},
	"contains":   {isText | isList, isAny, isBool, contains},
	"startsWith": {isText, isText, isBool, ends("startsWith", strings.HasPrefix)},
	"endsWith":   {isText, isText, isBool, ends("endsWith", strings.HasSuffix)},
}

var unary = map[string]operator{
	"!":   {truth, isAny, isBool, not},
	"not": {truth, isAny, isBool, not},
	"-":   {numeral, isAny, isNumber, negative},
	"+":   {numeral, isAny, isNumber, positive},
}

func not(c *call) (any, *Error) {
	decision, ok := boolean(c.in[0])
	if !ok {
		return c.fail("not wants true or false, not %s", shown(c.in[0]))
	}
	return !decision, nil
}

func positive(c *call) (any, *Error) {
	n, ok := number(c.in[0])
	if !ok {
		return c.fail("a sign wants a number, not %s", shown(c.in[0]))
	}
	return n, nil
}

func negative(c *call) (any, *Error) {
	n, ok := number(c.in[0])
	if !ok {
		return c.fail("a sign wants a number, not %s", shown(c.in[0]))
	}
	return calculate(c, "-", int64(0), n)
}

func equals(c *call) (any, *Error) {
	same, err := c.same(c.in[0], c.in[1], 0)
	return same, err
}

func differs(c *call) (any, *Error) {
	same, err := c.same(c.in[0], c.in[1], 0)
	return !same, err
}

// ordered compares two numbers, or two texts that are both numbers or both none.
func ordered(sign string, holds func(order int) bool) func(c *call) (any, *Error) {
	return func(c *call) (any, *Error) {
		a, b := c.in[0], c.in[1]
		m, aIs := number(a)
		n, bIs := number(b)
		if aIs && bIs {
			return holds(compareNumbers(m, n)), nil
		}
		s, aText := a.(string)
		t, bText := b.(string)
		if !aIs && !bIs && aText && bText {
			if err := c.spend(min(len(s), len(t))/textsPerStep, c.at); err != nil {
				return nil, err
			}
			return holds(strings.Compare(s, t)), nil
		}
		return c.fail("%s wants two numbers or two texts, not %s and %s", sign, shown(a), shown(b))
	}
}

func compareNumbers(m, n any) int {
	i, iIs := m.(int64)
	j, jIs := n.(int64)
	if iIs && jIs {
		return cmp.Compare(i, j)
	}
	return cmp.Compare(float(m), float(n))
}

// add is the sum of two numbers, or one text after the other. Two texts that are both
// numbers could mean either, and are refused.
func add(c *call) (any, *Error) {
	a, b := c.in[0], c.in[1]
	_, aIs := number(a)
	_, bIs := number(b)
	s, aText := a.(string)
	t, bText := b.(string)
	switch {
	case aText && bText && aIs && bIs:
		return c.fail(`+ has two texts that are numbers, %s and %s: for the sum write int(a) + int(b), for one text "${a}${b}"`, document.Quoted(s), document.Quoted(t))
	case aIs && bIs:
		return calculate(c, "+", a, b)
	case aText && bText:
		return c.text(s, t)
	}
	return c.fail("+ wants two numbers or two texts, not %s and %s", shown(a), shown(b))
}

func arithmetic(sign string) func(c *call) (any, *Error) {
	return func(c *call) (any, *Error) { return calculate(c, sign, c.in[0], c.in[1]) }
}

// calculate works in whole numbers where both are whole and the result fits.
func calculate(c *call, sign string, a, b any) (any, *Error) {
	m, aIs := number(a)
	n, bIs := number(b)
	if !aIs || !bIs {
		return c.fail("%s wants two numbers, not %s and %s", sign, shown(a), shown(b))
	}
	if float(n) == 0 && (sign == "/" || sign == "%") {
		return c.fail("%s by zero", sign)
	}
	i, iIs := m.(int64)
	j, jIs := n.(int64)
	if iIs && jIs {
		if whole, ok := calculateWhole(sign, i, j); ok {
			return whole, nil
		}
	}
	x, y := float(m), float(n)
	var f float64
	switch sign {
	case "+":
		f = x + y
	case "-":
		f = x - y
	case "*":
		f = x * y
	case "/":
		f = x / y
	case "%":
		f = math.Mod(x, y)
	case "**":
		f = math.Pow(x, y)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return c.fail("the result of %s is no number that can be kept", sign)
	}
	return f, nil
}

func calculateWhole(sign string, i, j int64) (int64, bool) {
	switch sign {
	case "+":
		return i + j, (i+j > i) == (j > 0)
	case "-":
		return i - j, (i-j < i) == (j > 0)
	case "*":
		if i == 0 || j == 0 {
			return 0, true
		}
		p := i * j
		return p, p/j == i && (i != -1 || j != math.MinInt64) && (j != -1 || i != math.MinInt64)
	case "/":
		if j == -1 {
			return -i, i != math.MinInt64
		}
		return i / j, i%j == 0
	case "%":
		if j == -1 {
			return 0, true
		}
		return i % j, true
	}
	return 0, false
}
