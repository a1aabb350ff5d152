package trial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// firstMoment is when a case starts that says nothing of it, 2026-01-01T00:00:00Z: the same every time.
const firstMoment dag.Millis = 1_767_225_600_000

// Read reads the cases of a workflow from their text; the format is "yaml" or "json". It returns
// either the suite, with every name held against the workflow, or what is wrong: every error
// at once, at most 100, in the order of the text, with line and column.
func Read(text []byte, format string, plan *dag.Plan) (*Suite, []dag.FieldError) {
	root, errs := document.Read(text, format)
	if len(errs) > 0 {
		return nil, errs
	}
	var t suiteText
	errs = document.Decode(root, &t)
	if root.Kind != document.Map {
		return nil, errs
	}
	r := reader{plan: plan, root: root}
	for i := range plan.Definition.Tasks {
		r.names = append(r.names, plan.Definition.Tasks[i].Name)
	}
	suite := r.suite(&t)
	errs = append(errs, document.Place(root, errs, append(document.Check(&t, nil), r.errs...))...)
	if len(errs) > 0 {
		return nil, document.Sort(errs)
	}
	return suite, nil
}

// reader turns the text's cases into those that run, and gathers what is wrong.
type reader struct {
	plan  *dag.Plan
	root  *document.Node
	names []string
	errs  []dag.FieldError
}

func (r *reader) fail(field, code, message, value string) {
	r.errs = append(r.errs, dag.FieldError{Field: field, Code: code, Message: message, Value: document.Shown(value)})
}

func (r *reader) suite(t *suiteText) *Suite {
	suite := &Suite{plan: r.plan, root: r.root, Cases: make([]Case, len(t.Cases))}
	each := t.Each
	if each == nil {
		each = &eachText{}
	}
	shared := r.results("each", each.Tasks)
	at := map[string]int{}
	for i := range t.Cases {
		field := fmt.Sprintf("cases[%d]", i)
		one := &t.Cases[i]
		if first, twice := at[one.Name]; twice && one.Name != "" {
			r.fail(field+".name", dag.CodeDuplicateName, fmt.Sprintf("the case %s stands twice: it is also cases[%d]", document.Quoted(one.Name), first), one.Name)
		} else {
			at[one.Name] = i
		}
		suite.Cases[i] = r.oneCase(field, one, each, slices.Clone(shared))
		if one.Strict == nil {
			suite.Cases[i].strict = t.Strict
		}
	}
	return suite
}

// oneCase reads a case; what the case itself does not say is that of each.
func (r *reader) oneCase(field string, t *caseText, each *eachText, results [][]result) Case {
	c := Case{Name: t.Name, field: field, strict: t.Strict != nil && *t.Strict, results: results, expect: t.Expect}
	c.Line, _ = r.root.Locate(field)
	for i, own := range r.results(field, t.Tasks) {
		if own != nil {
			c.results[i] = own
		}
	}
	c.start = dag.StartOptions{
		Params: map[string]string{}, StartTasks: r.tasks(field+".start_tasks", t.StartTasks),
		Scope: dag.Scope(t.Scope), DryRun: t.DryRun, OnFailure: dag.OnFailure(t.OnFailure),
	}
	for _, params := range []document.Entries[dag.ValueText]{each.Params, t.Params} {
		for _, p := range params {
			c.start.Params[p.Name] = string(p.Value)
		}
	}
	c.facts = r.facts(field, t, each)
	for i := range t.Control {
		c.controls = append(c.controls, r.control(fmt.Sprintf("%s.control[%d]", field, i), int64(i+1), &t.Control[i]))
	}
	r.expect(field+".expect", &t.Expect)
	return c
}

// task finds a task by its name.
func (r *reader) task(field, name string) (int, bool) {
	i, ok := r.plan.Task(name)
	if ok {
		return i, true
	}
	message := "the workflow has no task " + document.Quoted(name)
	if near := document.Nearest(name, r.names); near != "" {
		message += "; did you mean " + document.Quoted(near) + "?"
	}
	r.fail(field, dag.CodeUnknownTask, message, name)
	return 0, false
}

func (r *reader) tasks(field string, names []string) []int {
	var list []int
	for i, name := range names {
		if task, ok := r.task(fmt.Sprintf("%s[%d]", field, i), name); ok {
			list = append(list, task)
		}
	}
	return list
}

func (r *reader) control(field string, id int64, t *controlText) control {
	c := control{field: field, answer: t.Answer, wish: dag.Control{
		ID: id, Verb: dag.Verb(t.Verb), Tasks: r.tasks(field+".tasks", t.Tasks), Scope: dag.Scope(t.Scope), Force: t.Force, By: somebody,
	}}
	if t.At != nil {
		c.at = time.Duration(*t.At)
	}
	return c
}

// results reads the results of tasks, by the task's index.
func (r *reader) results(field string, entries document.Entries[resultsText]) [][]result {
	byTask := make([][]result, len(r.names))
	for _, e := range entries {
		at := document.FieldKey(field+".tasks", e.Name)
		task, ok := r.task(at, e.Name)
		if !ok {
			continue
		}
		for i := range e.Value.list {
			place := at
			if !e.Value.single {
				place = fmt.Sprintf("%s[%d]", at, i)
			}
			byTask[task] = append(byTask[task], r.result(place, task, &e.Value.list[i]))
			if i == len(e.Value.list)-1 && e.Value.list[i].State == endReturned {
				r.fail(place, dag.CodeConflict, "an attempt that is returned is tried again: give what comes after it", endReturned)
			}
		}
	}
	return byTask
}

// allEnds are the states that any attempt can end in.
var allEnds = []string{endSuccess, endFailed, endTimeout, endLost, endReturned, endKilled, endStopped, endRefused}

// ends are the states that attempts of a task type can end in; none for tasks that end by themselves.
func ends(taskType string) []string {
	switch taskType {
	case dag.TypeWait, dag.TypeSwitch, dag.TypeConditions:
		return nil
	case dag.TypeSubWorkflow, dag.TypeDynamic:
		return []string{endSuccess, endFailed, endTimeout, endStopped, endRefused}
	case dag.TypeDependent, dag.TypeApproval:
		return []string{endSuccess, endFailed, endTimeout}
	default:
		return []string{endSuccess, endFailed, endTimeout, endLost, endReturned, endKilled}
	}
}

func (r *reader) result(field string, task int, t *resultText) result {
	def := &r.plan.Definition.Tasks[task]
	out := result{state: t.State, reason: dag.Reason(t.Reason), message: t.Message, times: 1}
	if !slices.Contains(allEnds, t.State) {
		return out // its own rule says so
	}
	known := ends(def.Type)
	switch {
	case known == nil:
		r.fail(field, dag.CodeConflict, "a "+def.Type+" task ends by itself: leave its result out", "")
	case !slices.Contains(known, t.State):
		r.fail(document.FieldKey(field, "state"), document.CodeNotInEnum,
			"a "+def.Type+" task does not end "+document.Quoted(t.State)+": want "+strings.Join(known, ", "), t.State)
	case t.State == endTimeout && !ended(def.Timeout) && !ended(r.plan.Definition.Timeout) && !expires(def):
		r.fail(field, dag.CodeConflict, "neither the task "+document.Quoted(def.Name)+" nor the workflow has a timeout that ends it: it would go on for ever", "")
	}
	if t.Times != nil {
		out.times = *t.Times
	}
	if t.Takes != nil {
		out.takes = time.Duration(*t.Takes)
		if t.State == endTimeout {
			r.fail(field+".takes", dag.CodeConflict, `an attempt that runs into its timeout takes as long as that: leave "takes" out`, "")
		}
	}
	if t.ExitCode != nil {
		out.exitCode = *t.ExitCode
		if t.State != endFailed {
			r.fail(field+".exit_code", dag.CodeConflict, "only a failed attempt has an exit code other than 0", "")
		}
	} else if t.State == endFailed && out.reason == "" {
		out.exitCode, out.reason = failureOf(def.Type)
	}
	out.outputs = r.outputs(field, def, t)
	if spec, ok := def.Spec.(*dag.ApprovalSpec); ok && t.State == endSuccess {
		for _, e := range spec.CheckValues(out.outputs) {
			if e.Code != dag.CodeUnknownParam { // told already
				r.fail(field+".outputs"+strings.TrimPrefix(e.Field, "values"), e.Code, e.Message, e.Value)
			}
		}
	}
	return out
}

// failureOf is how tasks of a type mostly fail.
func failureOf(taskType string) (exitCode int, reason dag.Reason) {
	if taskType == dag.TypeHTTP {
		return 0, "http_status"
	}
	return 1, ""
}

// ended says that a timeout ends what runs over it.
func ended(t dag.Timeout) bool { return t.After > 0 && t.Action != dag.TimeoutWarn }

// expires says that an approval does not wait for ever.
func expires(def *dag.Task) bool {
	spec, ok := def.Spec.(*dag.ApprovalSpec)
	return ok && spec.Expires > 0
}

func (r *reader) outputs(field string, def *dag.Task, t *resultText) map[string]string {
	if len(t.Outputs) == 0 {
		return nil
	}
	if t.State != endSuccess && (t.State != endFailed || onMaster(def.Type)) {
		r.fail(field+".outputs", dag.CodeConflict, "only a success puts something out, or a failure on a worker", "")
	}
	out := make(map[string]string, len(t.Outputs))
	for _, o := range t.Outputs {
		at := document.FieldKey(field+".outputs", o.Name)
		if !slices.Contains(def.Outputs, o.Name) {
			message := "the task " + document.Quoted(def.Name) + " declares no output " + document.Quoted(o.Name)
			if near := document.Nearest(o.Name, def.Outputs); near != "" {
				message += "; did you mean " + document.Quoted(near) + "?"
			}
			r.fail(at, dag.CodeUnknownName, message, o.Name)
		}
		if len(o.Value) > dag.MaxValue {
			r.fail(at, document.CodeTooLarge, fmt.Sprintf("the value has %d bytes, at most %d are allowed", len(o.Value), dag.MaxValue), "")
		}
		out[o.Name] = string(o.Value)
	}
	return out
}

// expect holds the names in an expectation against the workflow.
func (r *reader) expect(field string, t *expectText) {
	r.tasks(field+".ran", t.Ran)
	r.tasks(field+".order", t.Order)
	for _, e := range t.Tasks {
		at := document.FieldKey(field+".tasks", e.Name)
		task, ok := r.task(at, e.Name)
		if !ok {
			continue
		}
		def := &r.plan.Definition.Tasks[task]
		if e.Value.Params != nil && def.Type != dag.TypeSubWorkflow && def.Type != dag.TypeDynamic {
			r.fail(at+".params", dag.CodeConflict, "only a sub_workflow or dynamic task gives parameters on; what a script sees is in env", "")
		}
		if (e.Value.Env != nil || e.Value.Spec != nil) && onMaster(def.Type) {
			r.fail(at, dag.CodeConflict, "a "+def.Type+" task runs in the master: it has neither env nor spec there", "")
		}
	}
}

// onMaster says that tasks of a type take no worker.
func onMaster(taskType string) bool {
	return ends(taskType) == nil || slices.Contains([]string{dag.TypeSubWorkflow, dag.TypeDynamic, dag.TypeDependent, dag.TypeApproval}, taskType)
}
