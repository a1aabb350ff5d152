package cron

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

// words are the expressions that have a name, in Unix fields.
var words = map[string]string{
	"@yearly":   "0 0 1 1 *",
	"@annually": "0 0 1 1 *",
	"@monthly":  "0 0 1 * *",
	"@weekly":   "0 0 * * 0",
	"@daily":    "0 0 * * *",
	"@midnight": "0 0 * * *",
	"@hourly":   "0 * * * *",
}

var wordNames = []string{"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly", "@every"}

// Bounds of @every. Ten years are more than any schedule waits, and far from overflow.
const (
	minEvery = time.Second
	maxEvery = 10 * 366 * 24 * time.Hour
)

// Parse reads an expression of five fields (Unix), six (Quartz, or Unix where that is
// asked for) or seven (Quartz), or a word such as @daily or @every 90s. The error is an
// *Errors, which has every mistake. What Parse accepts names at least one day of the
// calendar, and it may still be over: a year that is gone is no mistake.
func Parse(text string, d Dialect) (Expression, error) {
	p := parser{errs: Errors{Text: text}}
	p.e.text, p.e.dialect = text, d
	p.parse(text)
	if len(p.errs.List) > 0 {
		return Expression{}, &p.errs
	}
	return p.e, nil
}

type parser struct {
	e    Expression
	errs Errors
}

func (p *parser) parse(text string) {
	from := len(text) - len(strings.TrimLeft(text, blanks))
	switch d := p.e.dialect; {
	case d != Auto && d != Unix && d != Quartz:
		p.wrong(0, document.CodeNotInEnum, string(d), "there is no dialect %s: want %s", document.Quoted(string(d)), strings.Join(Dialects(), " or "))
	case len(text) > MaxText:
		p.wrong(MaxText, document.CodeTooLarge, "", "the expression has %d bytes, at most %d are allowed", len(text), MaxText)
	case from == len(text):
		p.wrong(0, document.CodeRequired, "", "the expression is empty: want %s fields", d.wants())
	case text[from] == '@':
		p.word(strings.TrimRight(text[from:], blanks), from)
	case strings.HasPrefix(text[from:], "TZ=") || strings.HasPrefix(text[from:], "CRON_TZ="):
		p.wrong(from, document.CodeInvalid, "", "the timezone does not belong into the expression: give it beside")
	default:
		p.fields(split(text, blanks, 0))
	}
}

// blanks stand between fields.
const blanks = " \t"

// part is a piece of the text, and the byte at which it begins.
type part struct {
	text string
	at   int
}

// split cuts a text at every separator; pieces without a byte are left out where blanks
// separate.
func split(text, separators string, at int) []part {
	var parts []part
	for from := 0; from <= len(text); {
		n := strings.IndexAny(text[from:], separators)
		if n < 0 {
			n = len(text) - from
		}
		if n > 0 || separators != blanks {
			parts = append(parts, part{text[from : from+n], at + from})
		}
		from += n + 1
	}
	return parts
}

// word reads what begins with @.
func (p *parser) word(text string, at int) {
	name, rest, _ := strings.Cut(text, " ")
	if p.e.dialect == Auto {
		p.e.dialect = Unix
	}
	switch fields, known := words[strings.ToLower(name)]; {
	case strings.EqualFold(name, "@every"):
		p.every(strings.TrimLeft(rest, blanks), at+len(text)-len(strings.TrimLeft(rest, blanks)))
	case !known:
		message := fmt.Sprintf("there is no %s: want one of %s", document.Quoted(name), strings.Join(wordNames, ", "))
		if near := document.Nearest(strings.ToLower(name), wordNames); near != "" {
			message += "; did you mean " + near + "?"
		}
		p.wrong(at, document.CodeInvalid, name, "%s", message)
	case rest != "":
		p.wrong(at+len(name)+1, document.CodeInvalid, rest, "nothing may follow %s", name)
	default:
		dialect := p.e.dialect
		p.e.dialect = Unix // of the table above; none of these differs in Quartz
		p.fields(split(fields, blanks, 0))
		p.e.dialect, p.e.fields = dialect, 0
	}
}

// every reads the duration of @every.
func (p *parser) every(text string, at int) {
	d, err := document.ParseDuration(text)
	switch {
	case errors.Is(err, document.ErrDuration):
		p.wrong(at, document.CodeInvalid, text, "@every %s: %v", document.Shown(text), err)
	case err != nil || d < minEvery || d > maxEvery || d%time.Second != 0:
		p.wrong(at, document.CodeOutOfRange, text, "@every %s is not a number of whole seconds in %s-%s",
			document.Shown(text), document.FormatDuration(minEvery), document.FormatDuration(maxEvery))
	default:
		p.e.every = int64(d / time.Second)
	}
}

// fields reads an expression of fields.
func (p *parser) fields(parts []part) {
	dialect, ok := p.e.dialect.resolve(len(parts))
	if !ok {
		what := "the expression"
		if p.e.dialect != Auto {
			what = "the " + string(p.e.dialect) + " expression"
		}
		n := fmt.Sprintf("%d fields", len(parts))
		if len(parts) == 1 {
			n = "1 field"
		}
		p.wrong(parts[0].at, document.CodeInvalid, "", "%s has %s, want %s", what, n, p.e.dialect.wants())
		return
	}
	p.e.dialect, p.e.fields = dialect, len(parts)
	f := second
	if len(parts) == 5 {
		p.e.sets[second], f = fill(0, 0), minute
	}
	var placed [fieldCount]part
	for _, whole := range parts {
		placed[f] = whole
		p.field(f, whole)
		f++
	}
	if f == year {
		p.e.all[year] = true
	}
	p.combine(placed[dayOfMonth], placed[dayOfWeek])
}

// combine decides what two day fields mean together.
func (p *parser) combine(ofMonth, ofWeek part) {
	if p.e.dialect == Unix {
		// Vixie cron: a field that begins with * does not name days, it leaves some out.
		p.e.either = !strings.HasPrefix(ofMonth.text, "*") && !strings.HasPrefix(ofWeek.text, "*") && ofMonth.text != "?" && ofWeek.text != "?"
	}
	open := func(text string) bool { return text == "*" || text == "?" }
	switch {
	case ofMonth.text == "?" && ofWeek.text == "?":
		p.wrongField(dayOfWeek, ofWeek.at, document.CodeInvalid, "?", "only one of day of month and day of week may be ?: write * for the other one")
	case p.e.dialect == Quartz && !open(ofMonth.text) && !open(ofWeek.text):
		p.wrongField(dayOfWeek, ofWeek.at, document.CodeInvalid, ofWeek.text, "day of month and day of week are both set, and Quartz has no meaning for that: write ? for one of them")
	case len(p.errs.List) == 0 && !p.e.possible():
		at, f := ofMonth.at, dayOfMonth
		if open(ofMonth.text) {
			at, f = ofWeek.at, dayOfWeek
		}
		p.wrongField(f, at, CodeNeverFires, "", "it would never fire: no month that it names has such a day")
	}
}

// field reads one field.
func (p *parser) field(f field, whole part) {
	if whole.text == "?" {
		p.e.all[f] = true
		if f != dayOfMonth && f != dayOfWeek {
			p.wrongField(f, whole.at, document.CodeInvalid, "?", "%s cannot be ?, only the day fields can: write *", spans[f].name)
		}
		return
	}
	elements := split(whole.text, ",", whole.at)
	if len(elements) > MaxList {
		p.wrongField(f, elements[MaxList].at, document.CodeTooLarge, "", "%s has a list of %d elements, at most %d are allowed", spans[f].name, len(elements), MaxList)
		return
	}
	for _, el := range elements {
		e := element{parser: p, f: f, span: spanOf(f, p.e.dialect), part: el}
		e.read()
	}
	low, high := 0, spans[f].max
	switch f {
	case dayOfMonth, month:
		low = 1
	case dayOfWeek:
		high = 6
	case year:
		high = lastYear - firstYear
	case second, minute, hour, fieldCount:
	}
	if p.e.sets[f] == fill(low, high) {
		p.e.all[f] = true
		p.e.real = p.e.real || f == minute || f == hour
	}
}

// wrong notes a mistake that is about the whole; at counts from 0.
func (p *parser) wrong(at int, code, value, format string, args ...any) {
	p.errs.add(Error{Column: at + 1, Code: code, Value: value, Message: fmt.Sprintf(format, args...)})
}

// wrongField notes a mistake of one field.
func (p *parser) wrongField(f field, at int, code, value, format string, args ...any) {
	p.errs.add(Error{Column: at + 1, Field: spans[f].name, Code: code, Value: value, Message: fmt.Sprintf(format, args...)})
}
