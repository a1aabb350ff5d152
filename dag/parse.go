package dag

import (
	"fmt"

	"github.com/porpoise/porpoise/dag/document"
)

// Parse reads a workflow from its text; the format is "yaml" or "json". It returns
// either the definition, with all defaults filled in and everything about it checked,
// or what is wrong: every error at once, at most 100, in the order of the text, with
// line and column.
func Parse(text []byte, format string) (*Definition, []FieldError) {
	plan, errs := ParsePlan(text, format)
	if plan == nil {
		return nil, errs
	}
	return plan.Definition, nil
}

// ParsePlan is Parse and NewPlan in one pass, for those who want to run the workflow.
func ParsePlan(text []byte, format string) (*Plan, []FieldError) {
	r := read(text, format)
	return r.plan, r.errs
}

// reading is a text on its way to a plan. plan is nil where there are errors; def is
// nil where the text has no tasks that could be looked at.
type reading struct {
	root *document.Node
	def  *Definition
	plan *Plan
	errs []FieldError
}

func read(text []byte, format string) reading {
	root, errs := document.Read(text, format)
	if len(errs) > 0 {
		return reading{errs: errs}
	}
	var w workflowText
	errs = document.Decode(root, &w)
	if root.Kind != document.Map {
		return reading{root: root, errs: errs}
	}
	if len(w.Tasks) > MaxTasks {
		// Nothing is looked at further: such a text is no slip of the pen.
		tasks := root.Get("tasks")
		return reading{root: root, errs: []FieldError{{
			Field: "tasks", Code: document.CodeTooLarge, Line: int(tasks.Line), Column: int(tasks.Column),
			Message: fmt.Sprintf("the workflow has %d tasks, at most %d are allowed", len(w.Tasks), MaxTasks),
		}}}
	}
	later := document.Check(&w, nil)
	def, more := w.definition()
	later = append(later, more...)
	plan, more := newPlan(def)
	rules := plan.rules
	if later = append(later, more...); len(more) > 0 {
		plan = nil
	} else {
		later = append(later, plan.checkOutputs()...)
	}
	later = append(later, checkReferences(def, plan, rules)...)
	later = append(later, checkUses(def, plan)...)
	errs = append(errs, document.Place(root, errs, distinct(later))...)
	if len(errs) > 0 {
		return reading{root: root, def: def, errs: document.Sort(errs)}
	}
	return reading{root: root, def: def, plan: plan}
}

// distinct keeps the first of several errors of one code at one field: two checks may
// find the same.
func distinct(errs []FieldError) []FieldError {
	type key struct{ field, code string }
	seen := make(map[key]bool, len(errs))
	kept := errs[:0]
	for _, e := range errs {
		if k := (key{e.Field, e.Code}); !seen[k] {
			seen[k] = true
			kept = append(kept, e)
		}
	}
	return kept
}
