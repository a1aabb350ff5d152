package document

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"
)

// field is one key of a struct, as its tags have it:
//
//	json:"name"           the key
//	doc:"..."             what it means, for the schema
//	rule:"..."            see rules
//	default:"..."         the value where the key is absent, in the text's own form
//	pattern:"..."         for the schema alone: the form of a text that Go code checks
type field struct {
	name    string
	index   int
	doc     string
	def     string
	pattern string
	rules
}

// rules are the parts of a rule tag, separated by commas: required, min=, max= (of a
// number, a duration, a text's bytes, a list's or map's length), enum=a|b, and
// later=c, words that the language has but this version does not.
type rules struct {
	required bool
	min, max string
	enum     []string
	later    []string
}

// fieldsOf reads the tags of a struct type. A wrong tag is a mistake of ours.
func fieldsOf(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		fields = append(fields, field{
			name: name, index: i,
			doc: f.Tag.Get("doc"), def: f.Tag.Get("default"), pattern: f.Tag.Get("pattern"),
			rules: rulesOf(f.Tag.Get("rule")),
		})
	}
	return fields
}

func rulesOf(tag string) rules {
	var r rules
	if tag == "" {
		return r
	}
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "required":
			r.required = true
		case "min":
			r.min = value
		case "max":
			r.max = value
		case "enum":
			r.enum = strings.Split(value, "|")
		case "later":
			r.later = strings.Split(value, "|")
		default:
			panic("document: rule " + strconv.Quote(part) + " is not known")
		}
	}
	return r
}

// bound reads a rule's limit for values of type t: a number, or a duration.
func bound(t reflect.Type, text string, absent float64) float64 {
	if text == "" {
		return absent
	}
	if t == reflect.TypeFor[Duration]() {
		d, err := ParseDuration(text)
		if err != nil {
			panic("document: rule limit " + text + " is no duration")
		}
		return float64(d)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic("document: rule limit " + text + " is no number")
	}
	return f
}

// Checker is what a type has that checks more of its own value than tags can say.
// field is where the value stands, "" for the document itself.
type Checker interface {
	CheckDocument(field *Path) []FieldError
}

// Check holds a struct's values against the rules of its tags, and returns every
// field that breaks one. The errors have no line; Place gives it to them. Keys that
// are absent break no rule but required.
func Check(v any, at *Path) []FieldError {
	c := &checking{structs: map[reflect.Type][]field{}}
	c.value(reflect.Indirect(reflect.ValueOf(v)), at)
	return c.errs
}

type checking struct {
	structs map[reflect.Type][]field
	errs    []FieldError
}

func (c *checking) value(v reflect.Value, at *Path) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if own, ok := v.Interface().(Checker); ok {
		c.errs = append(c.errs, own.CheckDocument(at)...)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		fields, ok := c.structs[v.Type()]
		if !ok {
			fields = fieldsOf(v.Type())
			c.structs[v.Type()] = fields
		}
		for i := range fields {
			f := &fields[i]
			fv := v.Field(f.index)
			p := at.Key(f.name)
			if err := f.broken(fv, p); err != nil {
				c.errs = append(c.errs, *err)
				continue
			}
			c.value(fv, p)
		}
	case reflect.Slice:
		if k := v.Type().Elem().Kind(); k != reflect.Struct && k != reflect.Interface && k != reflect.Pointer {
			return
		}
		for i := range v.Len() {
			c.value(v.Index(i), at.Index(i))
		}
	default:
	}
}

// broken holds one value against its field's rules.
func (f *field) broken(v reflect.Value, at *Path) *FieldError {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return f.brokenText(v.String(), at)
	case reflect.Slice, reflect.Map:
		if v.Kind() == reflect.Slice && v.IsNil() {
			return nil // absent; Decode says what is required
		}
		return f.brokenRange(float64(v.Len()), v.Type(), at, "it has "+strconv.Itoa(v.Len())+" entries", "")
	case reflect.Int, reflect.Int64:
		n := v.Int()
		shown := strconv.FormatInt(n, 10)
		if v.Type() == reflect.TypeFor[Duration]() {
			shown = FormatDuration(time.Duration(n))
		}
		return f.brokenRange(float64(n), v.Type(), at, shown, shown)
	case reflect.Float64:
		shown := strconv.FormatFloat(v.Float(), 'g', -1, 64)
		return f.brokenRange(v.Float(), v.Type(), at, shown, shown)
	default:
		return nil
	}
}

func (f *field) brokenText(s string, at *Path) *FieldError {
	if s == "" {
		if f.required {
			return &FieldError{Field: at.String(), Code: CodeRequired, Message: Quoted(f.name) + " must not be empty"}
		}
		return nil
	}
	for _, word := range f.later {
		if s == word {
			return &FieldError{
				Field: at.String(), Code: CodeNotAvailable, Value: Shown(s),
				Message: Quoted(s) + " is not available yet: it comes in a later version; now it can be " + oneOf(f.enum),
			}
		}
	}
	if f.enum != nil {
		for _, word := range f.enum {
			if s == word {
				return nil
			}
		}
		message := Quoted(s) + " is not known here: want " + oneOf(f.enum)
		if near := Nearest(s, f.enum); near != "" {
			message += "; did you mean " + Quoted(near) + "?"
		}
		return &FieldError{Field: at.String(), Code: CodeNotInEnum, Value: Shown(s), Message: message}
	}
	if len(s) > int(min(bound(reflect.TypeFor[string](), f.max, math.MaxInt32), math.MaxInt32)) {
		return &FieldError{
			Field: at.String(), Code: CodeTooLarge, Value: Shown(s),
			Message: fmt.Sprintf("%s has %d bytes, at most %s are allowed", Quoted(f.name), len(s), f.max),
		}
	}
	return nil
}

func (f *field) brokenRange(v float64, t reflect.Type, at *Path, is, shown string) *FieldError {
	if v >= bound(t, f.min, math.Inf(-1)) && v <= bound(t, f.max, math.Inf(1)) {
		return nil
	}
	var want string
	switch {
	case f.min == "":
		want = "at most " + f.max
	case f.max == "":
		want = "at least " + f.min
	default:
		want = f.min + " to " + f.max
	}
	return &FieldError{
		Field: at.String(), Code: CodeOutOfRange, Value: shown,
		Message: fmt.Sprintf("%s is out of range: %s, allowed is %s", Quoted(f.name), is, want),
	}
}

// oneOf lists words for people: a, b or c.
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
