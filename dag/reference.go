package dag

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
	"github.com/porpoise/porpoise/dag/expression"
)

// dotted finds ${a.b} in a script: a reference that only other fields have. What a
// shell itself writes with a dot, such as ${file%.txt}, does not look like it.
var dotted = regexp.MustCompile(`\$\{[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z0-9_]+)+\}`)

func dottedReference(script string) string { return dotted.FindString(script) }

// expand replaces each ${name} of text by what lookup gives for it, once: what is put
// in is not looked at again. $${ stands for ${ itself.
func expand(text string, lookup func(name string) (string, *FieldError)) (string, *FieldError) {
	if !strings.Contains(text, "${") {
		return text, nil
	}
	var b strings.Builder
	for {
		at := strings.Index(text, "${")
		if at < 0 {
			b.WriteString(text)
			return b.String(), nil
		}
		if at > 0 && text[at-1] == '$' {
			b.WriteString(text[:at-1])
			b.WriteString("${")
			text = text[at+2:]
			continue
		}
		b.WriteString(text[:at])
		name, rest, closed := strings.Cut(text[at+2:], "}")
		if !closed {
			return "", &FieldError{Code: document.CodeSyntax, Value: document.Shown(text[at:]), Message: "${ has no closing brace; for the characters themselves write $${"}
		}
		value, err := lookup(name)
		if err != nil {
			return "", err
		}
		b.WriteString(value)
		text = rest
	}
}

func hasReferences(t *Task) bool {
	if strings.Contains(t.WorkingDir, "${") {
		return true
	}
	found := t.Raw
	if t.Spec != nil {
		eachText(reflect.ValueOf(t.Spec), "", func(_, text string) string {
			found = found || strings.Contains(text, "${")
			return text
		})
	}
	return found
}

// references checks every ${name} of a definition against what gives names.
type references struct {
	def *Definition
	// plan is nil where the graph has errors; every output then counts as seen, so
	// that one mistake is not reported as many.
	plan     *Plan
	rules    []rules
	index    map[string]int
	workflow map[string]bool
	errs     []FieldError
}

func checkReferences(def *Definition, plan *Plan, rules []rules) []FieldError {
	r := &references{def: def, plan: plan, rules: rules, workflow: map[string]bool{}, index: map[string]int{}}
	for i := range def.Tasks {
		r.index[def.Tasks[i].Name] = i
	}
	for i := range def.Params {
		p := &def.Params[i]
		r.workflow[p.Name] = true
		if p.Default != nil {
			r.text(document.FieldKey("params", p.Name), *p.Default, r.builtinOnly)
		}
	}
	r.concurrency()
	for i := range def.Tasks {
		if len(r.errs) >= maxPlanErrors {
			break
		}
		r.task(i)
	}
	return r.errs
}

func (r *references) text(field, text string, known func(name string) *FieldError) {
	_, err := expand(text, func(name string) (string, *FieldError) { return "", known(name) })
	if err != nil {
		err.Field = field
		r.errs = append(r.errs, *err)
	}
}

func (r *references) task(i int) {
	t := &r.def.Tasks[i]
	prefix := r.def.field(i)
	upper := func(name string) *FieldError { return r.known(i, name, false) }
	all := func(name string) *FieldError { return r.known(i, name, true) }
	if d, ok := t.Spec.(*DynamicSpec); ok {
		for k := range d.Over {
			r.text(fmt.Sprintf("%s.over[%d].in", prefix, k), string(d.Over[k].In), upper)
		}
		upper = r.ofItem(d, upper)
		all = r.ofItem(d, all)
	}
	sealed := r.withSecrets(i, all)
	for k := range t.Params {
		if p := &t.Params[k]; p.Default != nil {
			r.text(document.FieldKey(prefix+".params", p.Name), *p.Default, upper)
		}
	}
	for k := range t.Env {
		r.text(document.FieldKey(prefix+".env", t.Env[k].Name), t.Env[k].Value, sealed)
	}
	r.text(prefix+".working_dir", t.WorkingDir, all)
	r.text(prefix+".cache.key", t.Cache.Key, all)
	r.expressions(i, all)
	r.raw(i)
	if t.Spec == nil {
		return
	}
	secret, _ := t.Spec.(secretive)
	eachText(reflect.ValueOf(t.Spec), "", func(field, text string) string {
		known := all
		if secret != nil && secret.secretField(field) {
			known = sealed
		}
		r.text(prefix+"."+field, text, known)
		return text
	})
}

// expressions checks the names that the expressions of task i read.
func (r *references) expressions(i int, known func(name string) *FieldError) {
	r.rules[i].expressions(func(field string, e *expression.Expression) {
		for _, name := range e.Names() {
			if field == retryWhen && isFailure(&r.def.Tasks[i], name) || field == untilField && hasOutput(&r.def.Tasks[i], name) {
				continue
			}
			if err := known(name); err != nil {
				err.Field = r.def.field(i) + "." + field
				r.errs = append(r.errs, *err)
			}
		}
	})
}

// ofItem is known for texts that are read once for each item of a dynamic task.
func (r *references) ofItem(d *DynamicSpec, known func(name string) *FieldError) func(name string) *FieldError {
	places := d.Places()
	return func(name string) *FieldError {
		if _, ok := places[name]; ok {
			return nil
		}
		return known(name)
	}
}

// builtinOnly is what a workflow's parameter may refer to.
func (r *references) builtinOnly(name string) *FieldError {
	if _, ok := projectName(nil, name); ok || isBuiltin(name) {
		return nil
	}
	if _, ok := secretName(nil, name); ok {
		return misplaced(name)
	}
	return &FieldError{
		Code: CodeUnknownName, Value: document.Shown(name), Args: Args{"name": document.Shown(name)},
		Message: "${" + document.Shown(name) + "} is not known here: a workflow's parameter can refer to project.name and to built-in names only: " + strings.Join(builtinNames(), ", "),
	}
}

// known tells what is wrong with a reference in task i. own says whether the task's
// own parameters may be named.
func (r *references) known(i int, name string, own bool) *FieldError {
	t := &r.def.Tasks[i]
	if isBuiltin(name) || r.workflow[name] {
		return nil
	}
	if own {
		for k := range t.Params {
			if t.Params[k].Name == name {
				return nil
			}
		}
	}
	fail := func(why string) *FieldError {
		return &FieldError{
			Code: CodeUnknownName, Value: document.Shown(name), Args: Args{"name": document.Shown(name), "task": t.Name},
			Message: "${" + document.Shown(name) + "} is not known here: " + why,
		}
	}
	if _, ok := projectName(r.plan, name); ok {
		return nil
	}
	if _, ok := secretName(r.plan, name); ok {
		return misplaced(name)
	}
	if task, output, ok := cutLast(name); ok {
		from, exists := r.index[task]
		switch {
		case !exists:
			return fail("there is no task " + document.Quoted(task) + r.meant(i, name))
		case !hasOutput(&r.def.Tasks[from], output):
			return fail("the task " + document.Quoted(task) + " declares no output " + document.Quoted(output))
		case r.plan != nil && !r.plan.outputs.sees(i, from):
			return fail("this task does not come after " + document.Quoted(task) + ": add it to needs")
		}
		return nil
	}
	if r.plan == nil {
		for k := range r.def.Tasks {
			if hasOutput(&r.def.Tasks[k], name) {
				return nil
			}
		}
		return fail("no parameter and no output has this name")
	}
	for from := range r.plan.outputs.seenBy(i) {
		if hasOutput(&r.def.Tasks[from], name) {
			return nil
		}
	}
	return fail("no parameter, and no output of a task before this one, has this name" + r.meant(i, name))
}

// meant suggests the nearest name that task i could have meant.
func (r *references) meant(i int, name string) string {
	known := builtinNames()
	for k := range r.def.Params {
		known = append(known, r.def.Params[k].Name)
	}
	for k := range r.def.Tasks[i].Params {
		known = append(known, r.def.Tasks[i].Params[k].Name)
	}
	if r.plan != nil {
		for from := range r.plan.outputs.seenBy(i) {
			known = append(known, r.def.Tasks[from].Outputs...)
		}
	}
	if near := document.Nearest(name, known); near != "" {
		return "; did you mean ${" + near + "}?"
	}
	return ""
}

// cutLast splits task.output: a task's name may have dots, an output's not.
func cutLast(name string) (task, output string, ok bool) {
	at := strings.LastIndexByte(name, '.')
	if at < 0 {
		return "", "", false
	}
	return name[:at], name[at+1:], true
}

func hasOutput(t *Task, name string) bool {
	return slices.Contains(t.Outputs, name)
}
