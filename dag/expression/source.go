package expression

import (
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/parser/utils"

	"github.com/porpoise/porpoise/dag/document"
)

// source is a text made ready for the parser, character by character, so that places
// stay what they are: === and !== lose their third sign, and each ${name} outside of
// quotes becomes one identifier.
type source struct {
	text  []rune
	bytes []int          // where each character begins in the text as written
	names map[int]string // by the place of its first character: what a ${name} stands for
}

// refused are the operators of the parser's grammar that this language does not have.
var refused = map[string]string{
	"=":   "= sets nothing here: to compare, write ==",
	"|":   "there are no pipes: for one or the other, write ||",
	"&":   "& is not known: for both, write &&",
	";":   "only one expression is allowed: there is no ;",
	"#":   "there are no closures: # is not known",
	"?.":  "?. is not known: for a default, write a.b ?? default",
	"::":  ":: is not known",
	"..":  "there are no ranges: compare with >= and <=",
	"^":   "^ is not known: for a power, write **",
	"let": "there are no variables: let is not known",
	"if":  "there is no if: write condition ? value : other",
}

// prepare makes a text ready, or says what in it no expression has.
func prepare(text string) (*source, *Error) {
	if len(text) > MaxText {
		return nil, failf(MaxText, "the expression has %d bytes, at most %d are allowed", len(text), MaxText)
	}
	if !utf8.ValidString(text) {
		return nil, failf(0, "the expression is not valid UTF-8")
	}
	if strings.TrimSpace(text) == "" {
		return nil, failf(0, "the expression is empty")
	}
	s := &source{text: []rune(text), names: map[int]string{}, bytes: make([]int, 0, len(text)+1)}
	for i := range text {
		s.bytes = append(s.bytes, i)
	}
	s.bytes = append(s.bytes, len(text))
	for at := 0; at < len(s.text); {
		next, err := s.step(at)
		if err != nil {
			return nil, err
		}
		at = next
	}
	return s, nil
}

// place is the byte in the text as written of the character at a place of the parser's.
func (s *source) place(at int) int { return s.bytes[min(max(at, 0), len(s.bytes)-1)] }

// step reads one sign, word, string or comment and returns where the next one begins.
func (s *source) step(at int) (int, *Error) {
	r := s.text[at]
	switch {
	case r == '"' || r == '\'':
		return s.quoted(at, r)
	case r == '`':
		return s.raw(at), nil
	case s.has(at, "//"):
		return s.until(at, "\n"), nil
	case s.has(at, "/*"):
		return s.until(at+2, "*/"), nil
	case s.has(at, "${"):
		return s.placeholder(at)
	case utils.IsAlphaNumeric(r):
		return s.word(at)
	}
	return s.sign(at)
}

func (s *source) has(at int, sign string) bool {
	for _, r := range sign {
		if at >= len(s.text) || s.text[at] != r {
			return false
		}
		at++
	}
	return true
}

func (s *source) quoted(at int, quote rune) (int, *Error) {
	end := at + 1
	for ; end < len(s.text) && s.text[end] != quote && s.text[end] != '\n'; end++ {
		if s.text[end] == '\\' {
			end++
		}
	}
	if end >= len(s.text) || s.text[end] == '\n' {
		return 0, failf(s.place(at), "the text has no closing quote on its line")
	}
	return end + 1, nil
}

// raw and until find the end of what they begin with; where there is none, the parser
// says so.
func (s *source) raw(at int) int {
	for at++; at < len(s.text) && (s.text[at] != '`' || s.has(at, "``")); at++ {
		if s.text[at] == '`' {
			at++
		}
	}
	return at + 1
}

func (s *source) until(at int, end string) int {
	for at < len(s.text) && !s.has(at, end) {
		at++
	}
	return at + len(end)
}

// placeholder turns ${name} into an identifier as long as itself.
func (s *source) placeholder(at int) (int, *Error) {
	end := at + 2
	for end < len(s.text) && s.text[end] != '}' {
		end++
	}
	if end == len(s.text) {
		return 0, failf(s.place(at), "${ has no closing brace")
	}
	name := string(s.text[at+2 : end])
	if message := wrongName(name); message != "" {
		return 0, failf(s.place(at), "%s", message)
	}
	end++
	if touches := end < len(s.text) && utils.IsAlphaNumeric(s.text[end]); touches || at > 0 && utils.IsAlphaNumeric(s.text[at-1]) {
		return 0, failf(s.place(at), "an operator is missing beside ${%s}; to put texts together, write \"${a}${b}\"", document.Shown(name))
	}
	for i := at + 1; i < end; i++ {
		s.text[i] = '_'
	}
	s.names[at] = name
	return end, nil
}

// wrongName says why ${name} stands for nothing.
func wrongName(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "${} names nothing"
	case strings.ContainsAny(name, "${\"'`\n"):
		return "${" + document.Shown(name) + "} is no name: write the name of a parameter, or task.output"
	}
	return ""
}

func (s *source) word(at int) (int, *Error) {
	end := at
	for end < len(s.text) && utils.IsAlphaNumeric(s.text[end]) && !s.has(end, "${") {
		end++
	}
	word := string(s.text[at:end])
	if strings.Contains(word, "$") {
		return 0, failf(s.place(at), "%s is no name: for a parameter write its name, or ${name}", document.Quoted(word))
	}
	if message := refused[word]; message != "" && (at == 0 || s.text[at-1] != '.') {
		return 0, failf(s.place(at), "%s; to read a parameter of this name write ${%s}", message, word)
	}
	return end, nil
}

// sign reads an operator and drops the third sign of === and !==.
func (s *source) sign(at int) (int, *Error) {
	for _, strict := range []string{"===", "!=="} {
		if s.has(at, strict) {
			s.text[at+2] = ' '
			return at + 3, nil
		}
	}
	for _, known := range []string{"==", "!=", ">=", "<=", "&&", "||", "**", "??"} {
		if s.has(at, known) {
			return at + 2, nil
		}
	}
	for _, two := range []string{"?.", "::", ".."} {
		if s.has(at, two) {
			return 0, failf(s.place(at), "%s", refused[two])
		}
	}
	if message := refused[string(s.text[at])]; message != "" {
		return 0, failf(s.place(at), "%s", message)
	}
	return at + 1, nil
}
