package document

import (
	"cmp"
	"slices"
	"strconv"
	"unicode/utf8"
)

// MaxErrors is how many wrong fields one answer lists at most: more than a person
// reads, and a bound on what a hostile text can make us say.
const MaxErrors = 100

// maxShown is how many characters of a wrong value an error repeats.
const maxShown = 64

// FieldError is one wrong field of a document. Line and Column count from 1; zero
// where the document has no text position. Value is at most 64 characters of what stood there.
// Args are what Message puts into its words, for those who say it in another language.
type FieldError struct {
	Field   string `json:"field"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Value   string `json:"value,omitempty"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Args    Args   `json:"args,omitempty"`
}

// Args are the values in an error's sentence by name: texts, numbers and lists of texts.
type Args map[string]any

// Error lets a FieldError travel as an error: "tasks[3].needs[0]: no task "x"".
func (e FieldError) Error() string { return e.Field + ": " + e.Message }

// The codes of errors that any document can have. A code is stable: programs decide
// on it, people read the message.
const (
	CodeSyntax       = "syntax"         // the text is not YAML or JSON
	CodeEncoding     = "encoding"       // a byte order mark, invalid UTF-8, a lone surrogate, NUL
	CodeTooLarge     = "too_large"      // the text, a value or a list is over its limit
	CodeTooDeep      = "too_deep"       // nested deeper than MaxDepth
	CodeYAMLFeature  = "yaml_feature"   // anchors, aliases, merge keys, tags, several documents
	CodeDuplicateKey = "duplicate_key"  // a map has a key twice
	CodeUnknownField = "unknown_field"  // a key that means nothing here
	CodeRequired     = "required"       // a key that must be there is missing
	CodeNull         = "null"           // a key stands there without a value
	CodeWrongType    = "wrong_type"     // a value of another type than wanted
	CodeOutOfRange   = "out_of_range"   // a number, duration or length outside its range
	CodeNotInEnum    = "not_in_enum"    // a word that is not one of those listed
	CodeInvalid      = "invalid"        // a text that does not have the wanted form
	CodeFormat       = "unknown_format" // a format other than yaml and json was asked for
)

// Body is the field of errors that concern the text as a whole.
const Body = "body"

// Shown returns at most 64 characters of s, for a message or a value. Invalid UTF-8
// is replaced, and control and direction characters are written as escapes, so that
// a hostile text cannot rewrite the line that reports it.
func Shown(s string) string {
	cut := false
	if n := prefix(s, maxShown); n < len(s) {
		s, cut = s[:n], true
	}
	quoted := strconv.Quote(s)
	s = quoted[1 : len(quoted)-1]
	if n := prefix(s, maxShown); n < len(s) {
		s, cut = s[:n], true
	}
	if cut {
		s = s[:prefix(s, maxShown-1)] + "…"
	}
	return s
}

// Quoted returns Shown in double quotes.
func Quoted(s string) string { return `"` + Shown(s) + `"` }

// prefix returns how many bytes the first n characters of s take.
func prefix(s string, n int) int {
	at := 0
	for ; n > 0 && at < len(s); n-- {
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return at
}

// Sort orders errors as their places follow each other in the text, those without a
// place last, and keeps the first MaxErrors.
func Sort(errs []FieldError) []FieldError {
	slices.SortStableFunc(errs, func(a, b FieldError) int {
		if (a.Line == 0) != (b.Line == 0) {
			return cmp.Compare(b.Line, a.Line)
		}
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if len(errs) > MaxErrors {
		errs = errs[:MaxErrors:MaxErrors]
	}
	return errs
}
