package document

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// field is one key of a struct, as its tags have it:
//
//	json:"name"           the key
//	doc:"..."             what it means, for the schema
//	rule:"..."            see rules
//	default:"..."         the value where the key is absent, in the text's own form
//	pattern:"..."         for the schema alone: the form of a text that Go code checks
//	editor:"..."          for the schema alone: which control a form takes, where its type does not say it
//	advanced:"true"       for the schema alone: a form shows it only when asked
type field struct {
	name    string
	index   int
	doc     string
	def     string
	pattern string
	editor  string
	folded  bool // advanced
	deep    bool // the value has rules of its own inside
	rules
}

// rules are the parts of a rule tag, separated by commas: required, min=, max= (of a
// number, a duration, a text's bytes, a list's or map's length) and enum=a|b. A number or a
// duration whose min is above zero is a pointer or has a default: an absent one would
// look like zero.
type rules struct {
	required  bool
	min, max  string
	low, high float64 // min and max in the unit of the field's type
	enum      []string
}

// structs remembers the tags of the struct types that were asked for, a handful of our
// own: a definition has thousands of values of them, and reading tags is slow.
var structs sync.Map // reflect.Type to []field

// fieldsOf returns the keys of a struct type.
func fieldsOf(t reflect.Type) []field {
	if known, ok := structs.Load(t); ok {
		return known.([]field)
	}
	fields := readTags(t)
	structs.Store(t, fields)
	return fields
}

// readTags reads the tags of a struct type. A wrong tag is a mistake of ours.
func readTags(t reflect.Type) []field {
	fields := make([]field, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		fields = append(fields, field{
			name: name, index: i, deep: isDeep(f.Type),
			doc: f.Tag.Get("doc"), def: f.Tag.Get("default"), pattern: f.Tag.Get("pattern"),
			editor: f.Tag.Get("editor"), folded: f.Tag.Get("advanced") == "true",
			rules: rulesOf(f.Type, f.Tag.Get("rule")),
		})
	}
	return fields
}

// isDeep tells whether values of a type have rules of their own inside.
func isDeep(t reflect.Type) bool {
	if t.Implements(reflect.TypeFor[Checker]()) {
		return true
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice:
		return isDeep(t.Elem())
	case reflect.Struct:
		return true
	default:
		return false
	}
}

func rulesOf(t reflect.Type, tag string) rules {
	r := rules{low: math.Inf(-1), high: math.Inf(1)}
	if tag == "" {
		return r
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	for part := range strings.SplitSeq(tag, ",") {
		name, value, _ := strings.Cut(part, "=")
		switch name {
		case "required":
			r.required = true
		case "min":
			r.min, r.low = value, bound(t, value)
		case "max":
			r.max, r.high = value, bound(t, value)
		case "enum":
			r.enum = strings.Split(value, "|")
		default:
			panic("document: rule " + strconv.Quote(part) + " is not known")
		}
	}
	return r
}

// bound reads a rule's limit for values of type t: a number, or a duration.
func bound(t reflect.Type, text string) float64 {
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
	var c checking
	c.value(reflect.Indirect(reflect.ValueOf(v)), at)
	return c.errs
}

type checking struct{ errs []FieldError }

func (c *checking) value(v reflect.Value, at *Path) {
	if len(c.errs) >= maxGathered {
		return
	}
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return
		}
		v = v.Elem()
	}
	if v.CanAddr() {
		// Through the pointer, which has the value's methods too and copies nothing.
		if own, ok := reflect.TypeAssert[Checker](v.Addr()); ok {
			c.errs = append(c.errs, own.CheckDocument(at)...)
			return
		}
	}
	switch v.Kind() {
	case reflect.Struct:
		fields := fieldsOf(v.Type())
		for i := range fields {
			f := &fields[i]
			fv := v.Field(f.index)
			if err := f.broken(fv); err != nil {
				err.Field = at.Key(f.name).String()
				c.errs = append(c.errs, *err)
			} else if f.deep {
				c.value(fv, at.Key(f.name))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			c.value(v.Index(i), at.Index(i))
		}
	default:
	}
}

// broken holds one value against its field's rules.
func (f *field) broken(v reflect.Value) *FieldError {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return nil
		}
		v = v.Elem()
	}
	switch v.Kind() {
	case reflect.String:
		return f.brokenText(v.String())
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			return nil // absent; Decode says what is required
		}
		if n := v.Len(); !f.holds(float64(n)) {
			return f.outOfRange("it has "+strconv.Itoa(n)+" entries", "")
		}
	case reflect.Int, reflect.Int64:
		if n := v.Int(); !f.holds(float64(n)) {
			shown := strconv.FormatInt(n, 10)
			if v.Type() == reflect.TypeFor[Duration]() {
				shown = FormatDuration(time.Duration(n))
			}
			return f.outOfRange(shown, shown)
		}
	case reflect.Float64:
		if n := v.Float(); !f.holds(n) {
			shown := strconv.FormatFloat(n, 'g', -1, 64)
			return f.outOfRange(shown, shown)
		}
	default:
	}
	return nil
}

func (f *field) holds(n float64) bool { return n >= f.low && n <= f.high }

func (f *field) brokenText(s string) *FieldError {
	switch {
	case s == "" && f.required:
		return &FieldError{Code: CodeRequired, Message: Quoted(f.name) + " must not be empty", Args: Args{"key": f.name}}
	case s == "":
		return nil
	case f.enum != nil && !slices.Contains(f.enum, s):
		message := Quoted(s) + " is not known here: want " + oneOf(f.enum)
		if near := Nearest(s, f.enum); near != "" {
			message += "; did you mean " + Quoted(near) + "?"
		}
		return &FieldError{Code: CodeNotInEnum, Value: Shown(s), Message: message, Args: Args{"allowed": f.enum}}
	case float64(len(s)) > f.high:
		return &FieldError{
			Code: CodeTooLarge, Value: Shown(s),
			Message: fmt.Sprintf("%s has %d bytes, at most %s are allowed", Quoted(f.name), len(s), f.max),
			Args:    Args{"size": len(s), "max": f.max},
		}
	}
	return nil
}

func (f *field) outOfRange(is, shown string) *FieldError {
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
		Code: CodeOutOfRange, Value: shown,
		Message: fmt.Sprintf("%s is out of range: %s, allowed is %s", Quoted(f.name), is, want),
		Args:    f.limits(),
	}
}

func (f *field) limits() Args {
	args := Args{}
	if f.min != "" {
		args["min"] = f.min
	}
	if f.max != "" {
		args["max"] = f.max
	}
	return args
}

// oneOf lists words for people: a, b or c.
func oneOf(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
