package document

import (
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// Dialect is the version of JSON Schema that is written here.
const Dialect = "https://json-schema.org/draft/2020-12/schema"

// Schema is one JSON Schema, or a part of one. Its keys are written in order of name,
// so that the same types give the same bytes.
type Schema map[string]any

// Describer is what a type has that reads itself and therefore describes itself.
type Describer interface {
	DescribeDocument(s *Schemas) Schema
}

// Schemas gathers the definitions of named structs while a schema is built.
type Schemas struct {
	Defs map[string]any
}

// SchemaOf returns the JSON Schema (2020-12) of the type of v, a struct or a type that
// describes itself.
func SchemaOf(v any, id, title string) Schema {
	s := &Schemas{Defs: map[string]any{}}
	out := s.Of(reflect.TypeOf(v))
	if ref, ok := out["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, "#/$defs/")
		out = s.Defs[name].(Schema)
		delete(s.Defs, name)
	}
	out["$schema"] = Dialect
	out["$id"] = id
	out["title"] = title
	if len(s.Defs) > 0 {
		out["$defs"] = s.Defs
	}
	return out
}

// Of returns the schema of a type: a reference where it is a named struct.
func (s *Schemas) Of(t reflect.Type) Schema {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if own, ok := reflect.TypeAssert[Describer](reflect.New(t)); ok {
		return own.DescribeDocument(s)
	}
	switch t.Kind() {
	case reflect.Struct:
		name := defName(t.Name())
		if s.Defs[name] == nil {
			s.Defs[name] = true // taken, so that a type may hold itself
			s.Defs[name] = s.Object(t)
		}
		return Schema{"$ref": "#/$defs/" + name}
	case reflect.Slice:
		return Schema{"type": "array", "items": s.Of(t.Elem())}
	case reflect.Map:
		return Schema{"type": "object", "additionalProperties": scalarSchema()}
	case reflect.Bool:
		return Schema{"type": "boolean"}
	case reflect.Int:
		return Schema{"type": "integer"}
	case reflect.Float64:
		return Schema{"type": "number"}
	default:
		return Schema{"type": "string"}
	}
}

// Object returns the schema of a map that holds the keys of several structs and no
// other.
func (s *Schemas) Object(types ...reflect.Type) Schema {
	properties := map[string]any{}
	required := []string{}
	order := 0
	for _, t := range types {
		for _, f := range fieldsOf(t) {
			ft := t.Field(f.index).Type
			order += orderStep
			p := s.property(&f, ft)
			hint(p, &f, ft)
			p[Order] = order
			properties[f.name] = p
			if f.required {
				required = append(required, f.name)
			}
		}
	}
	out := Schema{"type": "object", "properties": properties, "additionalProperties": false}
	if len(required) > 0 {
		slices.Sort(required)
		out["required"] = required
	}
	return out
}

// The keywords of ours in a schema. A validator passes over them, a form is laid out by them.
const (
	Order    = "x-order"    // the place among the properties of one map, ascending
	Editor   = "x-editor"   // which control edits the value
	Advanced = "x-advanced" // true: shown only when asked
)

// orderStep leaves room between two properties for whoever puts some in.
const orderStep = 10

// hint adds what a form wants to know and a validator does not.
func hint(out Schema, f *field, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case f.editor != "":
		out[Editor] = f.editor
	case t == reflect.TypeFor[Duration]():
		out[Editor] = "duration"
	}
	if f.folded {
		out[Advanced] = true
	}
}

func (s *Schemas) property(f *field, t reflect.Type) Schema {
	out := s.Of(t)
	if f.doc != "" {
		out["description"] = f.doc
	}
	if f.enum != nil {
		out["enum"] = f.enum
	}
	if f.pattern != "" {
		if out["type"] == "array" {
			out["items"].(Schema)["pattern"] = f.pattern
		} else {
			out["pattern"] = f.pattern
		}
	}
	if f.def != "" {
		out["default"] = defaultOf(t, f.def)
	}
	s.limits(out, f, t)
	return out
}

// limits says min and max in the words that the type has for them. A duration has
// none in JSON Schema: its limits are said in words.
func (s *Schemas) limits(out Schema, f *field, t reflect.Type) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == reflect.TypeFor[Duration]() {
		if f.max != "" {
			least := f.min
			if least == "" {
				least = "0s"
			}
			out["description"] = strings.TrimSpace(f.doc + " (" + least + " to " + f.max + ")")
		}
		return
	}
	low, high := "", ""
	switch t.Kind() {
	case reflect.String:
		high = "maxLength" // counted in characters there, in bytes here: never stricter than we are
		if f.required && f.min == "" {
			out["minLength"] = 1
		}
	case reflect.Slice:
		low, high = "minItems", "maxItems"
		if out["type"] != "array" {
			low, high = "minProperties", "maxProperties"
		}
	case reflect.Map:
		low, high = "minProperties", "maxProperties"
	case reflect.Int, reflect.Float64:
		low, high = "minimum", "maximum"
	default:
		return
	}
	if n, err := strconv.ParseFloat(f.min, 64); err == nil && low != "" {
		out[low] = n
	}
	if n, err := strconv.ParseFloat(f.max, 64); err == nil {
		out[high] = n
	}
}

func defaultOf(t reflect.Type, text string) any {
	switch t.Kind() {
	case reflect.Int, reflect.Float64:
		if n, err := strconv.ParseFloat(text, 64); err == nil {
			return n
		}
	default:
	}
	return text
}

// defName is a struct's name without the words that only Go needs, and without its
// capitals in front: httpExpect for HTTPExpect.
func defName(name string) string {
	name = strings.TrimSuffix(strings.TrimSuffix(name, "Text"), "Spec")
	capitals := 0
	for capitals < len(name) && name[capitals] >= 'A' && name[capitals] <= 'Z' {
		capitals++
	}
	if capitals > 1 && capitals < len(name) {
		capitals-- // the last one begins the next word
	}
	return strings.ToLower(name[:capitals]) + name[capitals:]
}

func scalarSchema() Schema { return Schema{"type": []string{"string", "number", "boolean"}} }

// DescribeDocument describes any scalar.
func (Text) DescribeDocument(*Schemas) Schema { return scalarSchema() }

// DescribeDocument describes the form of ParseDuration; a number may only be zero.
func (Duration) DescribeDocument(*Schemas) Schema {
	return Schema{
		"type":    []string{"string", "integer"},
		"pattern": `^(0|(?=[0-9])([0-9]+d)?([0-9]+h)?([0-9]+m)?([0-9]+s)?([0-9]+ms)?)$`,
		"minimum": 0, "maximum": 0,
		"examples": []string{"90s", "10m", "2h", "1d", "1h30m"},
	}
}

// DescribeDocument describes a map of names.
func (Entries[T]) DescribeDocument(s *Schemas) Schema {
	return Schema{"type": "object", "additionalProperties": s.Of(reflect.TypeFor[T]())}
}
