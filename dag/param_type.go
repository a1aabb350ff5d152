package dag

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag/document"
)

// dateForms are how a date may be written.
var dateForms = [...]string{"2006-01-02", "20060102"}

func parseDate(text string) (time.Time, bool) {
	for _, form := range dateForms {
		if day, err := time.Parse(form, text); err == nil {
			return day, true
		}
	}
	return time.Time{}, false
}

// parseList reads a JSON list of texts, numbers and booleans; false where it is none.
func parseList(text string) ([]any, bool) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var list []any
	if err := d.Decode(&list); err != nil || list == nil || d.More() {
		return nil, false
	}
	for i, v := range list {
		switch v := v.(type) {
		case string, bool:
		case json.Number:
			list[i] = number(v)
		default:
			return nil, false
		}
	}
	return list, true
}

// number is what an expression takes a JSON number for.
func number(n json.Number) any {
	if whole, err := n.Int64(); err == nil {
		return whole
	}
	if f, err := n.Float64(); err == nil {
		return f
	}
	return n.String()
}

// Fits tells whether a value is of the type.
func (t ParamType) Fits(value string) bool { return t.wrong(value) == "" }

// wrong says why value is not of the type t.
func (t ParamType) wrong(value string) string {
	const quotes = "; to keep it as text, put it in quotes"
	switch t {
	case ParamInteger:
		if _, err := strconv.ParseInt(value, 10, 64); err != nil || !document.IsInteger(value) {
			return "want a whole number of 64 bits, not " + document.Quoted(value)
		}
	case ParamNumber:
		f, err := strconv.ParseFloat(value, 64)
		if err != nil || !document.IsNumber(value) || math.IsInf(f, 0) {
			return "want a number, not " + document.Quoted(value) + quotes
		}
	case ParamBoolean:
		if value != "true" && value != "false" {
			return "want true or false, not " + document.Quoted(value)
		}
	case ParamDate:
		if _, ok := parseDate(value); !ok {
			return "want a date such as 2026-03-29 or 20260329, not " + document.Quoted(value)
		}
	case ParamList:
		if _, ok := parseList(value); !ok {
			return `want a list of values such as ["a", "b"], not ` + document.Quoted(value)
		}
	case ParamString:
	}
	return ""
}

// measure is what min and max bound: a number itself, a date's day, a text's characters, a
// list's values.
func (t ParamType) measure(value string) (float64, bool) {
	switch t {
	case ParamInteger, ParamNumber:
		f, err := strconv.ParseFloat(value, 64)
		return f, err == nil
	case ParamDate:
		day, ok := parseDate(value)
		return float64(day.Unix()), ok
	case ParamList:
		list, ok := parseList(value)
		return float64(len(list)), ok
	case ParamString:
		return float64(utf8.RuneCountInString(value)), true
	case ParamBoolean:
	}
	return 0, false
}

// bound reads a min or max: of a text or a list it is a number of characters or values.
func (t ParamType) bound(text string) (float64, string) {
	kind := t
	if t == ParamString || t == ParamList {
		kind = ParamInteger
	}
	if t == ParamBoolean {
		return 0, "true and false have no min and max"
	}
	if message := kind.wrong(text); message != "" {
		return 0, message
	}
	f, _ := kind.measure(text)
	return f, ""
}

// outside says that a value is beyond min or max.
func (p *Param) outside(value string) string {
	is, ok := p.Type.measure(value)
	if !ok {
		return ""
	}
	what := map[ParamType]string{ParamString: " characters", ParamList: " values"}[p.Type]
	if low, wrong := p.Type.bound(p.Min); p.Min != "" && wrong == "" && is < low {
		return fmt.Sprintf("%s is less than %s%s", document.Quoted(value), p.Min, what)
	}
	if high, wrong := p.Type.bound(p.Max); p.Max != "" && wrong == "" && is > high {
		return fmt.Sprintf("%s is more than %s%s", document.Quoted(value), p.Max, what)
	}
	return ""
}

// checkRules holds pattern, min and max against the type.
func (p *Param) checkRules(field string) []FieldError {
	var errs []FieldError
	low, high := 0.0, 0.0
	for _, rule := range []struct {
		name, text string
		into       *float64
	}{{"min", p.Min, &low}, {"max", p.Max, &high}} {
		if rule.text == "" {
			continue
		}
		var message string
		if *rule.into, message = p.Type.bound(rule.text); message != "" {
			errs = append(errs, FieldError{Field: field + "." + rule.name, Code: document.CodeWrongType, Message: message, Value: document.Shown(rule.text)})
		}
	}
	if p.Min != "" && p.Max != "" && len(errs) == 0 && low > high {
		errs = append(errs, FieldError{Field: field + ".max", Code: document.CodeOutOfRange, Message: "max is less than min: no value fits", Value: document.Shown(p.Max)})
	}
	if p.Pattern == "" {
		return errs
	}
	at := field + ".pattern"
	if p.Type != ParamString && p.Type != ParamList {
		return append(errs, FieldError{Field: at, Code: CodeConflict, Message: "a pattern is for texts and lists of them", Value: document.Shown(p.Pattern)})
	}
	if _, err := regexp.Compile(wholePattern(p.Pattern)); err != nil {
		message := "the pattern does not parse: " + strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		errs = append(errs, FieldError{Field: at, Code: document.CodeSyntax, Message: message, Value: document.Shown(p.Pattern)})
	}
	return errs
}

// wholePattern binds a pattern to the whole of a value.
func wholePattern(pattern string) string { return `^(?:` + pattern + `)$` }

// parts are the texts that enum and pattern are about: each of a list, else the value.
func (p *Param) parts(value string) []string {
	if p.Type != ParamList {
		return []string{value}
	}
	list, _ := parseList(value)
	parts := make([]string, len(list))
	for i, v := range list {
		parts[i] = fmt.Sprint(v)
	}
	return parts
}

// valueText is a value as it is written: a text, a number, a boolean, or a list of them,
// which becomes JSON.
type valueText string

// ValueText is a parameter's value in any document: a text, a number, a boolean, or a list of them, which
// becomes JSON.
type ValueText = valueText

// ReadDocument takes a scalar or a list of scalars.
func (v *valueText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	if n.Kind != document.List {
		var text document.Text
		text.ReadDocument(d, n, at)
		*v = valueText(text)
		return
	}
	list := make([]json.RawMessage, len(n.Items))
	for i := range n.Items {
		var text document.Text
		text.ReadDocument(d, &n.Items[i], at.Index(i))
		list[i] = json.RawMessage(text)
		if kind := n.Items[i].Kind; kind != document.Bool && (kind != document.Number || !document.IsNumber(string(text))) {
			list[i], _ = json.Marshal(string(text)) // a text always has JSON
		}
	}
	text, err := json.Marshal(list)
	if err != nil {
		d.Want(n, at, "a list of values")
		return
	}
	*v = valueText(text)
}

// DescribeDocument describes both forms.
func (valueText) DescribeDocument(s *document.Schemas) document.Schema {
	return document.Schema{"type": []string{"string", "number", "boolean", "array"}, "items": s.Of(reflect.TypeFor[document.Text]())}
}
