package dag

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag/document"
)

func taskField(i int) string { return "tasks[" + strconv.Itoa(i) + "]" }

// definition turns the text's form into the definition, with what is wrong in its
// names and values. What the tags check is not checked again.
func (w *workflowText) definition() (*Definition, []FieldError) {
	def := &Definition{
		Name: w.Name, Description: w.Description,
		Timeout: w.Timeout.timeout(), OnFailure: OnFailure(w.OnFailure),
		Concurrency: w.Concurrency.concurrency(),
		Tasks:       make([]Task, len(w.Tasks)),
	}
	errs := CheckName("name", w.Name)
	if err := checkText("description", w.Description); err != nil {
		errs = append(errs, *err)
	}
	var more []FieldError
	def.Params, more = params("params", w.Params, false)
	errs = append(errs, more...)
	for i := range w.Tasks {
		more = w.Tasks[i].task(taskField(i), &def.Tasks[i])
		if len(errs) < maxPlanErrors {
			errs = append(errs, more...)
		}
	}
	errs = append(errs, checkAffects(def)...)
	if w.Environment != "" {
		errs = append(errs, CheckName("environment", w.Environment)...)
	}
	for i := range w.Tasks {
		if c := w.Tasks[i].Compensate; c != nil {
			undo, more := c.task(taskField(i)+".compensate", &def.Tasks[i], i)
			def.Tasks = append(def.Tasks, undo)
			errs = append(errs, more...)
		}
	}
	for i := range def.Tasks {
		// Only a process sees variables; the others would fail for want of an environment that they have no use for.
		if t := &def.Tasks[i]; t.Environment == "" {
			if _, ok := t.Spec.(scripted); ok {
				t.Environment = w.Environment
			}
		}
	}
	return def, errs
}

// field is where task i stands in the text.
func (d *Definition) field(i int) string {
	if i < 0 {
		return taskField(i) // of no task: of the workflow's parameters alone
	}
	if of := d.Tasks[i].Compensates; of > 0 {
		return taskField(of-1) + ".compensate"
	}
	return taskField(i)
}

func (t *taskText) task(field string, out *Task) []FieldError {
	priority, _ := ParsePriority(t.Priority)
	*out = Task{
		Name: t.Name, Type: t.Type, Needs: t.Needs, Outputs: t.Outputs, Artifacts: t.Artifacts,
		WorkerGroup: t.WorkerGroup, Priority: priority,
		Retry: t.Retry.retry(), Repeat: t.RepeatUntil.repeat(), Cache: t.Cache.cache(), Timeout: t.Timeout.timeout(),
		Join: t.Join, When: t.When, Finally: t.Finally,
		QueueTimeout: t.QueueTimeout.timeout(), OnLost: OnLost(t.OnLost),
		AllowFailure: t.AllowFailure, Disabled: t.Disabled, Raw: t.Raw,
		WorkingDir: t.WorkingDir, Spec: t.spec,
	}
	out.Environment = t.Environment
	if t.Delay != nil {
		out.Delay = time.Duration(*t.Delay)
	}
	errs := CheckName(field+".name", t.Name)
	if t.Environment != "" {
		errs = append(errs, CheckName(field+".environment", t.Environment)...)
	}
	if !t.Raw {
		errs = append(errs, checkAsItStands(field, t.spec)...)
	}
	if t.WorkerGroup != DefaultWorkerGroup {
		errs = append(errs, CheckName(field+".worker_group", t.WorkerGroup)...)
	}
	if t.WorkingDir != "" {
		if err := checkWorkingDir(field+".working_dir", t.WorkingDir); err != nil {
			errs = append(errs, *err)
		}
	}
	var more []FieldError
	out.WorkerLabels, more = labels(field+".worker_labels", t.WorkerLabels)
	errs = append(errs, more...)
	out.TaskGroup, more = t.TaskGroup.taskGroup(field, priority)
	errs = append(errs, more...)
	out.Params, more = params(field+".params", t.Params, true)
	errs = append(errs, more...)
	errs = append(errs, checkOutputNames(field, t.Outputs)...)
	out.Uses, more = uses(field+".uses", t.Uses)
	errs = append(errs, more...)
	errs = append(errs, checkArtifacts(field, out)...)
	errs = append(errs, checkRepeat(field, out)...)
	errs = append(errs, checkCache(field, out, t.Compensate != nil)...)
	if giver, ok := t.spec.(interface{ outputs() []string }); ok {
		out.Outputs = slices.Concat(t.Outputs, giver.outputs())
	}
	errs = append(errs, checkItemNames(field, out)...)
	out.Env, more = variables(field+".env", t.Env)
	return append(errs, more...)
}

func checkOutputNames(field string, names []string) []FieldError {
	var errs []FieldError
	seen := make(map[string]bool, len(names))
	for i, name := range names {
		at := field + ".outputs[" + strconv.Itoa(i) + "]"
		errs = append(errs, checkVariable(at, name, "an output")...)
		if seen[name] {
			errs = append(errs, FieldError{Field: at, Code: CodeDuplicateName, Message: "the output " + document.Quoted(name) + " stands here twice", Value: document.Shown(name)})
		}
		seen[name] = true
	}
	return errs
}

// variables reads env. Its author may set PATH and the like on purpose, but not the
// variables that Porpoise itself gives.
func variables(field string, entries document.Entries[document.Text]) ([]EnvVar, []FieldError) {
	if len(entries) == 0 {
		return nil, nil
	}
	var errs []FieldError
	out := make([]EnvVar, len(entries))
	for i, e := range entries {
		out[i] = EnvVar{Name: e.Name, Value: string(e.Value)}
		at := document.FieldKey(field, e.Name)
		switch {
		case !isIdentifier(e.Name):
			errs = append(errs, FieldError{
				Field: at, Code: CodeInvalidName, Value: document.Shown(e.Name),
				Message: document.Quoted(e.Name) + " is not a variable's name: use letters, digits and underscores, not a digit in front",
			})
		case strings.HasPrefix(e.Name, ownPrefix):
			errs = append(errs, FieldError{
				Field: at, Code: CodeReservedName, Value: document.Shown(e.Name),
				Message: "variables that begin with " + ownPrefix + " are set by Porpoise itself",
			})
		}
		if err := checkValue(at, string(e.Value)); err != nil {
			errs = append(errs, *err)
		} else if err := checkDates(at, string(e.Value)); err != nil {
			errs = append(errs, *err)
		}
	}
	return out, errs
}

// checkWorkingDir takes an absolute path without detours; ${name} parts are looked at
// once more when they are put in.
func checkWorkingDir(field, dir string) *FieldError {
	fail := func(message string) *FieldError {
		return &FieldError{Field: field, Code: document.CodeInvalid, Message: message, Value: document.Shown(dir)}
	}
	if err := checkText(field, dir); err != nil {
		return err
	}
	if strings.HasPrefix(dir, "${") {
		return nil
	}
	if !path.IsAbs(dir) {
		return fail("want an absolute path, such as /srv/etl: a relative one would begin elsewhere on each worker")
	}
	for part := range strings.SplitSeq(dir, "/") {
		if part == ".." {
			return fail("the path must not contain ..: write out where it leads")
		}
	}
	return nil
}
