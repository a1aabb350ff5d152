package dolphin

import (
	"strconv"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/interval"
)

// dependent writes a dependency on other workflows.
func (w *writing) dependent() {
	w.kind = typeDependent
	t := w.t
	o := t.params.object("dependence")
	t.notes.add(codeDependent, o.at)
	var groups list
	for _, g := range o.objects("dependTaskList") {
		var items list
		for _, item := range g.objects("dependItemList") {
			items = append(items, w.dependItem(item))
		}
		if len(items) > 0 {
			groups = append(groups, grouped(items, relation(g)))
		}
		g.rest(codeUnknownField)
	}
	check := grouped(groups, relation(o))
	if check.get(keyWorkflow) != nil {
		check = mapping{{keyAll, list{check}}}
	}
	w.own.set(keyCheck, check)
	if seconds := o.number("checkInterval", 0); seconds > 0 {
		w.own.set(keyInterval, duration(seconds, time.Second))
	}
	if o.word("failurePolicy", "DEPENDENT_FAILURE_FAILURE", "DEPENDENT_FAILURE_FAILURE", "DEPENDENT_FAILURE_WAITING") == "DEPENDENT_FAILURE_WAITING" {
		w.own.set(keyOnFailure, string(interval.OnFailureWait))
		if minutes := o.number("failureWaitingTime", 0); minutes > 0 {
			t.notes.add(codeDepWait, o.path("failureWaitingTime"), duration(minutes, time.Minute))
		}
	}
	o.drop("failureWaitingTime")
	o.rest(codeUnknownField)
}

// grouped makes a group of several; one stands for itself.
func grouped(members list, by string) mapping {
	if len(members) == 1 {
		return members[0].(mapping)
	}
	key := keyAll
	if by == " || " {
		key = keyAny
	}
	return mapping{{key, members}}
}

// Codes of what a dependency may name beside a task.
const (
	depWorkflow = 0
	depAllTasks = -1
)

// dependItem writes one leaf.
func (w *writing) dependItem(o *object) mapping {
	t := w.t
	project, code, taskCode := o.number("projectCode", 0), o.number("definitionCode", 0), o.number("depTaskCode", depWorkflow)
	var m mapping
	if name := w.im.named("project", project); name != "" {
		m.set(keyProject, name)
	} else if project != 0 && project != t.flow.project {
		name = "project " + strconv.FormatInt(project, 10)
		m.set(keyProject, name)
		t.notes.add(codeDepProject, o.path("projectCode"), "it is "+name+" now")
	}
	known := w.im.flows[code]
	name := w.im.named("workflow", code)
	switch {
	case name != "":
	case known != nil:
		name = known.name
	default:
		name = "workflow " + strconv.FormatInt(code, 10)
		t.notes.add(codeDepUnknown, o.path("definitionCode"), "it is "+name+" now")
	}
	m.set(keyWorkflow, name)
	switch taskCode {
	case depWorkflow:
	case depAllTasks:
		t.notes.add(codeDepAllTasks, o.path("depTaskCode"))
	default:
		m.set(keyTask, w.dependTask(o, taskCode))
	}
	m.set(keyDate, w.date(o))
	if o.flag("parameterPassing") && !w.im.knows(code, taskCode) {
		t.notes.add(codeDepParams, o.path("parameterPassing"))
	}
	o.drop("dependentType", "cycle", "status", "state", "key")
	o.rest(codeUnknownField)
	return m
}

// knows tells whether what is depended on is in the export.
func (im *importer) knows(code, taskCode int64) bool {
	if taskCode > 0 {
		return im.tasks[taskCode] != nil
	}
	return im.flows[code] != nil
}

// passedBy lists the outputs that a dependency passes on: those of the task that it names, or
// of all tasks of the workflow.
func (im *importer) passedBy(t *task) {
	if t.kind != kindDependent {
		return
	}
	o := newObject(t.params.path("dependence"), t.params.fields["dependence"], &notes{}) // dependent reports what is wrong with it
	for _, g := range o.objects("dependTaskList") {
		for _, item := range g.objects("dependItemList") {
			if !item.flag("parameterPassing") {
				continue
			}
			for _, up := range im.dependedOn(item) {
				t.takes(up.outputs, item.path("parameterPassing"))
			}
		}
	}
}

// dependedOn returns the tasks of the export that an item stands for.
func (im *importer) dependedOn(item *object) []*task {
	if code := item.number("depTaskCode", depWorkflow); code > 0 {
		if up := im.tasks[code]; up != nil {
			return []*task{up}
		}
		return nil
	}
	if f := im.flows[item.number("definitionCode", 0)]; f != nil {
		return f.tasks
	}
	return nil
}

// takes makes outputs of others those of the task, too.
func (t *task) takes(outputs params, at string) {
	for i := range outputs {
		if o := &outputs[i]; len(t.outputs) < dag.MaxOutputs && t.outputs.named(o.name) == nil {
			t.outputs = append(t.outputs, *o)
			t.notes.add(codeDepOutput, at, o.name)
		}
	}
}

func (w *writing) dependTask(o *object, code int64) string {
	if name := w.im.named("task", code); name != "" {
		return name
	}
	if t := w.im.tasks[code]; t != nil {
		return t.name
	}
	name := "task " + strconv.FormatInt(code, 10)
	w.t.notes.add(codeDepUnknown, o.path("depTaskCode"), "it is "+name+" now")
	return name
}

func (w *writing) date(o *object) string {
	value := o.text("dateValue")
	if err := interval.Check(value); err != nil {
		w.t.notes.add(codeDepDate, o.path("dateValue"), err.Error())
	}
	if value == "thisMonthEnd" {
		w.t.notes.add(codeDepMonthEnd, o.path("dateValue"))
	}
	return value
}
