package expression

import (
	"regexp"
	"regexp/syntax"
)

// maxPattern is how large the program of a pattern may be, in instructions. Matching
// takes up to that many steps for each byte of a text.
const maxPattern = 1000

// pattern compiles the right side of matches. It is written out in the expression, so
// that it is compiled once, where the text is read, and no value can make it a costly
// one.
func pattern(at int, right node) (func(c *call) (any, *Error), *Error) {
	c, ok := right.(*constant)
	if !ok {
		return nil, failf(at, "matches wants a pattern that is written out after it, in quotes")
	}
	text, ok := c.value.(string)
	if !ok {
		return nil, failf(at, "matches wants a pattern in quotes after it, not %s", shown(c.value))
	}
	tree, err := syntax.Parse(text, syntax.Perl)
	if err != nil {
		return nil, failf(c.at, "the pattern does not parse: %s", err)
	}
	size := patternSize(tree)
	if size > maxPattern {
		return nil, failf(c.at, "the pattern is too large: its repetitions come to more than %d parts", maxPattern)
	}
	re, err := regexp.Compile(text)
	if err != nil {
		return nil, failf(c.at, "the pattern does not parse: %s", err)
	}
	return func(c *call) (any, *Error) {
		text, ok := c.in[0].(string)
		if !ok {
			return c.fail("matches wants a text before it, not %s", shown(c.in[0]))
		}
		// Four of a pattern's instructions are done in the time of one step.
		if err := c.spend(len(text)*size/4, c.at); err != nil {
			return nil, err
		}
		return re.MatchString(text), nil
	}, nil
}

// patternSize is at least about as large as the program that a pattern becomes: a
// repetition writes out what it repeats.
func patternSize(re *syntax.Regexp) int {
	size := 1 + len(re.Rune)
	for _, sub := range re.Sub {
		size += patternSize(sub)
	}
	if re.Op == syntax.OpRepeat {
		size *= max(re.Min, re.Max, 1)
	}
	return min(size, maxPattern+1)
}
