package dag

import (
	"maps"
	"slices"

	"github.com/porpoise/porpoise/dag/document"
)

// CodeNoEnvironment is the code of a task whose environment the project does not have.
const CodeNoEnvironment = "no_environment"

// CheckEnvironment holds the name and the variables of an environment against the rules that env of a task
// has. The fields are environment and variables.NAME.
func CheckEnvironment(name string, variables map[string]string) []FieldError {
	errs := CheckName("environment", name)
	for _, variable := range slices.Sorted(maps.Keys(variables)) {
		field := document.FieldKey("variables", variable)
		errs = append(errs, checkVariable(field, variable, "a variable")...)
		if err := checkValue(field, variables[variable]); err != nil {
			errs = append(errs, *err)
		}
	}
	return errs
}

// environment adds the variables of the task's environment to those values that a process gets: a parameter
// of the same name, and the task's own env, win.
func (r *resolver) environment(facts Facts) *FieldError {
	name := r.t.Environment
	if name == "" {
		return nil
	}
	variables, ok := facts.Environments[FoldName(name)]
	if !ok {
		err := r.at(&FieldError{
			Code: CodeNoEnvironment, Value: document.Shown(name), Message: "the project has no environment " + document.Quoted(name),
		}, "environment")
		return &err
	}
	for variable, value := range variables {
		if _, given := r.values[variable]; !given {
			r.values[variable] = value
		}
	}
	return nil
}
