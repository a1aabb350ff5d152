package dag

import (
	"regexp"
	"strings"

	"github.com/porpoise/porpoise/dag/document"
)

// The codes of warnings: what they say is certain, and forbidden it is not.
const (
	CodeUnknownVariable = "unknown_variable"   // a script uses a variable that nothing sets
	CodeNoEffect        = "no_effect"          // a task or a key that changes nothing
	CodeNoWorker        = "no_worker"          // no live worker is of this group
	CodeNoLabels        = "no_labelled_worker" // no live worker of this group has these labels
	CodeNoTaskGroup     = "no_task_group"      // the project has no such task group
	CodeNoSecret        = "no_secret"          // there is no such secret, neither in the project nor for all
)

// Review is what there is to say of a text: all errors, and warnings.
type Review struct {
	// Definition is what could be read of the text; it is whole only where there are no
	// errors, and nil where there was nothing to read.
	Definition *Definition
	Errors     []FieldError
	Warnings   []FieldError
	root       *document.Node
}

// ReviewText checks a text as ParsePlan does, and adds warnings where there are no errors:
// what they say is certain only of a workflow that is whole.
func ReviewText(text []byte, format string) Review {
	r := read(text, format)
	out := Review{Definition: r.def, Errors: r.errs, root: r.root}
	if r.plan != nil {
		out.Warnings = r.plan.warnings()
		for i := range out.Warnings {
			out.place(&out.Warnings[i])
		}
		out.Warnings = document.Sort(out.Warnings)
	}
	return out
}

// AddError adds what only the place of a workflow tells, at its place in the text.
func (r *Review) AddError(e FieldError) {
	r.place(&e)
	r.Errors = document.Sort(append(r.Errors, e))
}

// AddWarning is AddError for a warning.
func (r *Review) AddWarning(e FieldError) {
	r.place(&e)
	r.Warnings = document.Sort(append(r.Warnings, e))
}

// Field says where a task of the definition stands in the text.
func (r *Review) Field(task int) string { return r.Definition.field(task) }

func (r *Review) place(e *FieldError) {
	if r.root != nil {
		e.Line, e.Column = r.root.Locate(e.Field)
	}
}

func (p *Plan) warnings() []FieldError {
	var out []FieldError
	for i := range p.Definition.Tasks {
		if len(out) >= document.MaxErrors {
			break
		}
		out = append(out, p.uncovered(i)...)
		out = append(out, p.noEffect(i)...)
		out = append(out, p.unknownVariables(i)...)
	}
	return out
}

// uncovered finds branch tasks that fail where no case holds.
func (p *Plan) uncovered(i int) []FieldError {
	b := p.rules[i].branches
	if b == nil || b.hasElse {
		return nil
	}
	name := p.Definition.Tasks[i].Name
	return []FieldError{{
		Field: p.Definition.field(i), Code: CodeUncovered, Value: document.Shown(name), Args: Args{"task": name},
		Message: "the task " + document.Quoted(name) + ` fails where no case holds: give it an "else", which may be []`,
	}}
}

// noEffect finds keys that a task of its type has no use for, and a noop that joins nothing.
func (p *Plan) noEffect(i int) []FieldError {
	t := &p.Definition.Tasks[i]
	if _, ok := t.Spec.(scripted); t.Raw && !ok {
		return []FieldError{{
			Field: p.Definition.field(i) + ".raw", Code: CodeNoEffect, Args: Args{"task": t.Name, "key": "raw", "type": t.Type},
			Message: `"raw" has no effect on ` + article(t.Type) + " " + t.Type + " task: it has no script",
		}}
	}
	if t.Type != TypeNoop && !p.inMaster(i) {
		return nil
	}
	var out []FieldError
	add := func(set bool, key, why string) {
		if set {
			out = append(out, FieldError{
				Field: p.Definition.field(i) + "." + key, Code: CodeNoEffect, Args: Args{"task": t.Name, "key": key, "type": t.Type},
				Message: document.Quoted(key) + " has no effect on " + article(t.Type) + " " + t.Type + " task: " + why,
			})
		}
	}
	switch spec := t.Spec.(type) {
	case *SubWorkflowSpec, *DynamicSpec, *DependentSpec:
	case *ApprovalSpec:
		add(len(t.Outputs) > len(spec.Form), "outputs", "it gives the fields of its form")
	default:
		add(len(t.Outputs) > 0, "outputs", "it gives none")
	}
	add(len(t.Env) > 0, "env", "it runs no process")
	add(t.Environment != "", "environment", "it runs no process")
	add(t.WorkingDir != "", "working_dir", "it runs no process")
	add(t.TaskGroup.Name != "" && p.inMaster(i), "task_group", "it takes no place")
	add(len(t.WorkerLabels) > 0 && p.inMaster(i), "worker_labels", "it takes no worker")
	if p.here(i) {
		add(t.WorkerGroup != DefaultWorkerGroup, "worker_group", "it takes no worker")
	}
	if p.rules[i].branches != nil {
		add(t.Retry.Count() > 0, "retry", "it would choose the same again")
		add(t.Timeout.After > 0, "timeout", "it chooses at once")
	}
	if t.Type == TypeConditions {
		add(p.rules[i].join != JoinAllSuccess || p.rules[i].condition != nil, "join", "it waits for all that it needs, however they end")
	}
	if t.Type == TypeNoop && len(p.Definition.Tasks) > 1 && len(p.Pred[i])+len(p.Succ[i]) == 0 {
		out = append(out, FieldError{
			Field: p.Definition.field(i), Code: CodeNoEffect, Value: document.Shown(t.Name), Args: Args{"task": t.Name},
			Message: "the task " + document.Quoted(t.Name) + " does nothing: it joins no branches",
		})
	}
	return out
}

var (
	shellVariable = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)\}`)
	pythonEnviron = regexp.MustCompile(`\bos\.environ\[(?:"([A-Za-z_][A-Za-z0-9_]*)"|'([A-Za-z_][A-Za-z0-9_]*)')\]`)
	// pythonSets finds what looks like pythonEnviron and gives a value.
	pythonSets = regexp.MustCompile(pythonEnviron.String() + `\s*\+?=[^=]`)
	// shellSets finds what may set variables that cannot be seen: another file, or a text
	// that is run.
	shellSets = regexp.MustCompile(`(?m)(^|[;&|({\s])(\.|source|eval|set\s+-a)\s`)
)

// unknownVariables finds names in a script that no parameter, output or variable has. It
// speaks only where it is certain: the name stands nowhere in the script but in
// references, so that the script does not set it, and it is not written in capitals, as
// variables of the system are.
func (p *Plan) unknownVariables(i int) []FieldError {
	t := &p.Definition.Tasks[i]
	var script string
	var reference *regexp.Regexp
	switch spec := t.Spec.(type) {
	case *ShellSpec:
		if script, reference = spec.Script, shellVariable; shellSets.MatchString(script) || !posix(spec.Interpreter) {
			return nil
		}
	case *PythonSpec:
		script, reference = spec.Script, pythonEnviron
	default:
		return nil
	}
	uses := map[string]int{}
	set := map[string]bool{}
	for _, m := range pythonSets.FindAllStringSubmatch(script, -1) {
		set[strings.Join(m[1:], "")] = true // never in a shell's script
	}
	var names []string
	for _, m := range reference.FindAllStringSubmatch(script, -1) {
		name := strings.Join(m[1:], "")
		if uses[name]++; uses[name] == 1 {
			names = append(names, name)
		}
	}
	var out []FieldError
	for _, name := range names {
		if strings.ToUpper(name) == name || set[name] || p.gives(i, name) || words(script, name) > uses[name] {
			continue
		}
		out = append(out, FieldError{
			Field: p.Definition.field(i) + ".script", Code: CodeUnknownVariable, Value: document.Shown(name), Args: Args{"name": name, "task": t.Name},
			Message: "no parameter, output or variable is called " + document.Quoted(name) + ", and the script does not set it" + p.near(i, name),
		})
	}
	return out
}

// posix tells whether an interpreter reads ${name} as a shell does.
func posix(interpreter string) bool {
	switch interpreter[strings.LastIndexByte(interpreter, '/')+1:] {
	case "sh", "bash", "dash", "ash", "ksh", "zsh":
		return true
	}
	return false
}

// words counts how often a name stands in a text as a word of its own.
func words(text, name string) int {
	part := func(at int) bool {
		if at < 0 || at >= len(text) {
			return false
		}
		c := text[at]
		return c == '_' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
	}
	n := 0
	for at := 0; ; {
		k := strings.Index(text[at:], name)
		if k < 0 {
			return n
		}
		at += k
		if !part(at-1) && !part(at+len(name)) {
			n++
		}
		at += len(name)
	}
}

// gives tells whether a task's environment has a variable: a parameter, an output that it
// sees, its own env, or what Porpoise sets itself.
func (p *Plan) gives(i int, name string) bool {
	t := &p.Definition.Tasks[i]
	if isBuiltin(name) || strings.HasPrefix(name, ownPrefix) {
		return true
	}
	for _, params := range [][]Param{p.Definition.Params, t.Params} {
		for k := range params {
			if params[k].Name == name {
				return true
			}
		}
	}
	for k := range t.Env {
		if t.Env[k].Name == name {
			return true
		}
	}
	for from := range p.outputs.seenBy(i) {
		if hasOutput(&p.Definition.Tasks[from], name) {
			return true
		}
	}
	return false
}

// near suggests the name that was meant.
func (p *Plan) near(i int, name string) string {
	r := references{def: p.Definition, plan: p}
	return r.meant(i, name)
}
