package dolphin

import (
	"strconv"
	"strings"
)

// isSub tells whether a task runs a workflow: once, or once for each item.
func isSub(kind string) bool {
	return kind == "SUB_PROCESS" || kind == "SUB_WORKFLOW" || isDynamic(kind)
}

// child returns the code of the workflow that a sub-workflow task runs.
func (t *task) child() int64 {
	return t.params.number(either(t.params, "workflowDefinitionCode", "processDefinitionCode"), 0)
}

// sub writes a sub-workflow.
func (w *writing) sub() {
	w.kind = typeSubWorkflow
	t := w.t
	at := t.params.path(either(t.params, "workflowDefinitionCode", "processDefinitionCode"))
	code := t.child()
	name := w.im.named("workflow", code)
	if f := w.im.flows[code]; f != nil && name == "" {
		name = f.name
	}
	if name == "" {
		name = "workflow " + strconv.FormatInt(code, 10)
		t.notes.add(codeSubUnknown, at, "it is "+name+" now")
	} else {
		t.notes.add(codeSub, at, name)
	}
	w.own.set(keyWorkflow, name)
}

// passOn settles what goes down to a sub-workflow and what comes back. There it sees the
// globals of the workflow that runs it, and what its OUT globals hold comes back by itself;
// here a task says both.
func (im *importer) passOn(t *task) {
	if !isSub(t.kind) {
		return
	}
	for i := range t.passed {
		p := t.passed[i]
		p.value = "${" + p.was + "}"
		t.inputs = t.inputs.with(p, &t.notes)
		t.notes.add(codeSubPassed, p.at, p.was)
	}
	child := im.flows[t.child()]
	if child == nil {
		return
	}
	for i := range t.inputs {
		if p := &t.inputs[i]; child.params.named(p.name) == nil {
			t.notes.add(codeSubParam, p.at, p.name)
		}
	}
	for i := range child.outs {
		if o := &child.outs[i]; t.outputs.named(o.name) == nil {
			t.outputs = append(t.outputs, *o)
			t.notes.add(codeSubOutput, t.o.at, o.name)
		}
	}
	var unseen []string
	for i := range t.flow.params {
		if p := &t.flow.params[i]; child.refers[p.was] && child.params.find(p.was) == nil && t.inputs.find(p.was) == nil {
			unseen = append(unseen, p.was)
		}
	}
	if len(unseen) > 0 {
		t.notes.add(codeSubGlobal, t.o.at, strings.Join(unseen, ", "))
	}
}
