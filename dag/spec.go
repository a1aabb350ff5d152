package dag

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// Duration is a length of time in a Spec. In JSON it is a text such as 90s or 1h30m.
type Duration = document.Duration

// The task types.
const (
	TypeShell      = "shell"
	TypePython     = "python"
	TypeHTTP       = "http"
	TypeNoop       = "noop"
	TypeWait       = "wait"
	TypeSwitch     = "switch"
	TypeConditions = "conditions"
	// TypeSubWorkflow runs another workflow as a child instance.
	TypeSubWorkflow = "sub_workflow"
	// TypeDynamic runs another workflow once for each item of a list.
	TypeDynamic = "dynamic"
	// TypeDependent waits for runs of other workflows.
	TypeDependent = "dependent"
	// TypeApproval waits for people.
	TypeApproval = "approval"
)

// DefaultWorkerGroup is the group of tasks that name none, and of workers that are told none.
const DefaultWorkerGroup = "default"

// taskType is one task type as definitions know it.
type taskType struct {
	name     string
	category Category
	doc      string
	spec     func() Spec
}

// Category says what kind of step a task type is.
type Category string

// The categories.
const (
	CategoryRun  Category = "run"  // it does the work, on a worker
	CategoryFlow Category = "flow" // it gives the graph its shape or its pace
)

// taskTypes in the order in which people see them.
var taskTypes = [...]taskType{
	{TypeShell, CategoryRun, "Runs a script with sh or another shell.", func() Spec { return &ShellSpec{} }},
	{TypePython, CategoryRun, "Runs a script with Python.", func() Spec { return &PythonSpec{} }},
	{TypeHTTP, CategoryRun, "Calls a URL and checks the answer.", func() Spec { return &HTTPSpec{} }},
	{TypeNoop, CategoryFlow, "Does nothing: a place where branches meet.", func() Spec { return &NoopSpec{} }},
	{TypeWait, CategoryFlow, "Waits for some time, or until a moment, without taking a worker.", func() Spec { return &WaitSpec{} }},
	{TypeSubWorkflow, CategoryFlow, "Runs another workflow as an instance of its own and waits for its end, without taking a worker.", func() Spec { return &SubWorkflowSpec{} }},
	{TypeDynamic, CategoryFlow, "Runs another workflow once for each item of a list, some at a time, and gathers what they give.", func() Spec { return &DynamicSpec{} }},
	{TypeDependent, CategoryFlow, "Waits until runs of other workflows have succeeded, without taking a worker.", func() Spec { return &DependentSpec{} }},
	{TypeApproval, CategoryFlow, "Asks people for their approval, and waits for it without taking a worker.", func() Spec { return &ApprovalSpec{} }},
	{TypeSwitch, CategoryFlow, "Chooses the tasks that run next by parameters and outputs.", func() Spec { return &SwitchSpec{} }},
	{TypeConditions, CategoryFlow, "Chooses the tasks that run next by how those before it ended.", func() Spec { return &ConditionsSpec{} }},
}

// Instant says that tasks of a type end as they begin: they take no slot of their worker.
func Instant(taskType string) bool { return taskType == TypeNoop }

// TaskTypes returns the names of all task types.
func TaskTypes() []string {
	names := make([]string, len(taskTypes))
	for i := range taskTypes {
		names[i] = taskTypes[i].name
	}
	return names
}

// NewSpec returns an empty Spec of a task type, for JSON to be read into; false for
// an unknown type.
func NewSpec(name string) (Spec, bool) {
	for i := range taskTypes {
		if taskTypes[i].name == name {
			return taskTypes[i].spec(), true
		}
	}
	return nil, false
}

// checkScript checks what every script has in common.
func checkScript(script string) []FieldError {
	fail := func(code, message, value string) []FieldError {
		return []FieldError{{Field: "script", Code: code, Message: message, Value: document.Shown(value)}}
	}
	if err := checkText("script", script); err != nil {
		return []FieldError{*err}
	}
	if strings.TrimSpace(script) == "" && script != "" {
		return fail(document.CodeRequired, "the script is blank", "")
	}
	return nil
}

// eachText calls f with every text of a spec that takes ${name}, and stores what f
// returns in its place. Fields with the tag verbatim:"true" are passed over. The
// entries of a map come in the order of their keys.
func eachText(v reflect.Value, field string, f func(field, text string) string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			eachText(v.Elem(), field, f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			tag := v.Type().Field(i).Tag
			name, _, _ := strings.Cut(tag.Get("json"), ",")
			if name == "" || name == "-" || tag.Get("verbatim") == "true" {
				continue
			}
			eachText(v.Field(i), document.FieldKey(field, name), f)
		}
	case reflect.String:
		if s := v.String(); s != "" {
			if t := f(field, s); t != s {
				v.SetString(t)
			}
		}
	case reflect.Map:
		m, ok := reflect.TypeAssert[map[string]string](v)
		if !ok {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(m)) {
			if t := f(document.FieldKey(field, key), m[key]); t != m[key] {
				m[key] = t
			}
		}
	default:
	}
}
