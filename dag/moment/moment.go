// Package moment is the language of dates in parameters: $[yyyyMMdd-1] and the rest of
// DolphinScheduler 3.2's time expressions.
//
// A text is expanded at one moment, the schedule time of an instance, whose location is
// the schedule's timezone. Days, weeks and months are counted on the calendar, so that a
// clock change never moves a date; hours and minutes are time that passes. The package
// reads no clock, and nothing but the database of timezones; dag checks texts where a definition is saved and expands
// them where a task is made ready. The forms are described in docs/PARAMETERS.md.
package moment

import (
	"fmt"
	"strings"
	"time"
)

// The bounds of a text.
const (
	// MaxExpression is how many bytes stand between the brackets of one expression.
	MaxExpression = 256
	// MaxResult is how many bytes an expanded text may have: as many as one value of a
	// parameter.
	MaxResult = 100 << 10
)

// Error says what is wrong with a time expression.
type Error struct {
	Offset  int // of the byte in the text where the cause stands
	Message string
}

// Error is the message and its place.
func (e *Error) Error() string { return fmt.Sprintf("%s (at byte %d)", e.Message, e.Offset) }

func failf(at int, format string, args ...any) *Error {
	return &Error{Offset: at, Message: fmt.Sprintf(format, args...)}
}

// Expand replaces each $[...] of a text by what it says at a moment, in the location of
// that moment. A bracket that starts with a digit stays as it is, and $$[ stands for $[.
// The error is an *Error: one that Check finds too, a date out of the years 1 to 9999, or
// a result that is too long.
func Expand(text string, at time.Time) (string, error) {
	var b strings.Builder
	err := each(text, func(p piece) *Error {
		b.WriteString(p.before)
		if p.found {
			e, err := parse(p.inside)
			if err != nil {
				return failf(p.at+err.Offset, "%s", err.Message)
			}
			value, err := e.value(at)
			if err != nil {
				return failf(p.at, "%s", err.Message)
			}
			b.WriteString(value)
		}
		if b.Len() > MaxResult {
			return failf(p.at, "the text becomes longer than %d bytes", MaxResult)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	return b.String(), nil
}

// Check says what in a text Expand would refuse at every moment. The error is an *Error.
func Check(text string) error {
	err := each(text, func(p piece) *Error {
		if !p.found {
			return nil
		}
		if _, err := parse(p.inside); err != nil {
			return failf(p.at+err.Offset, "%s", err.Message)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return nil
}

// Inside returns a text with what stands between the brackets of each expression changed.
// A text whose brackets are not closed is returned as it is.
func Inside(text string, change func(expression string) string) string {
	var b strings.Builder
	from := 0
	err := each(text, func(p piece) *Error {
		if p.found {
			b.WriteString(text[from:p.at])
			b.WriteString(change(p.inside))
			from = p.at + len(p.inside)
		}
		return nil
	})
	if err != nil {
		return text
	}
	return b.String() + text[from:]
}

// piece is a part of a text: what stands before an expression, and the expression, which
// begins at a byte of the text.
type piece struct {
	before, inside string
	found          bool
	at             int
}

// each visits the pieces of a text in order.
func each(text string, visit func(p piece) *Error) *Error {
	from := 0 // where what is not visited yet begins
	for search := 0; ; {
		open := strings.Index(text[search:], "$[")
		if open < 0 {
			return visit(piece{before: text[from:], at: from})
		}
		open += search
		inside := open + 2
		p := piece{before: text[from:open], at: inside}
		next := inside
		switch {
		case open > from && text[open-1] == '$': // $$[ is $[ itself
			p.before += "["
		case inside < len(text) && text[inside] >= '0' && text[inside] <= '9':
			search = inside // $[0] is a shell's own
			continue
		default:
			end, err := closing(text, inside)
			if err != nil {
				return err
			}
			p.inside, p.found, next = text[inside:end], true, end+1
		}
		if err := visit(p); err != nil {
			return err
		}
		from, search = next, next
	}
}

// closing finds the bracket that ends the expression which begins at from.
func closing(text string, from int) (int, *Error) {
	quoted := false
	for i := from; i < len(text) && i <= from+MaxExpression; i++ {
		switch {
		case text[i] == '\'':
			quoted = !quoted
		case quoted:
		case text[i] == ']':
			return i, nil
		case text[i] == '[':
			return 0, failf(i, "a time expression can't stand in another one")
		}
	}
	if len(text)-from > MaxExpression {
		return 0, failf(from-2, "the time expression does not end within %d bytes; for the characters themselves write $$[", MaxExpression)
	}
	return 0, failf(from-2, "$[ has no closing ]; for the characters themselves write $$[")
}
