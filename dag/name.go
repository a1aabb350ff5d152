package dag

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/porpoise/porpoise/dag/document"
)

// MaxName is how many characters the name of a project, workflow or task may have.
const MaxName = 128

// namePattern is CheckName's rule as the schema shows it.
const namePattern = `^[\p{L}\p{N}_][\p{L}\p{N}\p{M}._ -]*$`

// CheckName holds the name of a project, workflow or task against the rules: 1 to 128
// letters or digits of any script, and . _ - and space; in Unicode form NFC; no dot,
// dash or space in front, no space at the end. Names never become file paths.
func CheckName(field, name string) []FieldError {
	fail := func(code, message string) []FieldError {
		return []FieldError{{Field: field, Code: code, Message: message, Value: document.Shown(name)}}
	}
	switch {
	case strings.TrimSpace(name) == "":
		return fail(document.CodeRequired, "a name must not be empty")
	case !utf8.ValidString(name):
		return fail(document.CodeEncoding, "the name is not valid UTF-8")
	case utf8.RuneCountInString(name) > MaxName:
		return fail(document.CodeTooLarge, fmt.Sprintf("the name has %d characters, at most %d are allowed", utf8.RuneCountInString(name), MaxName))
	}
	for i, r := range name {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || r == '_':
		case i > 0 && (unicode.IsMark(r) || r == '.' || r == '-' || r == ' '):
		case i == 0 && (r == '.' || r == '-' || r == ' '):
			return fail(CodeInvalidName, fmt.Sprintf("a name must not begin with %q", r))
		default:
			return fail(CodeInvalidName, fmt.Sprintf("the character %q (U+%04X) is not allowed in a name: use letters, digits, dot, dash, underscore and space", r, r))
		}
	}
	switch {
	case strings.HasSuffix(name, " "):
		return fail(CodeInvalidName, "a name must not end with a space")
	case !norm.NFC.IsNormalString(name):
		return fail(CodeInvalidName, "the name is not in Unicode form NFC: type it again, or save the file in that form")
	}
	return nil
}

// FoldName returns the form in which names are compared: two names with the same one
// are the same name. It may be longer than the name.
func FoldName(name string) string {
	ascii := true
	for i := range len(name) {
		if name[i] >= utf8.RuneSelf {
			ascii = false
			break
		}
	}
	if ascii {
		return strings.ToLower(name)
	}
	// Folding can take a text out of NFC, and the other way round.
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// isIdentifier tells whether name can be an environment variable: a letter or
// underscore, then letters, digits and underscores, all of them ASCII.
func isIdentifier(name string) bool {
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && len(name) <= MaxName
}

// CheckVariable holds the name of a parameter or an output against the rules: letters, digits
// and underscores, no digit in front, and none of those that change how processes run.
func CheckVariable(field, name string) []FieldError { return checkVariable(field, name, "a parameter") }

// checkVariable checks the name of a parameter or an output. Both become environment
// variables, so that names which change how an interpreter starts are refused.
func checkVariable(field, name, what string) []FieldError {
	if !isIdentifier(name) {
		return []FieldError{{
			Field: field, Code: CodeInvalidName, Value: document.Shown(name),
			Message: what + " " + document.Quoted(name) + " is not a variable's name: use letters, digits and underscores, not a digit in front, at most 128",
		}}
	}
	if refusedVariable(name) {
		return []FieldError{{
			Field: field, Code: CodeReservedName, Value: document.Shown(name),
			Message: what + " must not be called " + document.Quoted(name) + ": this variable changes how processes run",
		}}
	}
	return nil
}

func refusedVariable(name string) bool {
	switch name {
	case "PATH", "IFS", "ENV", "BASH_ENV":
		return true
	}
	return strings.HasPrefix(name, "LD_") || strings.HasPrefix(name, "PYTHON") || strings.HasPrefix(name, ownPrefix)
}

// ownPrefix is of the variables that Porpoise itself gives to a task.
const ownPrefix = "PORPOISE_"
