package dag

import "strings"

// projectPrefix begins the name of a project's parameter in a text: ${project.region}.
// What a project has is known only where a task runs, so that a definition says where it
// looks for a name that it does not declare.
const projectPrefix = "project."

// projectName is the parameter in project.name. In a plan that has a task "project" the
// name is that of the task's output.
func projectName(plan *Plan, name string) (string, bool) {
	param, ok := strings.CutPrefix(name, projectPrefix)
	if !ok || !isIdentifier(param) {
		return "", false
	}
	if plan != nil {
		if _, task := plan.Task("project"); task {
			return "", false
		}
	}
	return param, true
}

// CheckProjectParam holds the name and the value of a project's parameter against the rules
// of all parameters. The fields are param and value.
func CheckProjectParam(name, value string) []FieldError {
	errs := checkVariable("param", name, "a parameter")
	if err := checkValue("value", value); err != nil {
		errs = append(errs, *err)
	}
	return errs
}
