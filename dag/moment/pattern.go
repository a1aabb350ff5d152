package moment

import (
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// A pattern is one of Java's DateTimeFormatter: letters stand for parts of a time, as
// often as they are repeated; all else stands for itself, letters in single quotes too.

// maxRepeat is how often a letter may be repeated.
const maxRepeat = 9

// letters are the parts of a time.
var letters = map[byte]func(c civil, at time.Time, n int) string{
	'y': func(c civil, _ time.Time, n int) string { return year(c.Year(), n) },
	'u': func(c civil, _ time.Time, n int) string { return year(c.Year(), n) },
	'Y': func(c civil, _ time.Time, n int) string { y, _ := c.week(1); return year(y, n) },
	'M': func(c civil, _ time.Time, n int) string { return month(c, n) },
	'L': func(c civil, _ time.Time, n int) string { return month(c, n) },
	'd': func(c civil, _ time.Time, n int) string { return pad(c.Day(), n) },
	'D': func(c civil, _ time.Time, n int) string { return pad(c.YearDay(), n) },
	'w': func(c civil, _ time.Time, n int) string { _, w := c.week(1); return pad(w, n) },
	'Q': func(c civil, _ time.Time, n int) string { return pad((int(c.Month())+2)/3, n) },
	'E': func(c civil, _ time.Time, n int) string { return name(c.Weekday().String(), n) },
	'H': func(c civil, _ time.Time, n int) string { return pad(c.Hour(), n) },
	'k': func(c civil, _ time.Time, n int) string { return pad((c.Hour()+23)%24+1, n) },
	'h': func(c civil, _ time.Time, n int) string { return pad((c.Hour()+11)%12+1, n) },
	'K': func(c civil, _ time.Time, n int) string { return pad(c.Hour()%12, n) },
	'm': func(c civil, _ time.Time, n int) string { return pad(c.Minute(), n) },
	's': func(c civil, _ time.Time, n int) string { return pad(c.Second(), n) },
	'S': func(c civil, _ time.Time, n int) string { return pad(c.Nanosecond(), 9)[:n] },
	'a': func(c civil, _ time.Time, _ int) string { return c.Format("PM") },
	'X': func(c civil, at time.Time, n int) string { return zone(c, at, "Z07", "Z0700", "Z07:00", n) },
	'x': func(c civil, at time.Time, n int) string { return zone(c, at, "-07", "-0700", "-07:00", n) },
	'Z': func(c civil, at time.Time, _ int) string { return c.in(at.Location()).Format("-0700") },
	'z': func(c civil, at time.Time, _ int) string { return c.in(at.Location()).Format("MST") },
	'V': func(_ civil, at time.Time, _ int) string { return at.Location().String() },
}

func pad(v, n int) string {
	text := strconv.Itoa(v)
	return strings.Repeat("0", max(0, n-len(text))) + text
}

func year(y, n int) string {
	if n == 2 {
		return pad(y%100, 2)
	}
	return pad(y, n)
}

func month(c civil, n int) string {
	if n <= 2 {
		return pad(int(c.Month()), n)
	}
	return name(c.Month().String(), n)
}

// name is a name of a day or a month: three letters, or all from four on.
func name(full string, n int) string {
	if n < 4 {
		return full[:3]
	}
	return full
}

func zone(c civil, at time.Time, one, two, three string, n int) string {
	return c.in(at.Location()).Format([]string{one, two, three}[min(n, 3)-1])
}

// part is a literal, or a letter that is repeated.
type part struct {
	literal string
	letter  func(c civil, at time.Time, n int) string
	n       int
}

// compilePattern reads a pattern. The places of errors count from its beginning.
func compilePattern(text string) (show, *Error) {
	if strings.TrimSpace(text) == "" {
		return nil, failf(0, "the pattern is empty: write one like yyyyMMdd")
	}
	var parts []part
	for i := 0; i < len(text); {
		c := text[i]
		switch {
		case c == '\'':
			literal, end, err := quoted(text, i)
			if err != nil {
				return nil, err
			}
			parts = append(parts, part{literal: literal})
			i = end
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z':
			n := 1
			for i+n < len(text) && text[i+n] == c {
				n++
			}
			letter, known := letters[c]
			if !known {
				return nil, failf(i, "the pattern's letter %s is not known; letters that stand for themselves want single quotes", document.Quoted(string(c)))
			}
			if n > maxRepeat {
				return nil, failf(i, "the pattern's letter %c is repeated more than %d times", c, maxRepeat)
			}
			parts = append(parts, part{letter: letter, n: n})
			i += n
		default:
			end := i
			for end < len(text) && text[end] != '\'' && (text[end]|0x20 < 'a' || text[end]|0x20 > 'z') {
				end++
			}
			parts = append(parts, part{literal: text[i:end]})
			i = end
		}
	}
	return func(c civil, at time.Time) (string, *Error) {
		var b strings.Builder
		for _, p := range parts {
			b.WriteString(p.literal)
			if p.letter != nil {
				b.WriteString(p.letter(c, at, p.n))
			}
		}
		return b.String(), nil
	}, nil
}

// quoted reads 'letters'; two quotes stand for one, within quotes and without.
func quoted(text string, from int) (literal string, end int, _ *Error) {
	if strings.HasPrefix(text[from:], "''") {
		return "'", from + 2, nil
	}
	var b strings.Builder
	for i := from + 1; i < len(text); i++ {
		if text[i] != '\'' {
			b.WriteByte(text[i])
			continue
		}
		if i+1 == len(text) || text[i+1] != '\'' {
			return b.String(), i + 1, nil
		}
		b.WriteByte('\'')
		i++
	}
	return "", 0, failf(from, "the pattern's quote has no end")
}
