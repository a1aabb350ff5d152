package cron

import (
	"errors"
	"fmt"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// Bounds of what Parse reads.
const (
	// MaxText is how many bytes an expression may have: a list of every minute and of
	// every hour fits.
	MaxText = 512
	// MaxList is how many elements the list of one field may have, one for each minute.
	MaxList = 60
	// maxErrors is how many mistakes are told at once.
	maxErrors = 20
)

// CodeNeverFires says that an expression is well formed and asks for a day that no
// calendar has. The other codes are those of package document.
const CodeNeverFires = "never_fires"

// Error is one mistake in an expression.
type Error struct {
	Column  int    // the byte where it stands, from 1
	Field   string // "minute", "day of week" ...; "" where it is about the whole
	Code    string // a code of package document, or CodeNeverFires
	Message string // names the field, the value and the allowed range
	Value   string // what stands there
}

// Errors are all mistakes of one expression, in the order of the text. Parse returns no
// other error.
type Errors struct {
	Text string
	List []Error
}

// Error says all mistakes in one line.
func (e *Errors) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "cron %s: ", document.Quoted(e.Text))
	for i, one := range e.List {
		if i > 0 {
			b.WriteString("; ")
		}
		fmt.Fprintf(&b, "column %d: %s", one.Column, one.Message)
	}
	return b.String()
}

func (e *Errors) add(one Error) {
	if len(e.List) < maxErrors {
		one.Value = document.Shown(one.Value)
		e.List = append(e.List, one)
	}
}

// FieldErrors are the mistakes of an error of Parse as those of a field, each with its column; nil for no error.
func FieldErrors(field string, err error) []document.FieldError {
	wrong, ok := errors.AsType[*Errors](err)
	if !ok {
		return nil
	}
	list := make([]document.FieldError, len(wrong.List))
	for i, one := range wrong.List {
		list[i] = document.FieldError{Field: field, Code: one.Code, Message: one.Message, Value: one.Value, Line: 1, Column: one.Column}
	}
	return list
}
