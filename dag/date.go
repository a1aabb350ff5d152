package dag

import (
	"errors"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
	dates "github.com/porpoise/porpoise/dag/moment"
)

// moving tells whether a value is known only where it is put in.
func moving(text string) bool { return strings.Contains(text, "${") || strings.Contains(text, "$[") }

// checkDates looks for mistakes in $[...]. One with a ${name} in it is looked at when
// the value is known.
func checkDates(field, text string) *FieldError {
	err := dates.Check(dates.Inside(text, func(date string) string {
		if strings.Contains(date, "${") {
			return "yyyy"
		}
		return date
	}))
	if err == nil {
		return nil
	}
	return &FieldError{Field: field, Code: document.CodeSyntax, Value: document.Shown(text), Message: dateMessage(err)}
}

// dateMessage is an error of a date without its place: a field is short enough to be seen
// whole.
func dateMessage(err error) string {
	if wrong, ok := errors.AsType[*dates.Error](err); ok {
		return wrong.Message
	}
	return err.Error()
}

// datedExpand puts dates and values into a text of params or env. The dates come first, so
// that no value is ever read as one; only the ${name} within $[...] are put in before.
func datedExpand(text string, at time.Time, lookup func(name string) (string, *FieldError)) (string, *FieldError) {
	if strings.Contains(text, "$[") {
		var wrong *FieldError
		text = dates.Inside(text, func(date string) string {
			value, err := expand(date, partOfDate(lookup))
			if err != nil && wrong == nil {
				wrong = err
			}
			return value
		})
		if wrong != nil {
			return "", wrong
		}
		dated, err := dates.Expand(text, at)
		if err != nil {
			return "", &FieldError{Code: document.CodeInvalid, Value: document.Shown(text), Message: dateMessage(err)}
		}
		text = dated
	}
	return expand(text, lookup)
}

// partOfDate refuses values that would end the expression which they are put into.
func partOfDate(lookup func(name string) (string, *FieldError)) func(name string) (string, *FieldError) {
	return func(name string) (string, *FieldError) {
		value, err := lookup(name)
		if err == nil && strings.ContainsAny(value, "[]$'") {
			err = &FieldError{
				Code: document.CodeInvalid, Value: document.Shown(value),
				Message: "the value of ${" + document.Shown(name) + "} can't stand in a time expression",
			}
		}
		return value, err
	}
}
