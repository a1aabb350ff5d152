package dolphin

import (
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/porpoise/porpoise/dag"
)

// names makes names that are allowed here and differ, whatever their case.
type names map[string]int // a name's form for comparison, and the last number put behind it

// take returns the name that something called was is given; kind and code stand in for a
// name of which nothing is left.
func (n names) take(was, kind string, code int64) string {
	name := allowed(was)
	if name == "" {
		name = kind + " " + strconv.FormatInt(code, 10)
	}
	unique, folded := name, dag.FoldName(name)
	for n[dag.FoldName(unique)] > 0 {
		n[folded]++
		suffix := " " + strconv.Itoa(n[folded])
		unique = cut(name, dag.MaxName-len(suffix)) + suffix
	}
	n[dag.FoldName(unique)] = 1
	return unique
}

// allowed returns the nearest name that CheckName takes, "" where there is none.
func allowed(was string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r) || strings.ContainsRune("._- ", r):
			return r
		case unicode.IsSpace(r):
			return ' '
		}
		return '_'
	}, norm.NFC.String(strings.ToValidUTF8(was, "_")))
	name = strings.TrimRight(strings.TrimLeftFunc(name, func(r rune) bool { return strings.ContainsRune(".- ", r) || unicode.IsMark(r) }), " ")
	name = strings.TrimRight(cut(name, dag.MaxName), " ")
	if len(dag.CheckName("", name)) > 0 {
		return ""
	}
	return name
}

// cut returns at most n characters.
func cut(text string, n int) string {
	for at := range text {
		if n == 0 {
			return text[:at]
		}
		n--
	}
	return text
}

// identifier returns the nearest name that a variable may have here.
func identifier(was string) string {
	name := strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, was)
	switch {
	case strings.Trim(name, "_") == "":
		name = "p" + strconv.Itoa(len(was)) + name
	case name[0] >= '0' && name[0] <= '9':
		name = "_" + name
	}
	name = cut(name, dag.MaxName)
	if len(dag.CheckVariable("", name)) > 0 { // one that changes how processes run
		name = cut("p_"+name, dag.MaxName)
	}
	return name
}
