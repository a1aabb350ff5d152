package grep

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"regexp/syntax"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// MaxPattern bounds the text of a pattern, in bytes.
	MaxPattern = 1000
	// maxLiterals bounds the texts that a block is looked through for: each is a pass.
	maxLiterals = 16
	// maxMatches bounds the matches of one line that are told.
	maxMatches = 100
)

// ErrPattern is returned for a pattern that can't be searched for.
var ErrPattern = errors.New("bad_pattern")

// Pattern is what is looked for: a text, or an RE2 expression. Neither goes over a line end.
type Pattern struct {
	Text   string
	Regexp bool
	Case   bool // upper and lower case differ
}

// matcher finds a pattern in lines that hold nothing but what is shown.
type matcher struct {
	exact []byte         // nil: expr
	expr  *regexp.Regexp // may be nil where exact is not
	all   bool           // whoever asks can't tell further matches by himself
	// A line that matches holds one of these, lower case where fold is set. None: any line may.
	literals [][]byte
	fold     bool
}

func compile(p Pattern) (*matcher, error) {
	switch {
	case p.Text == "":
		return nil, fmt.Errorf("%w: it is empty", ErrPattern)
	case len(p.Text) > MaxPattern:
		return nil, fmt.Errorf("%w: it is longer than %d bytes", ErrPattern, MaxPattern)
	case !utf8.ValidString(p.Text) || strings.ContainsAny(p.Text, "\n\r"):
		return nil, fmt.Errorf("%w: it is not one line of UTF-8", ErrPattern)
	}
	if !p.Regexp && p.Case {
		return &matcher{exact: []byte(p.Text), literals: [][]byte{[]byte(p.Text)}}, nil
	}
	text := p.Text
	if !p.Regexp {
		text = regexp.QuoteMeta(text)
	}
	if !p.Case {
		text = "(?i:" + text + ")"
	}
	expr, err := regexp.Compile(text)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrPattern, err)
	}
	m := &matcher{expr: expr, all: p.Regexp}
	if tree, err := syntax.Parse(text, syntax.Perl); err == nil {
		var l literals
		if l.need(tree.Simplify()) {
			m.literals, m.fold = l.texts, l.fold
		}
	}
	if m.fold {
		for i, l := range m.literals {
			m.literals[i] = lower(nil, l)
		}
	}
	return m, nil
}

// find gives the first match in a line.
func (m *matcher) find(line []byte) (start, end int, ok bool) {
	if m.exact != nil {
		at := bytes.Index(line, m.exact)
		return at, at + len(m.exact), at >= 0
	}
	if at := m.expr.FindIndex(line); at != nil {
		return at[0], at[1], true
	}
	return 0, 0, false
}

// behind gives start and length of the matches after the first one, in UTF-16 units, one
// after the other. An empty one is left out: there is nothing of it to see.
func (m *matcher) behind(line []byte) []int {
	if !m.all {
		return nil
	}
	var more []int
	at, pos := 0, 0 // the same place, in bytes and in units
	for i, one := range m.expr.FindAllIndex(line, maxMatches) {
		if i == 0 || one[0] == one[1] {
			continue
		}
		start := pos + units(line[at:one[0]])
		length := units(line[one[0]:one[1]])
		more = append(more, start, length)
		at, pos = one[1], start+length
	}
	return more
}

// literals are texts of which a match must hold one.
type literals struct {
	texts [][]byte
	fold  bool
}

// need fills l from an expression; false says that a match need hold nothing known.
func (l *literals) need(re *syntax.Regexp) bool {
	switch re.Op {
	case syntax.OpLiteral:
		text := longestRun(re.Rune, re.Flags&syntax.FoldCase != 0)
		l.texts, l.fold = [][]byte{[]byte(text)}, re.Flags&syntax.FoldCase != 0
		return len(text) > 1
	case syntax.OpCapture, syntax.OpPlus:
		return l.need(re.Sub[0])
	case syntax.OpRepeat:
		return re.Min > 0 && l.need(re.Sub[0])
	case syntax.OpConcat:
		var best literals
		for _, sub := range re.Sub {
			var one literals
			if one.need(sub) && one.shortest() > best.shortest() {
				best = one
			}
		}
		*l = best
		return len(best.texts) > 0
	case syntax.OpAlternate:
		for _, sub := range re.Sub {
			var one literals
			if !one.need(sub) {
				return false
			}
			l.texts, l.fold = append(l.texts, one.texts...), l.fold || one.fold
		}
		return len(l.texts) <= maxLiterals
	case syntax.OpNoMatch, syntax.OpEmptyMatch, syntax.OpCharClass, syntax.OpAnyCharNotNL, syntax.OpAnyChar, syntax.OpBeginLine, syntax.OpEndLine,
		syntax.OpBeginText, syntax.OpEndText, syntax.OpWordBoundary, syntax.OpNoWordBoundary, syntax.OpStar, syntax.OpQuest:
	}
	return false
}

func (l *literals) shortest() int {
	n := 0
	for _, t := range l.texts {
		if n == 0 || len(t) < n {
			n = len(t)
		}
	}
	return n
}

// longestRun is the longest part of a literal that lower finds again whatever the case:
// letters beyond ASCII that have a case end a run. (That k and s have a third form is
// seen to in oddCase.)
func longestRun(runes []rune, fold bool) string {
	var best string
	var run strings.Builder
	for _, r := range runes {
		if fold && r >= utf8.RuneSelf && unicode.SimpleFold(r) != r {
			run.Reset()
			continue
		}
		run.WriteRune(r)
		if run.Len() > len(best) {
			best = run.String()
		}
	}
	return best
}

// The Kelvin sign and the long s are a k and an s to an expression that ignores case.
var odd = [][]byte{[]byte("\u212a"), []byte("\u017f")}

func oddCase(block []byte) bool {
	return bytes.Contains(block, odd[0]) || bytes.Contains(block, odd[1])
}

// lower appends text with ASCII letters in lower case.
func lower(out, text []byte) []byte {
	at := len(out)
	out = append(out, text...)
	for i, c := range out[at:] {
		if c-'A' < 26 {
			out[at+i] = c + ('a' - 'A')
		}
	}
	return out
}
