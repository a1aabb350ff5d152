package dag

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// MaxItems is how many children one dynamic task may have, counted before its filter.
const MaxItems = 1000

// filterField is where the filter of a dynamic task stands, relative to the task.
const filterField = "filter"

// DynamicSpec is what a dynamic task has for itself: the workflow that it runs once for each item of a
// list, or for each combination of the items of several.
type DynamicSpec struct {
	Workflow  string     `json:"workflow" rule:"required" verbatim:"true" editor:"workflow" doc:"The workflow to run for each item, by its name."`
	Project   string     `json:"project,omitempty" verbatim:"true" editor:"project" doc:"The project of that workflow, where it is another one."`
	Version   *int       `json:"version,omitempty" rule:"min=1,max=2147483647" advanced:"true" doc:"The version to run; where nothing is said, the one that is published when the task starts."`
	Over      []OverList `json:"over" rule:"required,min=1,max=5" doc:"The lists. Of several, each combination of their items makes a child; the last list varies fastest."`
	Filter    string     `json:"filter,omitempty" rule:"max=4096" verbatim:"true" advanced:"true" doc:"A condition over the item and what the task sees: where it does not hold, there is no child."`
	Index     string     `json:"index,omitempty" verbatim:"true" advanced:"true" doc:"The parameter that tells each child its place, from 0; none where nothing is said."`
	Parallel  int        `json:"parallel,omitempty" rule:"min=1,max=100" default:"10" doc:"How many children may run at the same time."`
	OnFailure string     `json:"on_failure,omitempty" rule:"enum=end|continue" default:"continue" doc:"What a child that fails means for the others: they are stopped and no more start, or they go on."`
}

// OverList is one list that a dynamic task goes over.
type OverList struct {
	Name string    `json:"name" rule:"required" verbatim:"true" doc:"The parameter of the child that gets the item."`
	In   valueText `json:"in" rule:"required" doc:"The list, or ${name} of a parameter or an output that holds one."`
}

// child is the sub-workflow that each item is given to.
func (s *DynamicSpec) child() SubWorkflowSpec {
	return SubWorkflowSpec{Workflow: s.Workflow, Project: s.Project, Version: s.Version}
}

// ChildOf returns which workflow a task runs as children; false for one that runs none.
func ChildOf(s Spec) (SubWorkflowSpec, bool) {
	switch s := s.(type) {
	case *SubWorkflowSpec:
		return *s, true
	case *DynamicSpec:
		return s.child(), true
	default:
		return SubWorkflowSpec{}, false
	}
}

// Validate checks names, and lists that stand in the text.
func (s *DynamicSpec) Validate() []FieldError {
	errs := document.Check(s, nil)
	if s.Workflow != "" {
		errs = append(errs, CheckName("workflow", s.Workflow)...)
	}
	if s.Project != "" {
		errs = append(errs, CheckName("project", s.Project)...)
	}
	seen := map[string]string{}
	name := func(at, name string) {
		if name == "" {
			return
		}
		errs = append(errs, checkVariable(at, name, "a parameter")...)
		if first, twice := seen[name]; twice {
			errs = append(errs, FieldError{Field: at, Code: CodeDuplicateName, Value: document.Shown(name), Message: "the parameter " + document.Quoted(name) + " is given by " + first + ", too"})
		}
		seen[name] = at
	}
	product := 1
	for i := range s.Over {
		at := fmt.Sprintf("over[%d]", i)
		name(at+".name", s.Over[i].Name)
		if text := string(s.Over[i].In); text != "" && !strings.Contains(text, "${") {
			list, err := itemsOf(text)
			if err != nil {
				err.Field = at + ".in"
				errs = append(errs, *err)
			}
			product *= max(len(list), 1)
		}
		product = min(product, MaxItems+1)
	}
	name("index", s.Index)
	if product > MaxItems {
		errs = append(errs, tooManyItems("over"))
	}
	return errs
}

func tooManyItems(field string) FieldError {
	return FieldError{Field: field, Code: document.CodeOutOfRange, Message: fmt.Sprintf("these are more than %d items, which is the most that one task may have: split the list", MaxItems)}
}

// itemsOf reads a JSON list; each item is a text: a string as it is, anything else as its JSON.
func itemsOf(text string) ([]string, *FieldError) {
	var list []json.RawMessage
	if err := json.Unmarshal([]byte(text), &list); err != nil || list == nil {
		return nil, &FieldError{Code: document.CodeInvalid, Value: document.Shown(text), Message: `want a list such as ["a", "b"], not ` + document.Quoted(document.Shown(text))}
	}
	items := make([]string, len(list))
	for i, raw := range list {
		if json.Unmarshal(raw, &items[i]) != nil || string(raw) == "null" {
			items[i] = string(raw)
		}
	}
	return items, nil
}

// Places returns the parameters that each child gets of its item, each with the field that names it, relative
// to the task.
func (s *DynamicSpec) Places() map[string]string {
	places := make(map[string]string, len(s.Over)+1)
	for i := range s.Over {
		places[s.Over[i].Name] = fmt.Sprintf("over[%d].name", i)
	}
	if s.Index != "" {
		places[s.Index] = "index"
	}
	return places
}

// Items returns the start parameters of each child of a dynamic task, in the order of its items: the
// item's values, and the task's own params with what they refer to put in. The error is a FieldError.
func Items(in *Instance, task int, facts Facts) ([]map[string]string, error) {
	m := mapping{resolver: resolver{in: in, task: task, t: &in.plan.Definition.Tasks[task]}, facts: facts}
	m.spec, _ = m.t.Spec.(*DynamicSpec)
	if err := m.seen(facts); err != nil {
		return nil, *err
	}
	m.outer = m.values
	total := 1
	for i := range m.spec.Over {
		at := fmt.Sprintf("over[%d].in", i)
		text, err := expand(string(m.spec.Over[i].In), m.lookup)
		var list []string
		if err == nil {
			list, err = itemsOf(text)
		}
		if err != nil {
			return nil, m.at(err, at)
		}
		m.lists = append(m.lists, list)
		if total *= len(list); total > MaxItems {
			err := tooManyItems("")
			return nil, m.at(&err, at)
		}
	}
	items := make([]map[string]string, 0, total)
	for k := range total {
		params, err := m.item(k, len(items))
		if err != nil {
			return nil, *err
		}
		if params != nil {
			items = append(items, params)
		}
	}
	return items, nil
}

// mapping resolves the items of one dynamic task.
type mapping struct {
	resolver
	facts Facts
	spec  *DynamicSpec
	outer map[string]string // what the task sees, without the item and its own params
	lists [][]string
}

// item resolves combination k, which is the child at a place if it passes the filter; nil where it does not.
func (m *mapping) item(k, place int) (map[string]string, *FieldError) {
	own := make(map[string]string, len(m.lists)+len(m.t.Params)+1)
	for i, list := range slices.Backward(m.lists) {
		own[m.spec.Over[i].Name] = list[k%len(list)]
		k /= len(list)
	}
	if m.spec.Index != "" {
		own[m.spec.Index] = strconv.Itoa(place)
	}
	m.values = maps.Clone(m.outer)
	maps.Copy(m.values, own)
	if filter := m.in.plan.rules[m.task].filter; filter != nil {
		holds, err := filter.Decide(m.read())
		if err != nil {
			e := m.at(&FieldError{Code: CodeExpression, Message: err.Error()}, filterField)
			return nil, &e
		}
		if !holds {
			return nil, nil
		}
	}
	if err := m.declared(m.in.plan.Definition.field(m.task)+".params", m.t.Params, OriginTask); err != nil {
		return nil, err
	}
	for i := range m.t.Params {
		own[m.t.Params[i].Name] = m.values[m.t.Params[i].Name]
	}
	return own, nil
}

// checkItemNames refuses a parameter of a dynamic task that one of its lists gives, too.
func checkItemNames(field string, t *Task) []FieldError {
	d, ok := t.Spec.(*DynamicSpec)
	if !ok {
		return nil
	}
	var errs []FieldError
	places := d.Places()
	for i := range t.Params {
		name := t.Params[i].Name
		if place, given := places[name]; given {
			errs = append(errs, FieldError{
				Field: document.FieldKey(field+".params", name), Code: CodeDuplicateName, Value: document.Shown(name),
				Message: "the parameter " + document.Quoted(name) + " is given by " + place + ", too",
			})
		}
	}
	return errs
}
