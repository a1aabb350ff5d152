package dolphin

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/porpoise/porpoise/dag"
)

// maxRetries and maxMinutes are the most that a definition takes of retries and of a retry's
// delay (30 days).
const (
	maxRetries = 100
	maxMinutes = 30 * 24 * 60
)

// writing is one task on its way into a definition.
type writing struct {
	im      *importer
	t       *task
	globals params
	own     mapping // the keys of its type
	kind    string  // its type here
	raw     bool
	moved   params        // time expressions that became parameters
	before  map[int64]int // of the tasks before this one; nil until it is asked for
}

// task writes one task.
func (im *importer) task(t *task, globals params) mapping {
	w := &writing{im: im, t: t, globals: globals}
	w.byType()
	common := w.common()
	m := mapping{{keyName, t.name}, {keyType, w.kind}}
	m.set(keyNeeds, t.flow.names(t.flow.needs[t.code]))
	m.set(keyParams, slices.Concat(t.inputs, w.moved).mapping(w.value))
	m.set(keyOutputs, t.outputs.names())
	m = append(m, w.own...)
	m = append(m, common...)
	m.set(keyRaw, w.raw)
	t.params.rest(codeUnknownField)
	t.o.rest(codeUnknownField)
	return m
}

// locals reads the task's own parameters: IN is one, OUT is an output.
func (t *task) locals() {
	for _, o := range t.params.objects("localParams") {
		p, ok := readParam(o, &t.notes)
		switch out := o.word("direct", "IN", "IN", "OUT") == "OUT"; {
		case !ok:
		case out:
			t.notes.add(codeOutput, o.at, p.was)
			t.outputs = t.outputs.with(p, &t.notes)
		case p.value == "":
			t.passed = t.passed.with(p, &t.notes)
			if !isSub(t.kind) {
				t.notes.add(codeParamPassed, o.at, p.was)
			}
		default:
			t.notes.add(codeLocalParam, o.at, p.was)
			t.inputs = t.inputs.with(p, &t.notes)
		}
	}
	if isDynamic(t.kind) {
		t.lists = t.overLists()
	}
	if t.kind == kindHTTP && t.flow.refers[t.was+"."+outputResponse] && t.outputs.find(outputResponse) == nil {
		t.outputs = append(t.outputs, param{was: outputResponse, name: outputResponse})
		t.notes.add(codeHTTPOut, t.params.path("url"))
	}
}

// common writes what every task may have.
func (w *writing) common() mapping {
	o, n := w.t.o, &w.t.notes
	var m mapping
	if group := o.text("workerGroup"); group != "" && group != dag.DefaultWorkerGroup {
		m.set(keyWorkerGroup, allowed(group))
		n.add(codeWorkerGroup, o.path("workerGroup"), group)
	}
	if code := o.number("environmentCode", -1); code > 0 {
		m.set(keyEnvironment, w.named("environment", code, o.path("environmentCode"), codeEnvironment, codeEnvironmentName))
	}
	if id := o.number("taskGroupId", 0); id > 0 {
		m.set(keyTaskGroup, w.named("task_group", id, o.path("taskGroupId"), codeTaskGroup, codeTaskGroupName))
	}
	if order := o.number("taskGroupPriority", 0); order != 0 && o.number("taskGroupId", 0) > 0 {
		n.add(codeTaskGroupOrder, o.path("taskGroupPriority"), strconv.FormatInt(order, 10))
	}
	if word := o.word("taskPriority", "MEDIUM", "HIGHEST", "HIGH", "MEDIUM", "LOW", "LOWEST"); word != "MEDIUM" {
		m.set(keyPriority, strings.ToLower(word))
		n.add(codeTaskPriority, o.path("taskPriority"), word)
	}
	m.set(keyRetry, w.retry())
	m.set(keyTimeout, w.timeout())
	m.set(keyQueueTime, w.queueTimeout())
	m.set(keyCache, w.cache())
	if minutes := o.number("delayTime", 0); minutes > 0 {
		m.set(keyDelay, duration(minutes, time.Minute))
		n.add(codeDelay, o.path("delayTime"))
	}
	if o.word("flag", "YES", "YES", "NO") == "NO" {
		m.set(keyDisabled, true)
		n.add(codeTaskDisabled, o.path("flag"))
	}
	w.leftovers()
	w.meeting()
	return m
}

// named is the name that the options give to a code. Without one the key is left out.
func (w *writing) named(what string, code int64, at, found, missing string) string {
	if name := w.im.named(what, code); name != "" {
		w.t.notes.add(found, at, name)
		return name
	}
	w.t.notes.add(missing, at, "its code is "+strconv.FormatInt(code, 10))
	return ""
}

func (w *writing) retry() mapping {
	o := w.t.o
	times, minutes := o.number("failRetryTimes", 0), o.number("failRetryInterval", 0)
	if times <= 0 {
		return nil
	}
	code := codeRetry
	if times > maxRetries || minutes > maxMinutes {
		times, minutes, code = min(times, maxRetries), min(minutes, maxMinutes), codeRetryBound
	}
	w.t.notes.add(code, o.path("failRetryTimes"))
	return mapping{{keyTimes, times}, {keyDelay, duration(max(minutes, 0), time.Minute)}}
}

func (w *writing) timeout() mapping {
	o := w.t.o
	on, minutes := o.flag("timeoutFlag"), o.number("timeout", 0)
	word := o.word("timeoutNotifyStrategy", "WARN", "WARN", "FAILED", "WARNFAILED")
	if !on || minutes <= 0 {
		return nil
	}
	w.t.notes.add(codeTaskTimeout, o.path("timeout"))
	return timeoutOf(minutes, word)
}

// timeoutOf writes a timeout: its minutes, and what it does by its word there.
func timeoutOf(minutes int64, word string) mapping {
	action := map[string]dag.TimeoutAction{"WARN": dag.TimeoutWarn, "FAILED": dag.TimeoutFail, "WARNFAILED": dag.TimeoutWarnAndFail}[word]
	return mapping{{keyAfter, duration(minutes, time.Minute)}, {keyAction, string(action)}}
}

// cache writes that what the task gave is taken again. There it is until somebody clears it; a year is the most here.
func (w *writing) cache() mapping {
	o := w.t.o
	switch {
	case !o.flag("isCache"):
		return nil
	case w.kind == typeNoop || !slices.Contains([]string{"SHELL", "PYTHON", kindHTTP}, w.t.kind):
		w.t.notes.add(codeTaskCacheNone, o.path("isCache"))
		return nil
	}
	w.t.notes.add(codeTaskCache, o.path("isCache"))
	return mapping{{keyMaxAge, "365d"}}
}

// queueTimeout writes how long the task may wait to start.
func (w *writing) queueTimeout() mapping {
	o := w.t.params.object("waitStartTimeout")
	minutes, on := o.number(either(o, "interval", "timeout"), 0), o.flag("enable")
	word := o.word("strategy", "FAILED", "WARN", "FAILED", "WARNFAILED")
	o.drop("interval", "timeout", "checkInterval") // a look there, a timer here
	o.rest(codeUnknownField)
	switch {
	case !on || minutes <= 0:
		return nil
	case w.t.kind == kindDependent:
		w.t.notes.add(codeWaitDependent, o.at, duration(minutes, time.Minute))
		return nil
	}
	w.t.notes.add(codeWaitStart, o.at)
	return timeoutOf(minutes, word)
}

// leftovers reports what has no equivalent, and passes over what says nothing.
func (w *writing) leftovers() {
	o, n := w.t.o, &w.t.notes
	if text := o.text("description"); text != "" {
		n.add(codeTaskDescription, o.path("description"), shown(text))
	}
	for _, key := range []string{"cpuQuota", "memoryMax"} {
		if quota := o.number(key, -1); quota > 0 {
			n.add(codeQuota, o.path(key), strconv.FormatInt(quota, 10))
		}
	}
	if o.text("taskExecuteType") == "STREAM" {
		n.add(codeStream, o.path("taskExecuteType"))
	}
	if files := w.t.params.raw("resourceList"); !empty(files) {
		n.add(codeResources, w.t.params.path("resourceList"), shownRaw(files))
	} else if ids := o.text("resourceIds"); ids != "" {
		n.add(codeResources, o.path("resourceIds"), ids)
	}
	o.drop("id", "version", "projectCode", "userId", "taskParams", "taskParamList", "taskParamMap", "userName", "projectName", "createTime",
		"updateTime", "modifyBy", "operator", "operateTime", "dependence", "taskGroupPriority", "taskExecuteType", "resourceIds", "upstreamTaskMap")
}

// value is a parameter's value with every reference as it is written here. A task's own
// parameters may refer to the workflow's and to outputs, not to each other.
func (w *writing) value(p *param) string {
	text := p.value
	for range maxChain {
		next := w.t.inputs.into(text, p)
		if next == text {
			break
		}
		text = next
		w.t.notes.add(codeParamChain, p.at, p.was)
	}
	return replaceReferences(text, func(name string) (string, bool) { return w.refer(p.at, name, false) })
}

// text is a field's text with every reference as it is written here; time expressions become
// parameters of the task, because only values of those may have them.
func (w *writing) text(at, text string) string {
	text = replaceReferences(text, func(name string) (string, bool) { return w.refer(at, name, true) })
	return timeExpression.ReplaceAllStringFunc(text, func(expression string) string {
		p := param{kind: dag.ParamString, value: expression, at: at}
		for k := 1; ; k++ {
			p.name = "time_" + strconv.Itoa(k)
			if known := w.moved.named(p.name); known != nil && known.value == expression {
				break
			} else if known == nil && w.t.inputs.named(p.name) == nil && w.globals.named(p.name) == nil {
				w.moved = append(w.moved, p)
				w.t.notes.add(codeTimeMoved, at, expression+" is "+p.name)
				break
			}
		}
		return "${" + p.name + "}"
	})
}

func (ps params) named(name string) *param {
	for i := range ps {
		if ps[i].name == name {
			return &ps[i]
		}
	}
	return nil
}

// refer returns the name that a reference of there has here.
func (w *writing) refer(at, was string, own bool) (string, bool) {
	if known, ok := w.t.flow.builtins.find(was); ok {
		return known, true
	}
	if p := w.t.inputs.find(was); p != nil && own {
		return p.name, true
	}
	if name := w.above(was); name != "" {
		return name, true
	}
	if p := w.globals.find(was); p != nil {
		return p.name, true
	}
	w.t.notes.unknown(at, was)
	return "", false
}

// above returns what an output of a task before this one is called here, by its name there:
// name, or task.name. It is "" where there is none.
func (w *writing) above(was string) string {
	f := w.t.flow
	found, nearest := "", len(f.tasks)+1
	for _, o := range f.giving[was] {
		if o.task == w.t {
			continue
		}
		if w.before == nil {
			w.before = f.before(w.t.code)
		}
		if distance, ok := w.before[o.task.code]; ok && distance < nearest {
			found, nearest = o.here, distance
		}
	}
	return found
}

// before returns the codes of all tasks before one, and their place when the nearest are
// counted first.
func (f *flow) before(code int64) map[int64]int {
	place := map[int64]int{}
	todo := slices.Clone(f.needs[code])
	for i := 0; i < len(todo); i++ {
		if _, known := place[todo[i]]; !known && todo[i] != code {
			place[todo[i]] = len(place)
			todo = append(todo, f.needs[todo[i]]...)
		}
	}
	return place
}

// given is an output as something may refer to it.
type given struct {
	task *task
	here string
}

// gives notes an output of a task under both of its names.
func (f *flow) gives(t *task) {
	for i := range t.outputs {
		o := &t.outputs[i]
		f.giving[o.was] = append(f.giving[o.was], given{t, o.name})
		f.giving[t.was+"."+o.was] = append(f.giving[t.was+"."+o.was], given{t, t.name + "." + o.name})
	}
}
