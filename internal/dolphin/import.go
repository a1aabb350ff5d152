package dolphin

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/porpoise/porpoise/dag"
)

// The limits of an export.
const (
	MaxBytes     = 64 << 20
	MaxWorkflows = 1000
)

// ErrNotExport is in the chain of errors of Import.
var ErrNotExport = errors.New("not an export of DolphinScheduler 3.x")

// kinds are what an export may know by a code alone.
var kinds = []string{"project", "workflow", "task", "environment", "datasource", "task_group"}

// Kinds returns the kinds of things that Options.Names may name.
func Kinds() []string { return slices.Clone(kinds) }

// Coded tells whether a text names a thing by its kind and its code, as the keys of Options.Names do.
func Coded(text string) bool {
	kind, code, ok := strings.Cut(text, ":")
	return ok && code != "" && slices.Contains(kinds, kind)
}

// Options are what an import may be told beside the export.
type Options struct {
	// Names are of what an export knows by its code alone, by kind and code: "project:123".
	Names map[string]string
}

// Import reads an export: a list of workflows, or one of them. The error says that the text
// is none, or over a limit; everything else that is wrong is in the result.
func Import(text []byte, o Options) (*Result, error) {
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("%w: it has more than %d MiB", ErrNotExport, MaxBytes>>20)
	}
	text = bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	var list []json.RawMessage
	switch {
	case len(text) > 0 && text[0] == '{' && json.Valid(text):
		list = []json.RawMessage{text}
	default:
		if err := json.Unmarshal(text, &list); err != nil {
			return nil, fmt.Errorf("%w: want a JSON list of workflows: %w", ErrNotExport, err)
		}
	}
	if len(list) == 0 || len(list) > MaxWorkflows {
		return nil, fmt.Errorf("%w: it has %d workflows, want 1 to %d", ErrNotExport, len(list), MaxWorkflows)
	}
	im := importer{options: o, flows: map[int64]*flow{}, tasks: map[int64]*task{}, builtins: builtins{}}
	for i, raw := range list {
		if err := im.read(index(i), raw); err != nil {
			return nil, err
		}
	}
	im.name()
	for _, f := range im.list {
		f.globals()
		for _, t := range f.tasks {
			t.locals()
		}
	}
	im.declareItems()
	result := &Result{Findings: im.notes.list}
	for _, f := range im.list {
		w, err := im.workflow(f)
		if err != nil {
			return nil, err
		}
		result.Workflows = append(result.Workflows, w)
	}
	result.Workflows = childrenFirst(result.Workflows)
	return result, nil
}

// importer is one import under way.
type importer struct {
	options Options
	notes   notes
	list    []*flow
	flows   map[int64]*flow // by code
	tasks   map[int64]*task // by code, of all workflows

	builtins builtins
}

// flow is a workflow as it was read.
type flow struct {
	code, project int64
	was, name     string
	notes         notes
	definition    *object
	relations     []*object
	schedule      *object
	tasks         []*task
	byCode        map[int64]*task
	params        params             // the workflow's own
	outs          params             // and those that a workflow which runs this one is given
	refers        map[string]bool    // names of which its tasks have ${name}
	giving        map[string][]given // outputs by name, and by task.name
	needs         map[int64][]int64  // of a task's code, those before it
	next          map[int64][]int64  // and those after it
	chosen        map[int64]bool     // tasks somewhere after a choice
	builtins      builtins
}

// task is a task as it was read.
type task struct {
	flow      *flow
	code      int64
	was, name string
	kind      string // its type there
	notes     notes
	o, params *object
	inputs    params // own parameters that have a value
	passed    params // and those that take theirs from above
	outputs   params
	lists     []overList // of a dynamic task
}

// read takes one workflow apart. Both spellings of 3.x are known: until 3.2 a workflow was a
// process.
func (im *importer) read(at string, raw json.RawMessage) error {
	f := &flow{byCode: map[int64]*task{}, refers: map[string]bool{}, needs: map[int64][]int64{}, next: map[int64][]int64{}, chosen: map[int64]bool{}, giving: map[string][]given{}, builtins: im.builtins}
	x := newObject(at, raw, &f.notes)
	f.definition = x.object(either(x, "workflowDefinition", "processDefinition"))
	if len(f.definition.fields) == 0 {
		return fmt.Errorf("%w: %s has neither processDefinition nor workflowDefinition", ErrNotExport, at)
	}
	f.code, f.project, f.was = f.definition.number("code", 0), f.definition.number("projectCode", 0), f.definition.text("name")
	f.schedule = x.object("schedule")
	edges := either(x, "workflowTaskRelationList", "processTaskRelationList")
	relations, tasks := x.long(edges), x.long("taskDefinitionList")
	if len(tasks) > dag.MaxTasks || len(relations) > dag.MaxEdges {
		return fmt.Errorf("%w: %s has %d tasks and %d edges, at most %d and %d are allowed", ErrNotExport, at, len(tasks), len(relations), dag.MaxTasks, dag.MaxEdges)
	}
	f.relations = x.each(edges, relations)
	for i, raw := range tasks {
		t := &task{flow: f}
		t.o = newObject(x.path("taskDefinitionList")+index(i), raw, &t.notes)
		t.params = t.o.object("taskParams")
		t.code, t.was, t.kind = t.o.number("code", 0), t.o.text("name"), t.o.text("taskType")
		for _, field := range t.params.fields {
			for _, found := range reference.FindAllSubmatch(field, -1) {
				f.refers[string(found[1])] = true
			}
		}
		f.tasks = append(f.tasks, t)
		f.byCode[t.code] = t
		im.tasks[t.code] = t
	}
	x.drop("processDefinition", "workflowDefinition", "processTaskRelationList", "workflowTaskRelationList")
	x.rest(codeUnknownField)
	im.list = append(im.list, f)
	im.flows[f.code] = f
	return nil
}

// either returns the first key that is there.
func either(o *object, keys ...string) string {
	for _, key := range keys {
		if o.fields[key] != nil {
			return key
		}
	}
	return keys[0]
}

// name gives every workflow and task its name here, before anything refers to one.
func (im *importer) name() {
	flows := names{}
	for _, f := range im.list {
		f.name = flows.take(f.was, "workflow", f.code)
		noteName(&f.notes, f.definition.path("name"), f.was, f.name)
		tasks := names{}
		for _, t := range f.tasks {
			t.name = tasks.take(t.was, "task", t.code)
			noteName(&t.notes, t.o.path("name"), t.was, t.name)
		}
	}
}

func noteName(n *notes, field, was, name string) {
	if was == name {
		n.add(codeName, field)
		return
	}
	n.add(codeNameChanged, field, shown(was)+" became "+name)
}

// named returns the name that the options give to a code.
func (im *importer) named(what string, code int64) string {
	return im.options.Names[what+":"+strconv.FormatInt(code, 10)]
}

// childrenFirst puts sub-workflows before those that run them, so that they are there when
// those are saved. Circles stay in the order of the export.
func childrenFirst(list []Workflow) []Workflow {
	byCode := make(map[int64]int, len(list))
	for i := range list {
		byCode[list[i].Code] = i
	}
	var out []Workflow
	seen := make([]bool, len(list))
	var visit func(i int)
	visit = func(i int) {
		if seen[i] {
			return
		}
		seen[i] = true
		for _, code := range slices.Compact(list[i].subs) {
			if k, ok := byCode[code]; ok {
				visit(k)
			}
		}
		out = append(out, list[i])
	}
	for i := range list {
		visit(i)
	}
	return out
}
