package dag

import (
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/porpoise/porpoise/dag/document"
)

// MaxValue is how many bytes one value of a parameter, an output or a variable may
// have. Linux takes at most 128 KiB for one variable with its name.
const MaxValue = 100 << 10

// paramText is a parameter: a plain value, or a map that says more.
type paramText struct {
	Type        string          `json:"type" rule:"enum=string|integer|number|boolean|date|list" doc:"What kind of value it takes; where nothing is said, that of its default."`
	Default     *valueText      `json:"default" doc:"The value where the start gives none."`
	Description string          `json:"description" rule:"max=4096" editor:"text" doc:"What the parameter is for, in words."`
	Enum        []document.Text `json:"enum" rule:"min=1,max=1000" editor:"names" doc:"The values that it may take; of a list, each of its values."`
	Pattern     string          `json:"pattern" rule:"max=256" advanced:"true" doc:"A regular expression (RE2) that the whole text fits; of a list, each of its values."`
	Min         *document.Text  `json:"min" advanced:"true" doc:"The least number or date; of a text its characters, of a list its values."`
	Max         *document.Text  `json:"max" advanced:"true" doc:"The greatest, likewise."`

	plain bool // written as a value alone
}

// paramRules is paramText without its own reading, so that the reading can use the tags.
type paramRules paramText

// ReadDocument takes a plain value as the default, and its kind as the type.
func (p *paramText) ReadDocument(d *document.Decoder, n *document.Node, at *document.Path) {
	switch n.Kind {
	case document.Map:
		d.Struct(n, at, document.Keys{Whose: "a parameter"}, (*paramRules)(p))
		if p.Type == "" {
			p.Type = string(kindOf(n.Get("default")))
		}
	case document.Null:
		d.Want(n, at, "a value, or a map with type, default, description or enum")
	case document.Bool, document.Number, document.String, document.List:
		p.plain = true
		p.Type = string(kindOf(n))
		p.Default = new(valueText)
		p.Default.ReadDocument(d, n, at)
	}
}

// DescribeDocument describes both forms.
func (paramText) DescribeDocument(s *document.Schemas) document.Schema {
	form := s.Object(reflect.TypeFor[paramRules]())
	return document.Schema{"anyOf": []any{s.Of(reflect.TypeFor[valueText]()), form}}
}

func kindOf(n *document.Node) ParamType {
	switch {
	case n == nil:
		return ParamString
	case n.Kind == document.List:
		return ParamList
	case n.Kind == document.Bool:
		return ParamBoolean
	case n.Kind == document.Number && document.IsInteger(n.Text):
		return ParamInteger
	case n.Kind == document.Number:
		return ParamNumber
	default:
		return ParamString
	}
}

// params turns the text's parameters into the definition's, with what is wrong in
// them. Those of a task must all have a value.
func params(field string, entries document.Entries[paramText], ofTask bool) ([]Param, []FieldError) {
	if len(entries) == 0 {
		return nil, nil
	}
	var errs []FieldError
	out := make([]Param, len(entries))
	for i := range entries {
		e := &entries[i]
		p := &out[i]
		*p = Param{Name: e.Name, Type: ParamType(e.Value.Type), Description: e.Value.Description, Pattern: e.Value.Pattern}
		if e.Value.Min != nil {
			p.Min = string(*e.Value.Min)
		}
		if e.Value.Max != nil {
			p.Max = string(*e.Value.Max)
		}
		if e.Value.Default != nil {
			value := string(*e.Value.Default)
			p.Default = &value
		}
		for _, v := range e.Value.Enum {
			p.Enum = append(p.Enum, string(v))
		}
		at := document.FieldKey(field, e.Name)
		errs = append(errs, checkVariable(at, e.Name, "a parameter")...)
		errs = append(errs, p.check(at, e.Value.plain)...)
		if ofTask && p.Default == nil {
			errs = append(errs, FieldError{
				Field: at, Code: document.CodeRequired,
				Message: "a task's parameter wants a value: nothing gives it one at the start",
			})
		}
	}
	return out, errs
}

// check holds a declared parameter's values against its own type and enum. plain says
// that the default is the whole of it, and stands at the field itself.
func (p *Param) check(field string, plain bool) []FieldError {
	errs := p.checkRules(field)
	kind := p.Type
	if kind == ParamList {
		kind = ParamString // enum holds the values of a list
	}
	for i, v := range p.Enum {
		at := field + ".enum[" + strconv.Itoa(i) + "]"
		if err := checkValue(at, v); err != nil {
			errs = append(errs, *err)
		} else if message := kind.wrong(v); message != "" {
			errs = append(errs, FieldError{Field: at, Code: document.CodeWrongType, Message: message, Value: document.Shown(v)})
		}
	}
	if p.Default == nil {
		return errs
	}
	at := field
	if !plain {
		at += ".default"
	}
	if err := checkValue(at, *p.Default); err != nil {
		return append(errs, *err)
	}
	if err := checkDates(at, *p.Default); err != nil {
		return append(errs, *err)
	}
	if moving(*p.Default) {
		return errs // known only when it is put in; Resolve checks it then
	}
	if code, message := p.wrong(*p.Default); message != "" {
		errs = append(errs, FieldError{Field: at, Code: code, Message: message, Value: document.Shown(*p.Default)})
	}
	return errs
}

// wrong says why value is none that p takes; the message is empty where it is one.
func (p *Param) wrong(value string) (code, message string) {
	if message := p.Type.wrong(value); message != "" {
		return document.CodeWrongType, message
	}
	if message := p.outside(value); message != "" {
		return document.CodeOutOfRange, message
	}
	if p.Enum == nil && p.Pattern == "" {
		return "", ""
	}
	pattern, err := regexp.Compile(wholePattern(p.Pattern)) // a wrong one is told of by itself
	for _, part := range p.parts(value) {
		if p.Enum != nil && !slices.Contains(p.Enum, part) {
			shown := p.Enum
			if len(shown) > 10 {
				shown = append(slices.Clone(shown[:10]), "...")
			}
			return document.CodeNotInEnum, document.Quoted(part) + " is not one of the allowed values: " + document.Shown(strings.Join(shown, ", "))
		}
		if p.Pattern != "" && err == nil && !pattern.MatchString(part) {
			return document.CodeInvalid, document.Quoted(part) + " does not fit the pattern " + document.Shown(p.Pattern)
		}
	}
	return "", ""
}

// checkText checks what holds for every value that becomes a part of an environment
// or a script.
func checkText(field, value string) *FieldError {
	switch {
	case !utf8.ValidString(value):
		return &FieldError{Field: field, Code: document.CodeEncoding, Message: "the text is not valid UTF-8", Value: document.Shown(value)}
	case strings.IndexByte(value, 0) >= 0:
		return &FieldError{Field: field, Code: document.CodeEncoding, Message: "a NUL character is not allowed", Value: document.Shown(value)}
	}
	return nil
}

// checkValue is checkText for a value with a limit of MaxValue.
func checkValue(field, value string) *FieldError {
	if len(value) > MaxValue {
		return &FieldError{
			Field: field, Code: document.CodeTooLarge, Value: document.Shown(value),
			Message: fmt.Sprintf("the value has %d bytes, at most %d are allowed", len(value), MaxValue),
		}
	}
	return checkText(field, value)
}

// CheckParams holds the parameters of a start against those that the workflow
// declares: unknown ones, values of another type, and missing ones without a default.
// The fields are params.<name>.
func CheckParams(def *Definition, start map[string]string) []FieldError {
	return checkGiven("params", "the workflow", "parameter", def.Params, start)
}

// checkGiven holds given values against what is declared. Whose and what say in messages whose declarations
// they are, and what one of them is.
func checkGiven(at, whose, what string, params []Param, given map[string]string) []FieldError {
	var errs []FieldError
	declared := make(map[string]bool, len(params))
	names := make([]string, len(params))
	for i := range params {
		p := &params[i]
		declared[p.Name] = true
		names[i] = p.Name
		field := document.FieldKey(at, p.Name)
		value, ok := given[p.Name]
		if !ok {
			if p.Default == nil {
				errs = append(errs, FieldError{Field: field, Code: document.CodeRequired, Message: "the " + what + " " + document.Quoted(p.Name) + " has no default: give it a value"})
			}
			continue
		}
		if err := checkValue(field, value); err != nil {
			errs = append(errs, *err)
		} else if code, message := p.wrong(value); message != "" {
			errs = append(errs, FieldError{Field: field, Code: code, Message: message, Value: document.Shown(value)})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if declared[name] {
			continue
		}
		message := whose + " has no " + what + " " + document.Quoted(name)
		if near := document.Nearest(name, names); near != "" {
			message += "; did you mean " + document.Quoted(near) + "?"
		}
		errs = append(errs, FieldError{Field: document.FieldKey(at, name), Code: CodeUnknownParam, Message: message, Value: document.Shown(name)})
	}
	return document.Sort(errs)
}
