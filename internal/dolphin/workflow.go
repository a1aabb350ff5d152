package dolphin

import (
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
	"github.com/porpoise/porpoise/dag/document"
)

// workflow writes one workflow, and holds it against what a definition may be.
func (im *importer) workflow(f *flow) (Workflow, error) {
	w := Workflow{Name: f.name, Code: f.code}
	if f.was != f.name {
		w.Was = f.was
	}
	d := f.definition
	m := mapping{{keyName, f.name}}
	if text := d.text("description"); text != "" {
		m.set(keyDescription, text)
		f.notes.add(codeDescription, d.path("description"))
	}
	m.set(keyParams, f.params.mapping(nil))
	if minutes := d.number("timeout", 0); minutes > 0 {
		m.set(keyTimeout, mapping{{keyAfter, duration(minutes, time.Minute)}, {keyAction, string(dag.TimeoutWarn)}})
		f.notes.add(codeFlowTimeout, d.path("timeout"))
	}
	w.Schedule = im.timing(f, &m)
	f.execution(&m)
	f.leftovers()
	f.edges()

	var tasks list
	for _, t := range f.tasks {
		im.passOn(t)
		im.passedBy(t)
		f.gives(t)
	}
	for _, t := range f.tasks {
		tm := im.task(t, f.params)
		tasks = append(tasks, tm)
		w.Tasks = append(w.Tasks, Task{Name: t.name, Code: t.code, Type: t.kind, Findings: t.notes.list})
		if t.was != t.name {
			w.Tasks[len(w.Tasks)-1].Was = t.was
		}
		if isSub(t.kind) {
			w.subs = append(w.subs, t.child())
		}
	}
	m = append(m, entry{keyTasks, tasks})
	w.Findings = f.notes.list
	var err error
	if w.YAML, err = marshal(m); err != nil {
		return w, err
	}
	_, w.Refused = dag.Parse(w.YAML, "yaml")
	return w, nil
}

// globals reads the workflow's parameters.
func (f *flow) globals() {
	d := f.definition
	key := "globalParams"
	if len(d.list(key)) == 0 {
		key = "globalParamList"
	}
	ps := params{}
	for _, o := range d.objects(key) {
		p, ok := readParam(o, &f.notes)
		if !ok {
			continue
		}
		if o.word("direct", "IN", "IN", "OUT") == "OUT" {
			f.notes.add(codeGlobalOut, o.at, p.was)
			f.outs = f.outs.with(p, &f.notes)
			continue
		}
		f.notes.add(codeGlobalParam, o.at, p.was)
		ps = ps.with(p, &f.notes)
	}
	d.drop("globalParams", "globalParamList", "globalParamMap")
	f.params = ps.chained(&f.notes, f.builtins)
}

// execution writes the execution type as a limit.
func (f *flow) execution(m *mapping) {
	d := f.definition
	full := map[string]string{"SERIAL_WAIT": "wait", "SERIAL_DISCARD": "discard", "SERIAL_PRIORITY": "replace"}
	word := d.word("executionType", "PARALLEL", "PARALLEL", "SERIAL_WAIT", "SERIAL_DISCARD", "SERIAL_PRIORITY")
	if full[word] != "" {
		m.set(keyConcurrency, mapping{{keyLimit, int64(1)}, {keyWhenFull, full[word]}})
		f.notes.add(codeExecution, d.path("executionType"), word)
	}
}

// leftovers reports what a workflow has beside, and passes over what says nothing.
func (f *flow) leftovers() {
	d := f.definition
	if d.word("flag", "YES", "YES", "NO") == "NO" {
		f.notes.add(codeFlowFlag, d.path("flag"))
	}
	if tenant := d.text("tenantCode"); tenant != "" && tenant != "default" {
		f.notes.add(codeTenant, d.path("tenantCode"), tenant)
	}
	if id := d.number("tenantId", 0); id > 0 {
		f.notes.add(codeTenant, d.path("tenantId"), strconv.FormatInt(id, 10))
	}
	if id := d.number("warningGroupId", 0); id > 0 {
		f.notes.add(codeAlertGroup, d.path("warningGroupId"), strconv.FormatInt(id, 10))
	}
	d.drop("id", "version", "releaseState", "createTime", "updateTime", "userId", "userName", "projectName", "locations",
		"scheduleReleaseState", "modifyBy", "operator", "operateTime", "schedule", "otherParamsJson", "preTasks")
	d.rest(codeUnknownField)
}

// edges reads which task follows which.
func (f *flow) edges() {
	count := 0
	seen := map[[2]int64]bool{}
	for _, r := range f.relations {
		pre, post := r.number("preTaskCode", 0), r.number("postTaskCode", 0)
		if kind := r.text("conditionType"); kind != "" && kind != "NONE" && kind != "0" {
			f.notes.add(codeEdgeCondition, r.path("conditionType"), kind)
		}
		if raw := r.raw("conditionParams"); !empty(raw) {
			f.notes.add(codeEdgeCondition, r.path("conditionParams"), shownRaw(raw))
		}
		r.drop("id", "name", "processDefinitionVersion", "workflowDefinitionVersion", "projectCode", "processDefinitionCode", "workflowDefinitionCode",
			"preTaskVersion", "postTaskVersion", "createTime", "updateTime", "operator", "operateTime")
		r.rest(codeUnknownField)
		switch {
		case f.byCode[post] == nil || pre != 0 && f.byCode[pre] == nil:
			f.notes.add(codeEdgeUnknown, r.at, strconv.FormatInt(pre, 10)+" to "+strconv.FormatInt(post, 10))
		case pre != 0 && !seen[[2]int64{pre, post}]:
			seen[[2]int64{pre, post}] = true
			f.needs[post] = append(f.needs[post], pre)
			f.next[pre] = append(f.next[pre], post)
			count++
		}
	}
	if count > 0 {
		f.notes.add(codeEdge, strings.TrimSuffix(f.relations[0].at, index(0)), strconv.Itoa(count))
	}
	f.choices()
}

// choices marks the tasks that come after a choice.
func (f *flow) choices() {
	var todo []int64
	for _, t := range f.tasks {
		if t.kind == kindSwitch || t.kind == kindConditions {
			todo = append(todo, f.next[t.code]...)
		}
	}
	for i := 0; i < len(todo); i++ {
		if code := todo[i]; !f.chosen[code] {
			f.chosen[code] = true
			todo = append(todo, f.next[code]...)
		}
	}
}

// names returns the names of tasks of the workflow.
func (f *flow) names(codes []int64) []string {
	var out []string
	for _, code := range codes {
		if t := f.byCode[code]; t != nil {
			out = append(out, t.name)
		}
	}
	return out
}

// maxDuration is more than a definition takes anywhere.
const maxDuration = 1000 * 24 * time.Hour

// duration writes a number of a unit: 90s, 5m, 2h. One that no definition takes is written
// as it is, so that the check refuses it by its field.
func duration(n int64, unit time.Duration) string {
	if n > int64(maxDuration/unit) {
		return strconv.FormatInt(n, 10) + document.FormatDuration(unit)[1:]
	}
	return document.FormatDuration(time.Duration(n) * unit)
}
