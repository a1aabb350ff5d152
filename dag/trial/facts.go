package trial

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
	dates "github.com/porpoise/porpoise/dag/moment"
)

// facts are what a case knows beside its definition: moments, and what its project would hold.
func (r *reader) facts(field string, t *caseText, each *eachText) dag.Facts {
	or := func(own, other dag.Moment) dag.Millis {
		if own == "" {
			own = other
		}
		return own.Millis()
	}
	f := dag.Facts{
		Project: "default", ProjectID: 1, Workflow: r.plan.Definition.Name, WorkflowID: 1, Version: 1,
		ScheduleTime: or(t.ScheduleTime, each.ScheduleTime), Now: or(t.Now, each.Now), ProjectParams: map[string]string{},
	}
	if f.Now == 0 {
		f.Now = f.ScheduleTime
	}
	if f.Now == 0 {
		f.Now = firstMoment
	}
	for _, params := range []document.Entries[document.Text]{each.ProjectParams, t.ProjectParams} {
		for _, p := range params {
			f.ProjectParams[p.Name] = string(p.Value)
		}
	}
	f.Secrets, f.Environments = r.secrets(field, t, each), r.environments(field, t, each)
	zone, at := t.Timezone, field+".timezone"
	if zone == "" {
		zone, at = each.Timezone, "each.timezone"
	}
	if zone != "" {
		location, err := dates.Location(zone)
		if err != nil {
			r.fail(at, document.CodeInvalid, err.Error(), zone)
		}
		f.Location = location
	}
	return f
}

// secrets are the values of all secrets that the workflow names: those that are given, and made-up ones. A case
// may say which are missing.
func (r *reader) secrets(field string, t *caseText, each *eachText) map[string]string {
	values := map[string]string{}
	for i := range r.names {
		for _, name := range r.plan.Secrets(i) {
			values[name] = "secret-" + name
		}
	}
	known := maps.Clone(values)
	for k, given := range []document.Entries[document.Text]{each.Secrets, t.Secrets} {
		at := []string{"each", field}[k] + ".secrets"
		for _, s := range given {
			if r.named(document.FieldKey(at, s.Name), "a secret", s.Name, known) {
				values[s.Name] = string(s.Value)
			}
		}
	}
	for k, missing := range [][]string{each.MissingSecrets, t.MissingSecrets} {
		at := []string{"each", field}[k] + ".missing_secrets"
		for i, name := range missing {
			if r.named(fmt.Sprintf("%s[%d]", at, i), "a secret", name, known) {
				delete(values, name)
			}
		}
	}
	return values
}

// environments are those that the workflow names: with the variables that are given, or without any.
func (r *reader) environments(field string, t *caseText, each *eachText) map[string]map[string]string {
	values, known := map[string]map[string]string{}, map[string]string{}
	for i := range r.plan.Definition.Tasks {
		if name := r.plan.Definition.Tasks[i].Environment; name != "" {
			known[dag.FoldName(name)] = name
			values[dag.FoldName(name)] = map[string]string{}
		}
	}
	for k, given := range []document.Entries[document.Entries[document.Text]]{each.Environments, t.Environments} {
		for _, e := range given {
			at := document.FieldKey([]string{"each", field}[k]+".environments", e.Name)
			if !r.named(at, "an environment", dag.FoldName(e.Name), known) {
				continue
			}
			variables := make(map[string]string, len(e.Value))
			for _, v := range e.Value {
				variables[v.Name] = string(v.Value)
			}
			for _, wrong := range dag.CheckEnvironment(e.Name, variables) {
				wrong.Field = at + strings.TrimPrefix(wrong.Field, "variables")
				r.errs = append(r.errs, wrong)
			}
			values[dag.FoldName(e.Name)] = variables
		}
	}
	return values
}

// named says whether a task names what a case gives; it is a mistake if none does.
func (r *reader) named(at, what, name string, known map[string]string) bool {
	if _, ok := known[name]; ok {
		return true
	}
	message := "no task names " + what + " " + document.Quoted(name)
	if near := document.Nearest(name, slices.Sorted(maps.Keys(known))); near != "" {
		message += "; did you mean " + document.Quoted(near) + "?"
	}
	r.fail(at, dag.CodeUnknownName, message, name)
	return false
}
