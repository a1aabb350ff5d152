package dag

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// schemaID names the schema; it is no address, every apiserver serves it itself.
const schemaID = "urn:porpoise:workflow"

// Schema returns the JSON Schema (2020-12) of a definition, generated from the very
// types and tags that Parse reads with. It is never stricter than Parse; what only a
// look at the whole document can tell (names that link, circles) is not in it. The
// keywords x-order, x-editor and x-advanced are for forms.
func Schema() []byte {
	s := document.SchemaOf(workflowText{}, schemaID, "Porpoise workflow")
	limitName(s)
	text, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("dag: encode the schema: " + err.Error()) // our own types hold nothing that JSON has not
	}
	return append(text, '\n')
}

// TaskType describes one task type to a form. Schema is complete in itself; its
// properties are the keys of the text.
type TaskType struct {
	Type        string
	Category    Category
	Description string
	Schema      document.Schema
	Required    []string
}

// DescribeTaskTypes describes every task type, in the order in which people see them.
func DescribeTaskTypes() []TaskType {
	out := make([]TaskType, len(taskTypes))
	for i := range taskTypes {
		t := &taskTypes[i]
		s := &document.Schemas{Defs: map[string]any{}}
		form := t.form(s)
		complete(form, s, "urn:porpoise:task:"+t.name)
		out[i] = TaskType{Type: t.name, Category: t.category, Description: t.doc, Schema: form, Required: requiredOf(form)}
	}
	return out
}

// DescribeWorkflow describes the keys of a workflow beside its tasks.
func DescribeWorkflow() (schema document.Schema, required []string) {
	s := &document.Schemas{Defs: map[string]any{}}
	// The tasks are described on their own, per type.
	form := s.Object(reflect.TypeFor[workflowText]())
	delete(form["properties"].(map[string]any), "tasks")
	form["required"] = slices.DeleteFunc(requiredOf(form), func(name string) bool { return name == "tasks" })
	for _, t := range taskTypes {
		delete(s.Defs, t.name)
	}
	limitName(form)
	form["title"] = "Porpoise workflow, without its tasks"
	complete(form, s, schemaID+":settings")
	return form, requiredOf(form)
}

// form describes a task of type t: its own keys stand right behind the name.
func (t *taskType) form(s *document.Schemas) document.Schema {
	form := t.typed(s, reflect.TypeFor[taskCommon]())
	limitName(form)
	return form
}

// typed describes a map with the keys that common has, and those of the type after its type key.
func (t *taskType) typed(s *document.Schemas, common reflect.Type) document.Schema {
	own := reflect.TypeOf(t.spec()).Elem()
	form := s.Object(common, own)
	form["title"], form["description"] = t.name, t.doc
	properties := form["properties"].(map[string]any)
	order := properties["type"].(document.Schema)[document.Order].(int)
	properties["type"] = document.Schema{"const": t.name, "description": t.doc, document.Order: order}
	for i := range own.NumField() {
		name, _, _ := strings.Cut(own.Field(i).Tag.Get("json"), ",")
		properties[name].(document.Schema)[document.Order] = order + 1 + i
	}
	return form
}

// limitName says of the name what its own check says in Go.
func limitName(form document.Schema) {
	name := form["properties"].(map[string]any)["name"].(document.Schema)
	name["pattern"], name["maxLength"] = namePattern, MaxName
}

// complete makes a schema that stands alone: with the definitions that it refers to,
// those of other forms left out.
func complete(form document.Schema, s *document.Schemas, id string) {
	form["$schema"], form["$id"] = document.Dialect, id
	used := map[string]any{}
	var follow func(part any)
	follow = func(part any) {
		switch v := part.(type) {
		case document.Schema:
			if ref, ok := v["$ref"].(string); ok {
				name := strings.TrimPrefix(ref, "#/$defs/")
				if used[name] == nil {
					used[name] = s.Defs[name]
					follow(s.Defs[name])
				}
			}
			for _, inner := range v {
				follow(inner)
			}
		case map[string]any:
			for _, inner := range v {
				follow(inner)
			}
		case []any:
			for _, inner := range v {
				follow(inner)
			}
		}
	}
	follow(form)
	if len(used) > 0 {
		form["$defs"] = used
	}
}

func requiredOf(form document.Schema) []string {
	required, _ := form["required"].([]string)
	return required
}
